package nodegroups

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
)

// The differences that similar groups may have: the defaults of --memory-difference-ratio and
// --max-allocatable-difference-ratio.
const (
	memoryDifference      = 0.015
	allocatableDifference = 0.05
)

// Similar reports whether Cluster Autoscaler counts two template nodes as those of similar groups: they have the same
// capacity, but for 1.5 % of memory, an allocatable that differs by at most 5 %, and the same labels. Labels that may
// differ are the host name, zone and region, the zones of volume drivers, the names that kops, eksctl, EKS and AKS give
// groups, and further ones that are named. Nodes that state no capacity have that of their allocatable.
func Similar(a, b *corev1.Node, ignoredLabels ...string) bool {
	if a == nil || b == nil {
		return false
	}
	capacity := func(n *corev1.Node) corev1.ResourceList {
		if len(n.Status.Capacity) == 0 {
			return n.Status.Allocatable
		}
		return n.Status.Capacity
	}
	return within(capacity(a), capacity(b), func(name corev1.ResourceName) float64 {
		if name == corev1.ResourceMemory {
			return memoryDifference
		}
		return 0
	}) && within(template.Allocatable(a), template.Allocatable(b), func(corev1.ResourceName) float64 { return allocatableDifference }) &&
		sameLabels(a, b, ignoredLabels)
}

// within reports whether two lists have the same resources, in amounts whose difference is at most a share of the larger one.
func within(a, b corev1.ResourceList, share func(corev1.ResourceName) float64) bool {
	if len(a) != len(b) {
		return false
	}
	for name, x := range a {
		y, ok := b[name]
		if !ok || !near(x, y, share(name)) {
			return false
		}
	}
	return true
}

func near(a, b resource.Quantity, share float64) bool {
	x, y := a.AsApproximateFloat64(), b.AsApproximateFloat64()
	return max(x, y)-min(x, y) <= max(x, y)*share
}

// sameLabels reports whether two nodes have the same labels, but for those that name their place or their group.
func sameLabels(a, b *corev1.Node, ignored []string) bool {
	ignored = append([]string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion,
		"beta.kubernetes.io/fluentd-ds-ready", "kops.k8s.io/instancegroup",
		"topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.disk.csi.azure.com/zone",
		"alpha.eksctl.io/instance-id", "alpha.eksctl.io/nodegroup-name", "eks.amazonaws.com/nodegroup", "k8s.amazonaws.com/eniConfig", "lifecycle",
		"agentpool", "kubernetes.azure.com/agentpool",
	}, ignored...)
	for _, pair := range [][2]*corev1.Node{{a, b}, {b, a}} {
		for key, value := range pair[0].Labels {
			if other, ok := pair[1].Labels[key]; (!ok || other != value) && !slices.Contains(ignored, key) {
				return false
			}
		}
	}
	return true
}

// balance shares the new nodes of each set of similar groups out evenly, if the pods fit, and returns the groups of these sets.
func (p *Planner) balance(ctx context.Context, m *model, best *trial) (*trial, []bool, error) {
	balanced := make([]bool, len(m.Groups))
	var sets [][]int
	for g := range m.Groups {
		set := m.similar(g, p.IgnoredLabels)
		if best.sizes[g] > 0 && len(set) > 1 && !slices.ContainsFunc(sets, func(s []int) bool { return slices.Contains(s, g) }) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		sizes := m.share(set, best.sizes)
		if slices.Equal(sizes, best.sizes) {
			continue
		}
		t, err := p.try(ctx, m, sizes)
		if err != nil {
			return nil, nil, err
		}
		// A launch means that the pods do not fit: e.g. pods of a zone, whose group must have its nodes.
		if len(t.plan.Launches) == 0 && len(t.plan.Unschedulable) <= len(best.plan.Unschedulable) {
			best = t
			for _, g := range set {
				balanced[g] = true
			}
		}
	}
	return best, balanced, nil
}

// similar are a group and those similar to it, without atomic groups.
func (m *model) similar(g int, ignored []string) (set []int) {
	for other := range m.Groups {
		if !m.Groups[g].Atomic && !m.Groups[other].Atomic && (other == g || Similar(m.Groups[g].Template, m.Groups[other].Template, ignored...)) {
			set = append(set, other)
		}
	}
	return set
}

// share are the sizes with the new nodes of a set of groups in other groups of the set: each goes to the group that is the
// smallest by then and may still grow, of equal ones to the first by its id. Sizes stay as they are where no group may.
func (m *model) share(set, sizes []int) []int {
	out := slices.Clone(sizes)
	left := 0
	for _, g := range set {
		left += sizes[g]
		out[g] = 0
	}
	for ; left > 0; left-- {
		smallest := -1
		for _, g := range set {
			if out[g] < m.room(g) && (smallest < 0 || m.smaller(g, smallest, out)) {
				smallest = g
			}
		}
		if smallest < 0 {
			return sizes
		}
		out[smallest]++
	}
	return out
}

// smaller reports whether group a is smaller than b with so many new nodes.
func (m *model) smaller(a, b int, grown []int) bool {
	x, y := m.Groups[a].Target+grown[a], m.Groups[b].Target+grown[b]
	return x < y || x == y && m.Groups[a].ID < m.Groups[b].ID
}
