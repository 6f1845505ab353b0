package karpenter_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// offering is one that is available.
func offering(zone, capacityType string, price float64) *cloudprovider.Offering {
	return &cloudprovider.Offering{Available: true, Price: price, Requirements: kscheduling.NewLabelRequirements(map[string]string{
		corev1.LabelTopologyZone: zone, karpv1.CapacityTypeLabelKey: capacityType,
	})}
}

// instanceType has four cores and some offerings.
func instanceType(name string, offered ...*cloudprovider.Offering) *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{
		Name: name,
		Requirements: kscheduling.NewRequirements(
			kscheduling.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, name),
			kscheduling.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, "windows", "linux"),
			kscheduling.NewRequirement("example.com/gpu", corev1.NodeSelectorOpDoesNotExist),
			kscheduling.NewRequirement("example.com/family", corev1.NodeSelectorOpIn, "s"),
		),
		Offerings: offered,
		Capacity:  corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("58")},
		Overhead:  &cloudprovider.InstanceTypeOverhead{KubeReserved: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
	}
}

// Every offering has the price and the allocatable resources that Karpenter counts with.
func TestCatalogIsTheProviders(t *testing.T) {
	types, err := kwok.ConstructInstanceTypes(kwokoptions.ToContext(t.Context(), &kwokoptions.Options{}))
	require.NoError(t, err)
	catalog, warnings := karpenter.Catalog(types, nil)
	require.Empty(t, warnings)
	require.Equal(t, len(types), catalog.Len())
	for _, k := range types {
		ours, ok := catalog.Get(k.Name)
		require.True(t, ok, k.Name)
		require.Len(t, ours.Offerings, len(k.Offerings))
		for _, group := range k.AllocatableOfferingsList() {
			for _, o := range group.Offerings {
				i := slices.IndexFunc(ours.Offerings, func(of offerings.Offering) bool {
					return of.Zone == o.Zone() && string(of.CapacityType) == o.CapacityType()
				})
				require.GreaterOrEqual(t, i, 0)
				require.InDelta(t, o.Price, ours.Offerings[i].Price.USD(), 1e-9)
				for name, q := range group.Allocatable {
					q2 := ours.AllocatableOf(ours.Offerings[i])[name]
					require.Zero(t, q.Cmp(q2), "%s %s: %s, want %s", k.Name, name, q2.String(), q.String())
				}
			}
		}
	}
}

func TestCatalogTakesOverrides(t *testing.T) {
	large := offering("a", "on-demand", 1)
	large.CapacityOverride = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	large.OverheadOverride = &cloudprovider.InstanceTypeOverhead{SystemReserved: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")}}
	k := instanceType("s-4x", large)
	catalog, _ := karpenter.Catalog([]*cloudprovider.InstanceType{k}, nil)
	ours, _ := catalog.Get("s-4x")
	for _, group := range k.AllocatableOfferingsList()[1:] {
		for name, q := range group.Allocatable {
			q2 := ours.AllocatableOf(ours.Offerings[0])[name]
			require.Zero(t, q.Cmp(q2), "%s: %s, want %s", name, q2.String(), q.String())
		}
	}
}

func TestCatalogKeepsReservations(t *testing.T) {
	before := cloudprovider.ReservationIDLabel
	cloudprovider.ReservationIDLabel = offerings.ReservationIDLabel
	t.Cleanup(func() { cloudprovider.ReservationIDLabel = before })
	reserved := offering("a", "reserved", 0.001)
	reserved.Requirements.Add(kscheduling.NewRequirement(offerings.ReservationIDLabel, corev1.NodeSelectorOpIn, "cr-1"))
	reserved.ReservationCapacity = 3
	sold := offering("a", "spot", 0.4)
	sold.Available = false
	catalog, warnings := karpenter.Catalog([]*cloudprovider.InstanceType{instanceType("s-4x", reserved, sold)}, kscheduling.NewRequirements(
		kscheduling.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, "windows")))
	require.Empty(t, warnings)
	ours, _ := catalog.Get("s-4x")
	require.Equal(t, "windows", ours.Labels[corev1.LabelOSStable])
	require.Equal(t, "s", ours.Labels["example.com/family"])
	require.NotContains(t, slices.Collect(maps.Keys(ours.Labels)), "example.com/gpu")
	require.Equal(t, "cr-1", ours.Offerings[0].ReservationID)
	require.EqualValues(t, 3, ours.Offerings[0].ReservationCount)
	require.True(t, ours.Offerings[1].Unavailable)
}

func TestCatalogNamesFaults(t *testing.T) {
	noCPU := instanceType("no-cpu", offering("a", "spot", 1))
	delete(noCPU.Capacity, corev1.ResourceCPU)
	dear := offering("a", "spot", 2)
	catalog, warnings := karpenter.Catalog([]*cloudprovider.InstanceType{
		nil, noCPU, instanceType("twice", offering("a", "spot", 1)), instanceType("twice"),
		instanceType("s-4x", nil, offering("a", "spot", math.NaN()), offering("b", "spot", -1), offering("", "spot", 1), offering("c", "Spot", 1), dear, offering("a", "spot", 1)),
	}, kscheduling.NewRequirements(kscheduling.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, "linux")))
	require.Equal(t, []string{"s-4x", "twice"}, catalog.Names())
	s4, _ := catalog.Get("s-4x")
	require.Len(t, s4.Offerings, 1)
	require.Equal(t, offerings.MustPrice("1"), s4.Offerings[0].Price, "the cheaper of two alike")
	var all []string
	for _, w := range warnings {
		all = append(all, w.Object+": "+w.Message)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"InstanceType/: is nil", "InstanceType/no-cpu: is left out: ", "cpu", "InstanceType/twice: is listed twice", "InstanceType/s-4x: offerings[0]: is nil",
		"InstanceType/s-4x: offerings[1] is left out: price: ", "but is NaN", "offerings[2] is left out: price: ", "but is -1",
		"offerings[3] is left out: requirements[topology.kubernetes.io/zone]: is missing", "offerings[4] is left out: requirements[karpenter.sh/capacity-type]: ",
	} {
		require.Contains(t, text, want)
	}
}
