package instancetypes_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// rack is a source with two instance types in two zones.
type rack struct{}

func (rack) InstanceTypes(context.Context, string) ([]*instancetypes.InstanceType, error) {
	var types []*instancetypes.InstanceType
	for name, cores := range map[string]int64{"rack.small": 16, "rack.large": 64} {
		memory := cores * 8 << 30
		types = append(types, &instancetypes.InstanceType{
			Name: name,
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewQuantity(cores, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
				corev1.ResourcePods:   *resource.NewQuantity(110, resource.DecimalSI),
			},
			Overhead: instancetypes.Overhead{
				KubeReserved:      instancetypes.KubeReserved(cores*1000, memory, 110),
				EvictionThreshold: instancetypes.EvictionThreshold(0),
			},
			Offerings: []offerings.Offering{
				{Zone: "room-1", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.01")},
				{Zone: "room-2", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.012")},
			},
		})
	}
	return types, nil
}

// A backend implements Source; the caller loads a catalog from it.
func Example() {
	catalog, err := instancetypes.Load(context.Background(), rack{}, "default")
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := range catalog.All() {
		allocatable := t.Allocatable()
		fmt.Println(t.Name, allocatable.Cpu(), allocatable.Memory(), len(t.Offerings))
	}
	// Output:
	// rack.large 63770m 522723Mi 2
	// rack.small 15890m 129507Mi 2
}

// Corrections stand before the source that they correct.
func ExampleSources() {
	ours := instancetypes.SourceFunc(func(context.Context, string) ([]*instancetypes.InstanceType, error) {
		return []*instancetypes.InstanceType{{
			Name: "rack.small",
			Capacity: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("12"), corev1.ResourceMemory: resource.MustParse("96Gi"),
			},
		}}, nil
	})
	catalog, err := instancetypes.Load(context.Background(), instancetypes.Sources{ours, rack{}}, "default")
	if err != nil {
		fmt.Println(err)
		return
	}
	small, _ := catalog.Get("rack.small")
	fmt.Println(catalog.Names(), small.Capacity.Cpu())
	// Output: [rack.large rack.small] 12
}

const priceList = `name,arch,cpu,memory,zone,capacityType,price,label:karpenter.k8s.aws/instance-category
m7i.large,amd64,2,8Gi,us-east-1a,on-demand,0.1008,m
m7i.large,,,,us-east-1a,spot,0.0412,
m7g.large,arm64,2,8Gi,us-east-1a,on-demand,0.0816,m
c7i.xlarge,amd64,4,8Gi,us-east-1b,spot,0.0702,c
`

func ExampleReadCSV() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader(priceList))
	if err != nil {
		fmt.Println(err)
		return
	}
	o, ok := catalog.Lookup(offerings.Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot})
	fmt.Println(catalog.Len(), o.Price, ok)

	_, err = instancetypes.ReadCSV(strings.NewReader("name,cpu,memory,zone,capacityType,price\nm7i.large,2,8Gb,a,spot,-1\n"))
	fmt.Println(err)
	// Output:
	// 3 0.0412 true
	// reading CSV catalog: line 2, column 24: instance type m7i.large: price: "-1": must not be negative
	// line 2, column 13: instance type m7i.large: memory: "8Gb": is not a quantity such as 4, 500m or 16Gi
}

func ExampleParseFilter() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader(priceList))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, expr := range []string{"arch=amd64,capacity-type=spot", "category in (c m), memory>=8Gi, price<0.09, name!=c7*", "categori=m"} {
		keep, err := instancetypes.ParseFilter(expr)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(catalog.Filter(keep).Names())
	}
	// Output:
	// [c7i.xlarge m7i.large]
	// [m7g.large m7i.large]
	// filter: term 1 "categori=m" has an unknown key "categori" (did you mean category?); write label:categori for a label of exactly that name
}

// The requirements of a NodePool narrow the catalog in the same way.
func ExampleByRequirements() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader(priceList))
	if err != nil {
		fmt.Println(err)
		return
	}
	arm := requirements.NewSet(requirements.MustNew(corev1.LabelArchStable, requirements.NotIn, "amd64"))
	fmt.Println(catalog.Filter(instancetypes.ByRequirements(arm)).Names())
	// Output: [m7g.large]
}

