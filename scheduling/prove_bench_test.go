package scheduling

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// BenchmarkProve proves a bound on a few pods beside many nodes, most of which have
// some room.
func BenchmarkProve(b *testing.B) {
	list := func(milli, mib int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(milli, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(mib<<20, resource.BinarySI),
			corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
		}
	}
	var types []*instancetypes.InstanceType
	for i := range int64(900) {
		cores, per := 1+i%60, int64(2<<(i%3))
		t := &instancetypes.InstanceType{Name: fmt.Sprintf("t-%03d", i), Capacity: list(1000*cores, 1024*per*cores)}
		for k, zone := range []string{"a", "b", "c"} {
			price := offerings.Price((30+2*per+int64(k))*cores*1_000_000 + i*1000)
			t.Offerings = append(t.Offerings, offerings.Offering{Zone: zone, CapacityType: offerings.OnDemand, Price: price})
		}
		types = append(types, t)
	}
	catalog, err := instancetypes.NewCatalog(types...)
	if err != nil {
		b.Fatal(err)
	}
	pool := &NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	for _, nodes := range []int{0, 5000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			p := Problem{Catalog: catalog, NodePools: []*NodePool{pool}}
			for i := range int64(100) {
				p.Pods = append(p.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%03d", i)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "c", Resources: corev1.ResourceRequirements{Requests: list(100+50*(i%20), 128+100*(i%17))},
				}}}})
			}
			for i := range nodes {
				p.Nodes = append(p.Nodes, &corev1.Node{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%04d", i), Labels: map[string]string{corev1.LabelHostname: fmt.Sprint(i)}},
					Status:     corev1.NodeStatus{Allocatable: list(int64(i%150), int64(i%700))},
				})
			}
			s := Policy{Effort: EffortFast}
			facts, err := newFacts(&p, &s)
			if err != nil {
				b.Fatal(err)
			}
			c := facts.compile(false)
			placed := make([]int64, len(c.planned))
			for i := range c.planned {
				placed[i] = int64(len(c.planned[i].pods))
			}
			b.ReportAllocs()
			for b.Loop() {
				c.prove(context.Background(), nil, atStake{placed: placed, all: true}, offerings.MaxPrice)
			}
		})
	}
}
