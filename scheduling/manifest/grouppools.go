package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// AssumeNodePools gives a cluster that has nodes and no NodePool one for each [NodeGroup] of the
// nodes outside of GKE's ComputeClasses, and reports whether there is one. Each launches the instance
// types, zones and capacity types that its nodes have, with the labels and taints that all healthy
// ones have, and the resources that healthy nodes of the type have ([Snapshot.SetCatalog] gives it
// a catalog of these); its nodes do not expire, and are removed when they are empty or
// underutilized, a tenth of them at a time. Nodes of the control plane and nodes without a label
// for their type belong to no NodePool.
//
// The nodes of the groups are replaced by copies with the labels of Karpenter's nodes. A note
// states the assumptions. A snapshot with NodePools of Karpenter is not changed, because there pods
// use these labels to keep off Karpenter's nodes.
func (s *Snapshot) AssumeNodePools() bool {
	if !lo.EveryBy(s.Problem.NodePools, func(p *scheduling.NodePool) bool { return p != nil && lo.HasKey(s.ComputeClasses, p.Name) }) {
		return false
	}
	s.Problem.Nodes = lo.Compact(s.Problem.Nodes)
	groups := lo.GroupBy(s.Problem.Nodes, NodeGroupOf)
	maps.DeleteFunc(groups, func(g NodeGroup, _ []*corev1.Node) bool {
		return g.Label == scheduling.NodePoolLabel && lo.HasKey(s.ComputeClasses, g.Name)
	})
	order := slices.SortedFunc(maps.Keys(groups), func(a, b NodeGroup) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.Name, b.Name))
	})
	copies, taken := map[string]*corev1.Node{}, map[string]bool{}
	for name := range s.ComputeClasses {
		taken[name] = true
	}
	drivers := lo.KeyBy(lo.Compact(s.Problem.CSINodes), func(c *storagev1.CSINode) string { return c.Name })
	note := func(message string) {
		s.Warnings = append(s.Warnings, scheduling.Warning{Object: "node groups", Message: message, Note: true})
	}
	static := staticRequests(s.Problem.Running)
	s.templates, s.NodeGroups = map[string]map[string]instancetypes.ObservedNode{}, map[string]NodeGroup{}
	var told, untold []string
	for _, g := range order {
		nodes, name := groups[g], poolName(g, taken)
		if g.ControlPlane() || !requirements.ValidLabelValue(name) || lo.EveryBy(nodes, func(n *corev1.Node) bool { return instancetypes.OfferingOf(n).InstanceType == "" }) {
			continue
		}
		taken[name] = true
		s.Problem.NodePools = append(s.Problem.NodePools, groupPool(name, nodes))
		s.templates[name], s.NodeGroups[name] = groupTemplates(nodes, drivers, ofAll(nodes, static)), g
		told = append(told, fmt.Sprintf("%s (%s)", name, g.Label))
		for _, node := range nodes {
			copies[node.Name] = PooledNode(name, node)
		}
		if lo.SomeBy(nodes, func(n *corev1.Node) bool { _, known := CapacityTypeOf(n); return !known }) {
			untold = append(untold, name)
		}
	}
	if len(told) == 0 {
		return false
	}
	slices.SortFunc(s.Problem.NodePools, byName)
	s.Problem.Nodes = lo.Map(s.Problem.Nodes, func(n *corev1.Node, _ int) *corev1.Node { return lo.CoalesceOrEmpty(copies[n.Name], n) })
	s.static = staticByPool(&s.Problem)
	karpenter := ""
	if lo.SomeBy(order, func(g NodeGroup) bool { return g.Label == scheduling.NodePoolLabel }) {
		karpenter = "; NodePools say which nodes Karpenter may launch: add the output of kubectl get nodepools -o json"
	}
	because := "there is no NodePool in the input, so each node group"
	if len(s.ComputeClasses) > 0 {
		because = "there is no NodePool of Karpenter in the input, so each node group that belongs to no ComputeClass"
	}
	note(because + " counts as one that launches the types, zones and capacity types of its nodes, with the labels, taints and resources of its healthy nodes: " +
		strings.Join(told, ", ") + "; which of its types a group launches is up to its autoscaler" + karpenter)
	if len(untold) > 0 {
		note("no label says how the nodes of " + strings.Join(untold, ", ") + " are paid for: on demand is assumed")
	}
	return true
}

// poolName is the name of the NodePool of a group, different from names that are taken.
func poolName(g NodeGroup, taken map[string]bool) string {
	base := g.Name
	if g.Label == corev1.LabelInstanceTypeStable {
		base = "self-managed-" + g.Name
	}
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}

// groupPool is the NodePool that stands for a group of nodes.
func groupPool(name string, nodes []*corev1.Node) *scheduling.NodePool {
	pool := &scheduling.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: karpenterGroup + "/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	template := &pool.Spec.Template
	require := func(key string, of func(*corev1.Node) string) {
		values := lo.Uniq(lo.Map(nodes, func(n *corev1.Node, _ int) string { return of(n) }))
		if values = lo.Compact(values); len(values) > 0 {
			slices.Sort(values)
			template.Spec.Requirements = append(template.Spec.Requirements, requirements.Selector{Key: key, Operator: requirements.In, Values: values})
		}
	}
	label := func(key string) func(*corev1.Node) string {
		return func(n *corev1.Node) string { return n.Labels[key] }
	}
	require(corev1.LabelInstanceTypeStable, func(n *corev1.Node) string { return instancetypes.OfferingOf(n).InstanceType })
	require(corev1.LabelTopologyZone, func(n *corev1.Node) string { return instancetypes.OfferingOf(n).Zone })
	require(offerings.CapacityTypeLabel, func(n *corev1.Node) string { c, _ := CapacityTypeOf(n); return string(c) })
	require(corev1.LabelArchStable, label(corev1.LabelArchStable))
	require(corev1.LabelOSStable, label(corev1.LabelOSStable))
	fit := healthy(nodes)
	template.Metadata.Labels = maps.Clone(fit[0].Labels)
	maps.DeleteFunc(template.Metadata.Labels, func(key, value string) bool {
		return !lasting(key) || lo.SomeBy(fit, func(n *corev1.Node) bool { v, ok := n.Labels[key]; return !ok || v != value })
	})
	template.Spec.Taints = lo.Filter(fit[0].Spec.Taints, func(t corev1.Taint, _ int) bool {
		return !passing(t.Key) && lo.EveryBy(fit, func(n *corev1.Node) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) && o.Value == t.Value })
		})
	})
	template.Spec.ExpireAfter = &scheduling.NillableDuration{}
	if lo.EveryBy(nodes, autoNode) {
		template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: ec2.AutoGroup, Kind: "NodeClass", Name: cmp.Or(nodes[0].Labels[autoClassLabel], "default")}
		delete(template.Metadata.Labels, autoClassLabel)
		autoDefaults(pool)
	}
	return pool
}

// lasting reports whether a label is the group's own, and not that of the machine or of its
// type. AKS labels how machines are paid for in a key that catalogs do not have.
func lasting(key string) bool {
	key = requirements.NormalizeKey(key)
	return key == aksScaleSetPriority || !requirements.Restricted(key) && !requirements.WellKnown().Has(key)
}

// passing reports whether a taint is about a passing state of the node, e.g. not-ready.
func passing(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return noticeTaint(key) != "" || slices.Contains([]string{
		"node.kubernetes.io", "node.cloudprovider.kubernetes.io", "karpenter.sh",
		"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
	}, domain)
}
