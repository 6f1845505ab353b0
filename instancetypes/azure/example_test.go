package azure_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
)

func ExampleCatalog() {
	catalog, err := azure.Catalog("eastus")
	if err != nil {
		fmt.Println(err)
		return
	}
	d8, _ := catalog.Get("Standard_D8as_v5")
	allocatable := d8.Allocatable()
	cpu, memory := allocatable[corev1.ResourceCPU], allocatable[corev1.ResourceMemory]
	fmt.Println(cpu.String(), memory.String())
	for _, o := range d8.Offerings {
		fmt.Println(o.Zone, o.CapacityType, o.Price)
	}
	// Output:
	// 7820m 25915Mi
	// eastus-1 on-demand 0.344
	// eastus-1 spot 0.051497
	// eastus-2 on-demand 0.344
	// eastus-2 spot 0.051497
	// eastus-3 on-demand 0.344
	// eastus-3 spot 0.051497
}

// Arm sizes of one series, with their prices on demand.
func ExampleMustCatalog() {
	filter, err := instancetypes.ParseFilter("arch=arm64")
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := range azure.MustCatalog("eastus").Filter(filter).All() {
		if t.Labels["karpenter.azure.com/sku-series"] == "Dps_v6" {
			fmt.Println(t.Name, t.Labels["karpenter.azure.com/sku-cpu"], t.Offerings[0].Price)
		}
	}
	// Output:
	// Standard_D16ps_v6 16 0.562
	// Standard_D2ps_v6 2 0.0702
	// Standard_D32ps_v6 32 1.123
	// Standard_D48ps_v6 48 1.685
	// Standard_D4ps_v6 4 0.14
	// Standard_D64ps_v6 64 2.246
	// Standard_D8ps_v6 8 0.281
	// Standard_D96ps_v6 96 3.37
}
