package scheduling

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// How many further volumes of a driver a machine takes is a resource like others. It
// goes by the name under which nodes state it.
const attachPrefix = corev1.ResourceAttachableVolumesPrefix + "csi-"

// noAttachLimit is the room of machines that nobody limits.
const noAttachLimit = 1 << 40

// sharedPart is the share of the smallest limit of a driver that volumes of several
// pods may take up in advance, unless that is chosen otherwise.
const sharedPart = 4

// attachResource is the resource that volumes of a driver take up.
func attachResource(driver string) corev1.ResourceName {
	return corev1.ResourceName(attachPrefix + driver)
}

// attachDriver is the inverse of attachResource; "" for other resources.
func attachDriver(name corev1.ResourceName) string {
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
func (x *volumeIndex) readLimits(p *Problem, users []*corev1.Pod) {
	counts := map[*claim]int{}
	drivers := map[string]bool{}
	for _, pod := range users {
		if x.deprived(pod) {
			continue
		}
		for _, c := range x.claimsOf(pod) {
			if c.driver != "" {
				counts[c]++
				drivers[c.driver] = true
			}
		}
	}
	smallest := x.smallestLimits(p, drivers)
	x.limited = slices.Sorted(maps.Keys(smallest))
	var several []*claim
	for c, n := range counts {
		if _, limited := smallest[c.driver]; limited && n > 1 {
			several = append(several, c)
		}
	}
	slices.SortFunc(several, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a.name, b.name))
	})
	taken := map[string]int64{}
	for _, c := range several {
		if taken[c.driver] < smallest[c.driver]/x.choice.shared() {
			taken[c.driver]++
			c.shared = true
			x.shared = append(x.shared, c)
		} else {
			c.charged = true
		}
	}
	slices.SortFunc(x.shared, func(a, b *claim) int { return strings.Compare(a.name, b.name) })
}

// smallestLimits are, of the given drivers, those that some node or instance type
// limits, with the least limit.
func (x *volumeIndex) smallestLimits(p *Problem, drivers map[string]bool) map[string]int64 {
	out := map[string]int64{}
	if len(drivers) == 0 {
		return out
	}
	for driver := range drivers {
		if strings.HasPrefix(driver, staticPrefix) {
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
			if n, ok := x.stated(node.Name, driver); ok && !going(node) {
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
				name := attachResource(driver)
				if q, ok := it.Capacity[name]; ok {
					note(driver, amount(name, q))
				}
				for i := range it.Offerings {
					if q, ok := it.Offerings[i].Capacity[name]; ok {
						note(driver, amount(name, q))
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

// stated is how many volumes of a driver a node takes, as its CSINode says.
func (x *volumeIndex) stated(node, driver string) (int64, bool) {
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
func (v *podVolumes) charge(r *requestReader) []int64 {
	for _, c := range v.attached {
		d := r.number(attachResource(c.driver))
		r.total[d] = plus(r.total[d], 1)
	}
	return r.total
}

// limitShape puts into the room of a machine that is bought how many volumes it takes.
func (x *volumeIndex) limitShape(room []int64, table *resourceTable, states corev1.ResourceList) {
	if x == nil {
		return
	}
	for _, driver := range x.limited {
		d, asked := table.index[attachResource(driver)]
		if !asked {
			continue
		}
		if _, stated := states[table.names[d]]; !stated {
			room[d] = noAttachLimit
			continue
		}
		for _, c := range x.shared {
			if c.driver == driver {
				room[d] = max(0, room[d]-1)
			}
		}
	}
}

// attachments are the volumes of a node that runs or is in flight.
type attachments struct {
	volumes map[string]bool
	// full are the drivers of which the node could not take all shared volumes that
	// might come, so that it is not charged for them and takes none.
	full map[string]bool
}

// limitNode puts into a node's room how many further volumes it takes. allocatable is
// what the node offers; of one in flight, what it will offer.
func (x *volumeIndex) limitNode(n *existingNode, running []*corev1.Pod, table *resourceTable, allocatable corev1.ResourceList) {
	if x == nil || len(x.limited) == 0 {
		return
	}
	counts := map[string]int64{}
	n.attached = attachments{volumes: map[string]bool{}, full: map[string]bool{}}
	for _, pod := range running {
		if !usesClaims(pod) {
			continue
		}
		for _, c := range x.claimsOf(pod) {
			if c.driver != "" && !n.attached.volumes[c.volume] {
				n.attached.volumes[c.volume] = true
				counts[c.driver]++
			}
		}
	}
	for _, driver := range x.limited {
		name := attachResource(driver)
		limit, limited := x.stated(n.node.Name, driver)
		if q, ok := allocatable[name]; ok && !limited && inFlight(n.node) {
			limit, limited = amount(name, q), true
		}
		if class, static := strings.CutPrefix(driver, staticPrefix); static {
			limit, limited = x.freeOn(class, n.node.Name, n.labels), true
			counts[driver] = 0 // what runs has a volume that is not free
		}
		d, asked := table.index[name]
		if !limited {
			if asked {
				n.room[d] = noAttachLimit
			}
			continue
		}
		free := max(0, limit-counts[driver])
		if charged := x.charged(n, driver); charged <= free {
			free -= charged
		} else {
			n.attached.full[driver] = true
		}
		if asked {
			n.room[d] = free
		}
	}
}

// charged is how many shared volumes of a driver may come to a node that are not there.
func (x *volumeIndex) charged(n *existingNode, driver string) int64 {
	count := int64(0)
	for _, c := range x.shared {
		if c.driver == driver && !n.attached.volumes[c.volume] && c.usableOn(n.node.Name, n.labels) {
			count++
		}
	}
	return count
}

func (c *claim) usableOn(name string, labels map[string]string) bool {
	for _, p := range c.places {
		if !slices.ContainsFunc(p.terms, func(t term) bool { return t.matchesNode(name, labels) }) {
			return false
		}
	}
	return true
}

// turnsAway returns a driver of which a full node would have to take a further volume
// for the pods of a group; "" for none.
func (a *attachments) turnsAway(c *constraint) string {
	for _, s := range c.shared {
		if a.full[s.driver] && !a.volumes[s.volume] {
			return s.driver
		}
	}
	return ""
}
