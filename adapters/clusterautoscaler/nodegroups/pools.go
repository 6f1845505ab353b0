package nodegroups

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// typeName is the instance type of a template.
func typeName(node *corev1.Node) string {
	return cmp.Or(instancetypes.OfferingOf(node).InstanceType, "template")
}

// catalog has the instance types of a group: that of its template, with the offering that it launches, and those of its
// nodes, which it does not.
func (m *model) catalog(prices expander.Pricer, g int, launches bool) (*instancetypes.Catalog, error) {
	group := &m.Groups[g]
	types := map[string]*instancetypes.InstanceType{}
	var order []*instancetypes.InstanceType
	add := func(node *corev1.Node, launched bool) {
		as := instancetypes.OfferingOf(node)
		t, ok := types[as.InstanceType]
		if !ok {
			t = template.InstanceType(as.InstanceType, template.Allocatable(node))
			t.Labels = typeLabels(node)
			types[as.InstanceType] = t
			order = append(order, t)
		}
		o := offerings.Offering{Zone: as.Zone, CapacityType: as.CapacityType, Price: prices.PriceOf(node), Unavailable: !launched}
		if !slices.ContainsFunc(t.Offerings, func(other offerings.Offering) bool { return other.Key("") == o.Key("") }) {
			t.Offerings = append(t.Offerings, o)
		}
	}
	add(m.member(g, group.Template), launches && !group.Atomic)
	for _, node := range m.joined[g] {
		// A node that has just joined may not report its resources yet.
		if list := template.Allocatable(node); types[instancetypes.OfferingOf(node).InstanceType] != nil || list.Cpu().Sign() > 0 && list.Memory().Sign() > 0 {
			add(node, false)
		}
	}
	return instancetypes.NewCatalog(order...)
}

// typeLabels are the labels of an instance type.
func typeLabels(node *corev1.Node) map[string]string {
	out := map[string]string{}
	for key, value := range node.Labels {
		switch normal := requirements.NormalizeKey(key); normal {
		case corev1.LabelTopologyZone, corev1.LabelHostname, offerings.CapacityTypeLabel, offerings.ReservationIDLabel, scheduling.NodePoolLabel,
			scheduling.RegisteredLabel, scheduling.InitializedLabel:
		default:
			if !ofGroup(key) {
				out[normal] = value
			}
		}
	}
	return out
}

// ofGroup reports whether a label is one that a NodePool may state.
func ofGroup(key string) bool {
	return !requirements.Restricted(key) && !requirements.WellKnown().Has(requirements.NormalizeKey(key))
}

// pool is the NodePool of a group.
func (m *model) pool(g int) *scheduling.NodePool {
	group, pool := &m.Groups[g], &scheduling.NodePool{}
	pool.Name = m.pools[g]
	pool.Spec.Template.Metadata.Labels = map[string]string{}
	for key, value := range group.Template.Labels {
		if ofGroup(key) {
			pool.Spec.Template.Metadata.Labels[key] = value
		}
	}
	for _, t := range group.Template.Spec.Taints {
		if spec := &pool.Spec.Template.Spec; startupTaint(t) {
			spec.StartupTaints = append(spec.StartupTaints, t)
		} else {
			spec.Taints = append(spec.Taints, t)
		}
	}
	pool.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{}
	pool.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: new(time.Duration)}
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	most := max(group.Max, group.Target, len(m.joined[g]))
	pool.Spec.Limits = corev1.ResourceList{scheduling.NodesResource: *resource.NewQuantity(int64(most), resource.DecimalSI)}
	return pool
}
