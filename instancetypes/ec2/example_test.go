package ec2_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func ExampleCatalog() {
	catalog, err := ec2.Catalog("eu-central-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	m5, _ := catalog.Get("m5.large")
	memory, pods := m5.Allocatable()[corev1.ResourceMemory], m5.Capacity[corev1.ResourcePods]
	fmt.Println("memory for pods:", memory.String(), "pods:", pods.String())
	for _, o := range m5.Offerings {
		fmt.Println(o.Zone, o.CapacityType, o.Price)
	}
	// Output:
	// memory for pods: 6903Mi pods: 29
	// eu-central-1a on-demand 0.115
	// eu-central-1a spot 0.0379
	// eu-central-1b on-demand 0.115
	// eu-central-1b spot 0.0387
	// eu-central-1c on-demand 0.115
	// eu-central-1c spot 0.0422
}

func ExampleCatalog_unknownRegion() {
	_, err := ec2.Catalog("eu-centrall-1")
	fmt.Println(err)
	// Output:
	// ec2 region "eu-centrall-1": no such catalog; close names are eu-central-1, eu-central-2, ca-central-1
}

// The cheapest way to buy a whole GPU on demand.
func ExampleMustCatalog() {
	catalog := ec2.MustCatalog("us-east-1").Filter(func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		gpus := t.Capacity["nvidia.com/gpu"]
		return gpus.Value() > 0 && o.CapacityType == offerings.OnDemand
	})
	var cheapest *instancetypes.InstanceType
	for t := range catalog.All() {
		if cheapest == nil || t.Offerings[0].Price < cheapest.Offerings[0].Price {
			cheapest = t
		}
	}
	fmt.Println(cheapest.Name, cheapest.Labels["karpenter.k8s.aws/instance-gpu-name"], cheapest.Offerings[0].Price)
	// Output:
	// g5g.xlarge t4g 0.42
}