// A savings plan takes 20 % off the on-demand price of one family; the spot price
// stays.
func ExampleCatalog_WithOverlays() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader(priceList))
	if err != nil {
		fmt.Println(err)
		return
	}
	discount := "-20%"
	savings := instancetypes.NodeOverlay{Spec: instancetypes.NodeOverlaySpec{
		PriceAdjustment: &discount,
		Requirements: []requirements.Selector{
			{Key: corev1.LabelInstanceTypeStable, Operator: requirements.In, Values: []string{"m7i.large"}},
			{Key: offerings.CapacityTypeLabel, Operator: requirements.In, Values: []string{"on-demand"}},
		},
	}}
	savings.Name = "savings-plan"
	corrected, err := catalog.WithOverlays(savings)
	if err != nil {
		fmt.Println(err)
		return
	}
	m7i, _ := corrected.Get("m7i.large")
	for _, o := range m7i.Offerings {
		fmt.Println(o.CapacityType, o.Price)
	}
	// Output:
	// on-demand 0.08064
	// spot 0.0412
}

// In this account use1-az1 is called b, and a machine runs in c, where the price list sells
// none.
func ExampleCatalog_WithNodes() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader("name,cpu,memory,zone,capacityType,price,offering.label:topology.k8s.aws/zone-id\n" +
		"m7i.large,2,8Gi,a,on-demand,0.1,use1-az1\nm7i.large,2,8Gi,b,on-demand,0.1,use1-az2\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	node := func(name, zone, id string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "m7i.large", offerings.CapacityTypeLabel: "on-demand",
			corev1.LabelTopologyZone: zone, offerings.ZoneIDLabel: id,
		}}}
	}
	nodes := []*corev1.Node{node("one", "b", "use1-az1"), node("two", "c", "use1-az6")}
	names, err := instancetypes.ZoneNames(nodes)
	if err != nil {
		fmt.Println(err)
		return
	}
	if catalog, err = catalog.WithZones(names); err == nil {
		catalog, err = catalog.WithNodes(nodes)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	m7i, _ := catalog.Get("m7i.large")
	for _, o := range m7i.Offerings {
		fmt.Println(o.Zone, o.Labels[offerings.ZoneIDLabel], o.Price, o.Estimated)
	}
	// Output:
	// a use1-az2 0.1 []
	// b use1-az1 0.1 []
	// c use1-az6 0.1 [price]
}

func ExampleCatalog_WriteJSON() {
	catalog, err := instancetypes.ReadCSV(strings.NewReader("name,cpu,memory,zone,capacityType,price\nrack.small,16,128Gi,room-1,on-demand,0.01\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog = catalog.WithProvenance(instancetypes.Provenance{Source: "our own accounting", Date: "2026-11-01"})
	if err := catalog.WriteJSON(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	// "version":1,
	// "provenance":[{"source":"our own accounting","date":"2026-11-01"}],
	// "instanceTypes":[
	// {"name":"rack.small","labels":{"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux"},"capacity":{"cpu":"16","memory":"128Gi"},"offerings":[
	//  {"zone":"room-1","capacityType":"on-demand","price":0.01}]}
	// ]
	// }
}

// A kubelet that admits ten pods and keeps a core for the system.
func ExampleCatalog_WithNodeSettings() {
	catalog, err := instancetypes.ReadJSON(strings.NewReader(`{"version": 1, "instanceTypes": [
		{"name": "small", "capacity": {"cpu": "4", "memory": "8Gi", "pods": "58"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	ten := intstr.FromInt32(10)
	catalog, err = catalog.WithNodeSettings(instancetypes.NodeSettings{Kubelet: instancetypes.Kubelet{
		MaxPods: &ten, SystemReserved: map[string]string{"cpu": "1"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	small, _ := catalog.Get("small")
	holds := small.Allocatable()
	fmt.Println("pods:", holds.Pods(), "cpu:", holds.Cpu())
	// Output:
	// pods: 10 cpu: 3
}
