package launches

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Group is launches of the same machine at the same price.
type Group struct {
	Launches []*scheduling.Launch
	use      map[corev1.ResourceName]*use
}

// use is the use of one resource: the requests of the pods and the allocatable amount of the machines, in the units of
// plans.
type use struct{ requested, allocatable int64 }

// Groups groups launches of one NodePool and offering, in the order of the plan. catalog returns the catalog of a
// NodePool.
func Groups(plan *scheduling.Plan, catalog func(pool string) *instancetypes.Catalog) []*Group {
	type key struct {
		pool     string
		offering offerings.Key
	}
	var out []*Group
	index := map[key]*Group{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		k := key{l.NodePool, l.Options[0].Key()}
		if index[k] == nil {
			index[k] = &Group{use: map[corev1.ResourceName]*use{}}
			out = append(out, index[k])
		}
		index[k].Launches = append(index[k].Launches, l)
		index[k].add(l, catalog(l.NodePool))
	}
	return out
}

// add adds the requests of a launch and the allocatable resources of its machine.
func (g *Group) add(l *scheduling.Launch, catalog *instancetypes.Catalog) {
	o := &l.Options[0]
	it, ok := catalog.Get(o.InstanceType)
	if !ok {
		return
	}
	for _, offering := range it.Offerings {
		if offering.Zone != o.Zone || offering.CapacityType != o.CapacityType || offering.ReservationID != o.ReservationID {
			continue
		}
		allocatable := it.AllocatableOf(offering)
		for name := range allocatable {
			if g.use[name] == nil {
				g.use[name] = &use{}
			}
			g.use[name].allocatable += figures.Units(allocatable, name)
			g.use[name].requested += figures.Units(l.Requests, name)
		}
		return
	}
}

// Share writes how much of a resource is asked for.
func (g *Group) Share(name corev1.ResourceName) string {
	u := g.use[name]
	if u == nil {
		return "-"
	}
	return figures.Ratio(u.requested, u.allocatable)
}

// Devices writes how many devices are asked for, of those that are asked for at all.
func (g *Group) Devices() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(g.use)) {
		if u := g.use[name]; strings.Contains(string(name), "/") && u.requested > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", name, u.requested, u.allocatable))
		}
	}
	return figures.Join(parts)
}
