package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// options resolves and checks every option of a launch.
func (j *judge) options(r *resolved) {
	made := choices{labels: r.Labels, requirements: fromSelectors(r.Requirements)}
	identity := fmt.Sprintf("%s %s %q", r.pool.Name, labelText(r.Labels), made.requirements)
	var previous *machine
	for i := range r.Options {
		object := fmt.Sprintf("%s/options[%d]", r.object, i)
		for k := range i {
			if sameOption(&r.Options[k], &r.Options[i]) {
				j.add(OptionDuplicated, object, "is options[%d] again", k)
				break
			}
		}
		m := j.resolve(r, object, &r.Options[i], made, identity)
		r.machines = append(r.machines, m)
		if m == nil {
			continue
		}
		j.option(r, object, &r.Options[i], m)
		if previous != nil && j.settings.Solver.Ranking.Strategy != offerings.Diversified &&
			j.settings.Solver.Ranking.Compare(j.candidate(previous), j.candidate(m)) > 0 {
			j.add(OptionOrder, object, "belongs before the option ahead of it")
		}
		previous = m
	}
}

func sameOption(a, b *scheduling.Option) bool {
	return a.InstanceType == b.InstanceType && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.ReservationID == b.ReservationID
}

// labelText identifies a set of labels.
func labelText(labels map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%q=%q ", key, labels[key])
	}
	return b.String()
}

// resolve finds what an option stands for in the catalog; nil if nothing.
func (j *judge) resolve(r *resolved, object string, o *scheduling.Option, made choices, identity string) *machine {
	t, ok := r.pool.catalog.Get(o.InstanceType)
	if !ok {
		j.add(TypeUnknown, object, "type %q is not in the catalog of pool %s", o.InstanceType, r.pool.Name)
		return nil
	}
	offering, ok := findOffering(t, o.Zone, o.CapacityType, o.ReservationID)
	if !ok {
		j.add(OfferingUnknown, object, "%s is not sold as %s in %q with reservation %q", o.InstanceType, o.CapacityType, o.Zone, o.ReservationID)
		return nil
	}
	key := fmt.Sprintf("%q %q %q %q %s", o.InstanceType, o.Zone, o.CapacityType, o.ReservationID, identity)
	m := j.machines[key]
	if m == nil {
		m = j.newMachine(r.pool, t, offering, made, settled)
		j.machines[key] = m
	}
	return m
}

// option checks one option: whether it may be bought, and whether it holds the pods.
func (j *judge) option(r *resolved, object string, o *scheduling.Option, m *machine) {
	if why := j.unavailable(m.kind, m.offering); why != "" {
		j.add(OfferingUnavailable, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if why := j.excluded(m.kind, m.offering); why != "" {
		j.add(OptionExcluded, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if o.Price != m.offering.Price {
		j.add(OptionPrice, object, "costs %v, in the catalog %v", o.Price, m.offering.Price)
	}
	if o.InterruptionRate != m.offering.InterruptionRate {
		j.add(OptionInterruption, object, "interruption rate %v, in the catalog %v", o.InterruptionRate, m.offering.InterruptionRate)
	}
	if !slices.Equal(o.Estimated, m.offering.Estimated) {
		j.add(OptionEstimated, object, "estimated are %q, in the catalog %q", o.Estimated, m.offering.Estimated)
	}
	for _, key := range m.clashes {
		j.add(PoolRequirements, object, "label %s is %q by the catalog, the launch or its pool say otherwise", key, m.labels[key])
	}
	for _, e := range m.unmet() {
		j.add(PoolRequirements, object, "pool %s requires %s", r.pool.Name, e)
	}
	place := m.place
	place.open = r.promises
	for _, e := range fromSelectors(r.Requirements) {
		if _, fixed := place.value(e.key); fixed || place.open(requirements.NormalizeKey(e.key)).rule == shut {
			if !place.meets([]expression{e}) {
				j.add(LaunchRequirements, object, "does not meet the launch's own %s", e)
			}
		}
	}
	for _, e := range r.pool.asks {
		if !place.meets(about(e.key, r.pool.asks)) && m.meets(about(e.key, r.pool.asks)) {
			j.add(LaunchRequirements, object, "the launch does not carry the pool's %s", e)
		}
	}
	j.tenants(r, object, m, &place)
}

// promises is what a launch says about labels that only the provider knows: pods
// may rely on what its requirements say.
func (r *resolved) promises(key string) opening {
	if !r.pool.providers(key) {
		return opening{}
	}
	known := about(key, fromSelectors(r.Requirements))
	if len(known) == 0 {
		return opening{}
	}
	return opening{rule: every, known: known}
}

// tenants checks that the machine holds all pods of the launch.
func (j *judge) tenants(r *resolved, object string, m *machine, place *place) {
	need, volumes := amounts{}, attached{}
	taken := slices.Clone(m.daemonPorts)
	for _, t := range r.pods {
		if !place.admits(t.wants) {
			j.add(NodeAffinity, object, "labels do not suit pod %s", t.name)
		}
		if bad := untolerated(place.taints, t.pod.Spec.Tolerations); len(bad) > 0 {
			j.add(Taints, object, "pod %s does not tolerate %s", t.name, taintText(bad))
		}
		if p, ok := clash(t.ports, taken); ok {
			j.add(HostPorts, object, "port %v of pod %s is taken", p, t.name)
		}
		taken = append(taken, t.ports...)
		if claim, bad := place.outOfReach(t.mounts); bad {
			j.add(Volume, object, "the volume of claim %s, which pod %s uses, cannot be used there", claim, t.name)
		}
		if why, full := volumes.excess(t.mounts, m.volumeLimit); full {
			j.add(AttachLimit, object, "pod %s: %s", t.name, why)
		}
		volumes.add(t.mounts)
		need.add(t.requests)
	}
	room := m.room()
	for _, name := range exceeding(need, room) {
		j.add(Resources, object, "%s: pods ask for %v, %v are free", name, need.of(name), room.of(name))
	}
}

func (e expression) String() string {
	if len(e.values) == 0 {
		return fmt.Sprintf("%s %s", e.key, e.op)
	}
	return fmt.Sprintf("%s %s %v", e.key, e.op, e.values)
}
