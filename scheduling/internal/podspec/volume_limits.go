package podspec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// How many further volumes of a driver a machine takes is a resource like others. It
// goes by the name under which nodes state it.
const attachPrefix = corev1.ResourceAttachableVolumesPrefix + "csi-"

// NoAttachLimit is the room of machines that nobody limits.
const NoAttachLimit = 1 << 40

// SharedPart is the share of the smallest limit of a driver that volumes of several
// pods may take up in advance, unless that is chosen otherwise.
const SharedPart = 4

// AttachResource is the resource that volumes of a driver take up.
func AttachResource(driver string) corev1.ResourceName {
	return corev1.ResourceName(attachPrefix + driver)
}

// AttachDriver is the inverse of attachResource; "" for other resources.
func AttachDriver(name corev1.ResourceName) string {
	driver, ok := strings.CutPrefix(string(name), attachPrefix)
	if !ok {
		return ""
	}
	return driver
}

// readLimits finds the drivers that limit anything, and which claims nodes are
// charged for.
//
// A volume takes up one attachment of a node however many of its pods use it. A
// volume of one pod to be placed is charged to the pod. Where several share one, it is
// not known which of them meet; so each node is charged for it once, whether they come
// or not, and the pods are not. Since that would leave no room where many volumes are
// shared, only the most popular ones are treated so; of others each pod is charged.
func (x *VolumeIndex) readLimits(p *scheduling.Problem, users []*corev1.Pod) {
	counts := map[*Claim]int{}
	drivers := map[string]bool{}
	for _, pod := range users {
		if x.deprived(pod) {
			continue
		}
		for _, c := range x.ClaimsOf(pod) {
			if c.Driver != "" {
				counts[c]++
				drivers[c.Driver] = true
			}
		}
	}
	smallest := x.smallestLimits(p, drivers)
	x.Limited = slices.Sorted(maps.Keys(smallest))
	var several []*Claim
	for c, n := range counts {
		if _, limited := smallest[c.Driver]; limited && n > 1 {
			several = append(several, c)
		}
	}
	slices.SortFunc(several, func(a, b *Claim) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a.Name, b.Name))
	})
	taken := map[string]int64{}
	for _, c := range several {
		if taken[c.Driver] < smallest[c.Driver]/x.choice.shared() {
			taken[c.Driver]++
			c.shared = true
			x.Shared = append(x.Shared, c)
		} else {
			c.Charged = true
		}
	}
	slices.SortFunc(x.Shared, func(a, b *Claim) int { return strings.Compare(a.Name, b.Name) })
}

// smallestLimits are, of the given drivers, those that some node or instance type
// limits, with the least limit.
func (x *VolumeIndex) smallestLimits(p *scheduling.Problem, drivers map[string]bool) map[string]int64 {
	out := map[string]int64{}
	if len(drivers) == 0 {
		return out
	}
	for driver := range drivers {
		if strings.HasPrefix(driver, StaticPrefix) {
			out[driver] = 0
		}
	}
	note := func(driver string, n int64) {
		if least, known := out[driver]; drivers[driver] && (!known || n < least) {
			out[driver] = max(0, n)
		}
	}
	for _, node := range p.Nodes {
		for driver := range drivers {
			if n, ok := x.Stated(node.Name, driver); ok && !Going(node) {
				note(driver, n)
			}
		}
	}
	read := map[*instancetypes.Catalog]bool{nil: true}
	look := func(catalog *instancetypes.Catalog) {
		if read[catalog] {
			return
		}
		read[catalog] = true
		for it := range catalog.All() {
			for driver := range drivers {
				name := AttachResource(driver)
				if q, ok := it.Capacity[name]; ok {
					note(driver, Amount(name, q))
				}
				for i := range it.Offerings {
					if q, ok := it.Offerings[i].Capacity[name]; ok {
						note(driver, Amount(name, q))
					}
				}
			}
		}
	}
	look(p.Catalog)
	for _, catalog := range p.PoolCatalogs {
		look(catalog)
	}
	return out
}

// Stated is how many volumes of a driver a node takes, as its CSINode says.
func (x *VolumeIndex) Stated(node, driver string) (int64, bool) {
	csi := x.nodes[node]
	if csi == nil {
		return 0, false
	}
	for i := range csi.Spec.Drivers {
		if d := &csi.Spec.Drivers[i]; d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return int64(*d.Allocatable.Count), true
		}
	}
	return 0, false
}

// charge adds what the volumes take up to a pod's requests, which were read last.
func (v *PodVolumes) charge(r *RequestReader) []int64 {
	for _, c := range v.attached {
		d := r.number(AttachResource(c.Driver))
		r.total[d] = Plus(r.total[d], 1)
	}
	return r.total
}

// LimitShape puts into the room of a machine that is bought how many volumes it takes.
func (x *VolumeIndex) LimitShape(room []int64, table *ResourceTable, states corev1.ResourceList) {
	if x == nil {
		return
	}
	for _, driver := range x.Limited {
		d, asked := table.Index[AttachResource(driver)]
		if !asked {
			continue
		}
		if _, stated := states[table.Names[d]]; !stated {
			room[d] = NoAttachLimit
			continue
		}
		for _, c := range x.Shared {
			if c.Driver == driver {
				room[d] = max(0, room[d]-1)
			}
		}
	}
}

// Attachments are the volumes of a node that runs or is in flight.
type Attachments struct {
	Volumes map[string]bool
	// full are the drivers of which the node could not take all shared volumes that
	// might come, so that it is not charged for them and takes none.
	Full map[string]bool
}

// UsableOn reports whether the volume of the claim can be used on a node of a name and some labels.
func (c *Claim) UsableOn(name string, labels map[string]string) bool {
	for _, p := range c.Places {
		if !slices.ContainsFunc(p.Terms, func(t Term) bool { return t.MatchesNode(name, labels) }) {
			return false
		}
	}
	return true
}

// TurnsAway returns a driver of which a full node would have to take a further volume
// for the pods of a group; "" for none.
func (a *Attachments) TurnsAway(c *Constraint) string {
	for _, s := range c.shared {
		if a.Full[s.Driver] && !a.Volumes[s.Volume] {
			return s.Driver
		}
	}
	return ""
}
