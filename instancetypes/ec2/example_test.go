package ec2_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

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
	// eu-central-1a spot 0.0387
	// eu-central-1b on-demand 0.115
	// eu-central-1b spot 0.0387
	// eu-central-1c on-demand 0.115
	// eu-central-1c spot 0.0387
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

// An EC2NodeClass sets nodes up: here, fewer pods, more for the system, a larger disk.
func ExampleNodeClass_Settings() {
	var class ec2.NodeClass
	if err := yaml.Unmarshal([]byte(`
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: bottlerocket@latest}]
  kubelet: {maxPods: 20, systemReserved: {cpu: 200m}}
  blockDeviceMappings: [{deviceName: /dev/xvdb, ebs: {volumeSize: 100Gi}}]
`), &class); err != nil {
		fmt.Println(err)
		return
	}
	settings, err := class.Settings(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := ec2.MustCatalog("eu-central-1").WithNodeSettings(settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	m5, _ := catalog.Get("m5.large")
	holds := m5.Allocatable()
	fmt.Println("pods:", holds.Pods(), "cpu:", holds.Cpu(), "memory:", holds.Memory(), "disk:", holds.StorageEphemeral())
	// Output:
	// pods: 20 cpu: 1730m memory: 7002Mi disk: 89Gi
}
