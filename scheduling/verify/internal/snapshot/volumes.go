package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// zoneLabels are the labels by which a volume may say where it is.
func zoneLabels() []string {
	return []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion}
}

// Reaches reports whether volumes that need nodes of the selector can be used on the node; nil is any node. While a
// node starts, CSI drivers have not labelled it yet with their own names for the zone, so that these are read as aliases.
func (n *Node) Reaches(need Selector) bool { return need == nil || n.starting().Matches(need) }

// starting returns the node, as a planned one while it starts.
func (n *Node) starting() *Node {
	if n.planned || n.Running == nil || !InFlight(n.Running) {
		return n
	}
	seen := *n
	seen.planned = true
	return &seen
}

// outOfReach returns the claim of a volume that cannot be used on the node.
func (n *Node) outOfReach(mounts []Mount) (claim string, bad bool) {
	for i := range mounts {
		if m := &mounts[i]; !n.Reaches(m.allows) || !n.starting().inZones(m.zones) {
			return m.Claim, true
		}
	}
	return "", false
}

// inZones reports whether the node is in the zones and regions that the labels of a volume name. A node without any
// such label is taken to be there, and so is a node that does not run yet where its labels are unknown.
func (n *Node) inZones(zones map[string][]string) bool {
	if len(zones) == 0 || !slices.ContainsFunc(zoneLabels(), func(key string) bool { _, ok := n.Value(key); return ok }) {
		return true
	}
	for key, names := range zones {
		value, ok := n.Value(key)
		if !ok {
			value, ok = n.Value(requirements.NormalizeKey(key))
		}
		if ok && !slices.Contains(names, value) || !ok && !n.planned {
			return false
		}
	}
	return true
}

// attached are volumes by driver and id.
type attached map[string]map[string]bool

func (a attached) add(mounts []Mount) {
	for _, m := range mounts {
		if m.driver == "" {
			continue
		}
		if a[m.driver] == nil {
			a[m.driver] = make(map[string]bool)
		}
		a[m.driver][m.id] = true
	}
}

// tooMany returns the driver, with numbers, that cannot attach the volumes of the mounts besides those of the node;
// "" for none.
func (n *Node) tooMany(mounts []Mount) string {
	more := make(attached)
	more.add(mounts)
	for _, driver := range slices.Sorted(maps.Keys(more)) {
		all := maps.Clone(more[driver])
		maps.Copy(all, n.attached[driver])
		if most, limited := n.volumeLimit(driver); limited && len(all) > len(n.attached[driver]) && len(all) > most {
			return fmt.Sprintf("driver %s attaches at most %d volumes to the node, and %d are needed", driver, most, len(all))
		}
	}
	return ""
}

// volumeLimit returns the number of volumes of a driver that the node can attach: the count of its CSINode; while it
// starts, its allocatable amount; for a planned node, the amount of the catalog. false means that there is no limit.
func (n *Node) volumeLimit(driver string) (int, bool) {
	list := n.Capacity
	if n.Running != nil {
		if most, ok := n.limits[driver]; ok || !InFlight(n.Running) {
			return most, ok
		}
		list = n.Allocatable
	}
	most, ok := list[corev1.ResourceName(corev1.ResourceAttachableVolumesPrefix+"csi-"+driver)]
	if !ok || !most.IsInt64() {
		return 0, false
	}
	return int(most.Int64()), true
}

// mountText is equal for pods whose volumes put equal conditions on a node, in any order.
func mountText(mounts []Mount) string {
	var texts []string
	for i := range mounts {
		if m := &mounts[i]; m.allows != nil || len(m.zones) > 0 {
			texts = append(texts, fmt.Sprintf("%s %v", m.allows.normal(), m.zones))
		}
	}
	return joined(texts)
}

// normal is equal for selectors that differ in order and repetitions alone.
func (sel Selector) normal() string {
	if sel == nil {
		return "any"
	}
	terms := make([]string, 0, len(sel))
	for _, t := range sel {
		exprs := []string{fmt.Sprintf("%v", t.fields)}
		for _, e := range t.Exprs {
			values := slices.Sorted(slices.Values(e.values))
			exprs = append(exprs, fmt.Sprintf("%q %s %q", e.Key, e.op, slices.Compact(values)))
		}
		terms = append(terms, joined(exprs))
	}
	return joined(terms)
}

// joined writes a set of texts.
func joined(texts []string) string {
	slices.Sort(texts)
	return "{" + strings.Join(slices.Compact(texts), "; ") + "}"
}
