package rebuild

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

// A rebuilt cluster may launch again what its nodes were launched from, although it is sold out now.
func TestOfferingsOfRemovedNodesAreOnSale(t *testing.T) {
	soldOut := offerings.Offering{Zone: "a", CapacityType: offerings.Spot, Price: offerings.MustPrice("0.1"), Unavailable: true}
	catalog, err := instancetypes.NewCatalog(&instancetypes.InstanceType{Name: "m.large", Offerings: []offerings.Offering{soldOut}, Capacity: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}})
	require.NoError(t, err)
	node := func(name string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "m.large", corev1.LabelTopologyZone: "a", offerings.CapacityTypeLabel: "spot",
		}}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "x"}, Spec: corev1.PodSpec{NodeName: "gone"}}
	c := &scheduling.Problem{Catalog: catalog, Nodes: []*corev1.Node{node("gone"), node("stays")}, Running: []*corev1.Pod{pod}}
	out := Problem(c, map[string]bool{"gone": true})
	require.Len(t, out.Nodes, 1)
	require.Len(t, out.Pods, 1)
	assert.Empty(t, out.Pods[0].Spec.NodeName)
	o, ok := out.Catalog.Lookup(soldOut.Key("m.large"))
	require.True(t, ok)
	assert.False(t, o.Unavailable)
	o, _ = Problem(c, nil).Catalog.Lookup(soldOut.Key("m.large"))
	assert.True(t, o.Unavailable, "no node is gone")
}
