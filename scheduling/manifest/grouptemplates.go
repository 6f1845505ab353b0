package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// healthy returns the nodes of a group that are templates of new nodes: ready nodes that stay and
// have no taint of a passing state. Where there are none it returns all nodes, because a group
// needs a template.
func healthy(nodes []*corev1.Node) []*corev1.Node {
	fit := lo.Filter(nodes, func(n *corev1.Node, _ int) bool {
		c := lifecycle.Ready(n)
		return n.DeletionTimestamp == nil && (c == nil || c.Status == corev1.ConditionTrue) &&
			!slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return passing(t.Key) && t.Key != corev1.TaintNodeUnschedulable })
	})
	if len(fit) == 0 {
		return nodes
	}
	return fit
}

// groupTemplates are the templates of nodes of a group, by instance type, as Cluster Autoscaler
// takes a node of a group as the template of the next one. Only healthy nodes of a type with the
// most frequent kinds of resources count, e.g. with the same slices of a GPU: the template has the
// least of each resource, because nodes of one type differ by a few MiB, less the requests of the
// static pods of all nodes, which the next one runs, too. CSINodes give the attach limits.
func groupTemplates(nodes []*corev1.Node, drivers map[string]*storagev1.CSINode, static corev1.ResourceList) map[string]instancetypes.ObservedNode {
	out := map[string]instancetypes.ObservedNode{}
	for name, alike := range lo.GroupBy(healthy(nodes), func(n *corev1.Node) string { return instancetypes.OfferingOf(n).InstanceType }) {
		alike = lo.Filter(alike, func(n *corev1.Node, _ int) bool {
			a := n.Status.Allocatable
			return a.Cpu().Sign() > 0 && a.Memory().Sign() > 0
		})
		if len(alike) == 0 || name == "" {
			continue
		}
		kinds := lo.GroupBy(alike, kindsOfResources)
		most := slices.MaxFunc(slices.Sorted(maps.Keys(kinds)), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(kinds[a]), len(kinds[b])), cmp.Compare(len(a), len(b)))
		})
		alike = kinds[most]
		out[name] = instancetypes.ObservedNode{
			Capacity:    least(alike, func(n *corev1.Node) corev1.ResourceList { return withVolumes(n.Status.Capacity, drivers[n.Name]) }),
			Allocatable: lessStatic(least(alike, func(n *corev1.Node) corev1.ResourceList { return withVolumes(n.Status.Allocatable, drivers[n.Name]) }), static),
			Labels:      typeLabels(alike),
		}
	}
	return out
}

// kindsOfResources names the resources of which a node has more than 0.
func kindsOfResources(n *corev1.Node) string {
	var names []string
	for name, q := range n.Status.Allocatable {
		if q.Sign() > 0 {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// least is the least amount that a node has, of each resource that all nodes have.
func least(nodes []*corev1.Node, has func(*corev1.Node) corev1.ResourceList) corev1.ResourceList {
	out := has(nodes[0]).DeepCopy()
	for _, n := range nodes[1:] {
		list := has(n)
		for name, q := range out {
			if other, ok := list[name]; !ok {
				delete(out, name)
			} else if other.Cmp(q) < 0 {
				out[name] = other.DeepCopy()
			}
		}
	}
	return out
}

// withVolumes adds to resources of a node how many volumes it takes, by driver, as its CSINode says.
func withVolumes(list corev1.ResourceList, node *storagev1.CSINode) corev1.ResourceList {
	if node == nil {
		return list
	}
	out := list.DeepCopy()
	for _, d := range node.Spec.Drivers {
		if d.Allocatable != nil && d.Allocatable.Count != nil && *d.Allocatable.Count >= 0 {
			out[corev1.ResourceName(corev1.ResourceAttachableVolumesPrefix+"csi-"+d.Name)] = *resource.NewQuantity(int64(*d.Allocatable.Count), resource.DecimalSI)
		}
	}
	return out
}

// typeLabels are the labels that all nodes of a type have from their cloud, and that a NodePool
// cannot set, except for zone and capacity type.
func typeLabels(nodes []*corev1.Node) map[string]string {
	return lo.PickBy(nodes[0].Labels, func(key, value string) bool {
		switch normal := requirements.NormalizeKey(key); normal {
		case corev1.LabelHostname, corev1.LabelInstanceTypeStable, offerings.ZoneLabel, corev1.LabelTopologyRegion, offerings.ZoneIDLabel,
			offerings.CapacityTypeLabel, offerings.ReservationIDLabel, scheduling.NodePoolLabel, scheduling.RegisteredLabel, scheduling.InitializedLabel:
			return false
		default:
			return normal == key && !lasting(key) && lo.EveryBy(nodes, func(n *corev1.Node) bool { v, ok := n.Labels[key]; return ok && v == value })
		}
	})
}

// sharedTemplates joins the templates of groups as long as no type has two, so that few catalogs
// are made of them: most groups have types of their own. It returns the joined templates, and their
// index for each pool.
func sharedTemplates(groups map[string]map[string]instancetypes.ObservedNode) (joined []map[string]instancetypes.ObservedNode, of map[string]int) {
	of = map[string]int{}
	for _, pool := range slices.Sorted(maps.Keys(groups)) {
		own := groups[pool]
		at := slices.IndexFunc(joined, func(others map[string]instancetypes.ObservedNode) bool {
			return lo.EveryBy(lo.Keys(own), func(name string) bool {
				other, both := others[name]
				return !both || alikeTemplates(own[name], other)
			})
		})
		if at < 0 {
			at = len(joined)
			joined = append(joined, map[string]instancetypes.ObservedNode{})
		}
		maps.Copy(joined[at], own)
		of[pool] = at
	}
	return joined, of
}

// alikeTemplates reports whether nodes of two templates are the same.
func alikeTemplates(a, b instancetypes.ObservedNode) bool {
	same := func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 }
	return maps.EqualFunc(a.Capacity, b.Capacity, same) && maps.EqualFunc(a.Allocatable, b.Allocatable, same) && maps.Equal(a.Labels, b.Labels)
}
