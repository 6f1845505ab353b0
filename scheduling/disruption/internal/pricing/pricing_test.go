package pricing

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// testCatalog sells m.large in two zones, on demand, as spot and by two reservations.
func testCatalog(t testing.TB) *instancetypes.Catalog {
	t.Helper()
	offer := func(zone string, by offerings.CapacityType, price, reservation string) offerings.Offering {
		return offerings.Offering{Zone: zone, CapacityType: by, Price: offerings.MustPrice(price), ReservationID: reservation, ReservationCount: int64(len(reservation))}
	}
	gone := offer("b", offerings.Spot, "0.04", "")
	gone.Unavailable = true
	catalog, err := instancetypes.NewCatalog(&instancetypes.InstanceType{Name: "m.large", Offerings: []offerings.Offering{
		offer("a", offerings.OnDemand, "0.1", ""), offer("b", offerings.OnDemand, "0.11", ""), gone, offer("a", offerings.Reserved, "0.001", "cr-1"), offer("a", offerings.Reserved, "0.002", "cr-2"),
	}, Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")}})
	require.NoError(t, err)
	return catalog
}

// testNode is a node of type m.large.
func testNode(change func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		offerings.CapacityTypeLabel: "on-demand", corev1.LabelInstanceTypeStable: "m.large", corev1.LabelTopologyZone: "a",
	}}}
	change(node)
	return node
}

// A launch costs its first option and the overhead of a node, as [scheduling.Policy.ExpectedPrice] has it.
func TestLaunchPrice(t *testing.T) {
	p := Prices{Policy: &scheduling.Policy{NodeOverhead: offerings.MustPrice("0.01")}, Problem: &scheduling.Problem{Catalog: testCatalog(t)}}
	l := &scheduling.Launch{Price: offerings.MustPrice("0.1"), Options: []scheduling.LaunchOption{{InstanceType: "m.large", Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.1")}}}
	assert.Equal(t, offerings.MustPrice("0.11"), p.Launch(l))
	assert.Equal(t, offerings.MustPrice("0.22"), p.Launches([]scheduling.Launch{*l, *l}))
	assert.True(t, p.ExceedMachines())
	assert.Equal(t, "m.large", p.Labels(l, &l.Options[0])[corev1.LabelInstanceTypeStable])
	assert.Nil(t, p.Labels(l, &scheduling.LaunchOption{InstanceType: "x"}))
	expected, machine, ok := p.Node(testNode(func(*corev1.Node) {}), p.Problem.Catalog)
	require.True(t, ok)
	assert.Equal(t, []offerings.Price{offerings.MustPrice("0.11"), offerings.MustPrice("0.1")}, []offerings.Price{expected, machine})
}

func TestNodePrice(t *testing.T) {
	catalog := testCatalog(t)
	node := func(zone string, by offerings.CapacityType, reservation string) *corev1.Node {
		return testNode(func(n *corev1.Node) {
			n.Labels[corev1.LabelTopologyZone], n.Labels[offerings.CapacityTypeLabel] = zone, string(by)
			if reservation != "" {
				n.Labels[offerings.ReservationIDLabel] = reservation
			}
		})
	}
	for name, tc := range map[string]struct {
		node  *corev1.Node
		price string
	}{
		"D18 zone and capacity type decide":            {node("a", offerings.OnDemand, ""), "0.1"},
		"D18 another zone":                             {node("b", offerings.OnDemand, ""), "0.11"},
		"D18 whether it is on sale does not matter":    {node("b", offerings.Spot, ""), "0.04"},
		"D18 a reservation has its own price":          {node("a", offerings.Reserved, "cr-2"), "0.002"},
		"D18 without its name the first one":           {node("a", offerings.Reserved, ""), "0.001"},
		"D18 a reservation that is gone tells nothing": {node("a", offerings.Reserved, "cr-9"), ""},
		"D18 nothing in the zone":                      {node("z", offerings.OnDemand, ""), ""},
		"D27 no capacity type":                         {node("a", "", ""), ""},
		"D27 no zone":                                  {node("", offerings.OnDemand, ""), ""},
		"D27 a type that nobody sells":                 {testNode(func(n *corev1.Node) { n.Labels[corev1.LabelInstanceTypeStable] = "x" }), ""},
		"D27 no type":                                  {testNode(func(n *corev1.Node) { delete(n.Labels, corev1.LabelInstanceTypeStable) }), ""},
		"D27 no labels":                                {&corev1.Node{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := OfNode(tc.node, catalog)
			if tc.price == "" {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, offerings.MustPrice(tc.price), o.Price)
		})
	}
	_, o := OfNode(testNode(func(*corev1.Node) {}), nil)
	assert.Nil(t, o, "without a catalog")
}
