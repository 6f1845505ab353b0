package manifest

import (
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// DefaultNodePools returns NodePools for manifests that hold none, to price their pods: "default"
// launches current nodes that run Linux on amd64, on demand. Images that run on arm64, and pods that
// bear an interruption, would cost less; state them in a NodePool.
//
// Current are the EC2 categories c, m and r of a generation above 2, the Azure families D, E and F
// of a version above 2, and the families of Google Cloud that are general or for computing, with
// two cores and more. A requirement that no type of the catalog meets together with the rest is
// left out. Where pods ask for devices that current types do not have, a second one, "devices",
// launches the types of the catalog that have them. Where pods select nodes of EKS Auto Mode by their
// labels, the NodePools are ones of Auto Mode.
func DefaultNodePools(catalog *instancetypes.Catalog, pods []*corev1.Pod) []*scheduling.NodePool {
	base := plainMachines()
	pool := func(name string, wanted []requirements.Selector) *scheduling.NodePool {
		p := &scheduling.NodePool{
			TypeMeta:   metav1.TypeMeta{APIVersion: karpenterGroup + "/v1", Kind: "NodePool"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
		}
		p.Spec.Template.Spec.Requirements = met(catalog, wanted)
		return p
	}
	pools := []*scheduling.NodePool{pool("default", slices.Concat(base, current()))}
	bought := devices(catalog.Filter(instancetypes.ByRequirements(setOf(pools[0].Spec.Template.Spec.Requirements))))
	if types := typesWith(catalog, lo.Without(asked(pods), bought...)); len(types) > 0 {
		pools = append(pools, pool("devices", slices.Concat(base, []requirements.Selector{oneOf(corev1.LabelInstanceTypeStable, types...)})))
	}
	if lo.SomeBy(lo.Compact(pods), wantsAutoMode) {
		for _, p := range pools {
			p.Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: ec2.AutoGroup, Kind: "NodeClass", Name: "default"}
			autoLabels(p)
			autoDefaults(p)
		}
	}
	return pools
}

// WidenedNodePools returns copies of pools that launch any current type, as in [DefaultNodePools],
// instead of the types that they require; pools of types with devices launch any type with these
// devices. Architecture, zones, capacity types, labels and taints stay.
func WidenedNodePools(catalog *instancetypes.Catalog, pools []*scheduling.NodePool) []*scheduling.NodePool {
	return lo.Map(pools, func(p *scheduling.NodePool, _ int) *scheduling.NodePool {
		if p == nil {
			return nil
		}
		out := *p
		spec := &out.Spec.Template.Spec
		own := setOf(spec.Requirements).Get(corev1.LabelInstanceTypeStable)
		kept := lo.Filter(spec.Requirements, func(s requirements.Selector, _ int) bool { return s.Key != corev1.LabelInstanceTypeStable })
		special := lo.Without(devices(catalog.Filter(instancetypes.ByRequirements(requirements.NewSet(own)))), devices(catalog.Filter(instancetypes.ByRequirements(setOf(met(catalog, current())))))...)
		if types := typesWith(catalog, special); len(types) > 0 {
			kept = append(kept, oneOf(corev1.LabelInstanceTypeStable, types...))
		} else {
			kept = append(kept, met(catalog.Filter(instancetypes.ByRequirements(setOf(kept))), current())...)
		}
		spec.Requirements = kept
		if autoMode(p) {
			autoLabels(&out)
		}
		return &out
	})
}

// current requires hardware that is neither old nor special, as Karpenter's providers
// recommend it.
func current() []requirements.Selector {
	return []requirements.Selector{
		oneOf("karpenter.k8s.aws/instance-category", "c", "m", "r"), moreThan("karpenter.k8s.aws/instance-generation", "2"),
		oneOf("karpenter.azure.com/sku-family", "D", "E", "F"), moreThan("karpenter.azure.com/sku-version", "2"),
		oneOf("karpenter.k8s.gcp/instance-family", "c3", "c3d", "c4", "c4d", "e2", "n2", "n2d", "n4", "n4d", "t2d"), moreThan("karpenter.k8s.gcp/instance-cpu", "1"),
	}
}

// plainMachines requires machines that run any image and are not interrupted.
func plainMachines() []requirements.Selector {
	return []requirements.Selector{
		oneOf(corev1.LabelArchStable, "amd64"), oneOf(corev1.LabelOSStable, string(corev1.Linux)), oneOf(offerings.CapacityTypeLabel, string(offerings.OnDemand)),
	}
}

func moreThan(key, value string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.Gt, Values: []string{value}}
}

func oneOf(key string, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
}

// met leaves out requirements that no type of the catalog meets together with the ones before.
func met(catalog *instancetypes.Catalog, wanted []requirements.Selector) (out []requirements.Selector) {
	for _, s := range wanted {
		if rest := catalog.Filter(instancetypes.ByRequirements(setOf([]requirements.Selector{s}))); rest.Len() > 0 {
			out, catalog = append(out, s), rest
		}
	}
	return out
}

// setOf is the set of requirements that are valid.
func setOf(selectors []requirements.Selector) requirements.Set {
	set, _ := requirements.FromSelectors(selectors)
	return set
}

// devices are the extended resources that types of a catalog have.
func devices(catalog *instancetypes.Catalog) []string {
	names := map[string]bool{}
	for t := range catalog.All() {
		for name := range t.Capacity {
			names[string(name)] = strings.Contains(string(name), "/")
		}
	}
	return slices.Sorted(maps.Keys(lo.PickBy(names, func(_ string, device bool) bool { return device })))
}

// asked are the resources that pods ask for.
func asked(pods []*corev1.Pod) []string {
	names := map[string]bool{}
	for _, requests := range provisioning.PodRequests(pods) {
		for name := range requests {
			names[string(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// typesWith are the types of a catalog that have one or more of the extended resources.
func typesWith(catalog *instancetypes.Catalog, resources []string) (names []string) {
	for t := range catalog.All() {
		if lo.SomeBy(resources, func(r string) bool {
			q, ok := t.Capacity[corev1.ResourceName(r)]
			return ok && strings.Contains(r, "/") && !q.IsZero()
		}) {
			names = append(names, t.Name)
		}
	}
	return names
}
