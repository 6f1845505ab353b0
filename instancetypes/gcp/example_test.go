package gcp_test

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
)

func ExampleCatalog() {
	catalog, err := gcp.Catalog("europe-west4")
	if err != nil {
		fmt.Println(err)
		return
	}
	n2, _ := catalog.Get("n2-standard-4")
	for _, o := range n2.Offerings {
		fmt.Println(o.Zone, o.CapacityType, o.Price)
	}
	// Output:
	// europe-west4-a on-demand 0.213832
	// europe-west4-a spot 0.077736
	// europe-west4-b on-demand 0.213832
	// europe-west4-b spot 0.077736
	// europe-west4-c on-demand 0.213832
	// europe-west4-c spot 0.077736
}

// Prices under a commitment of three years.
func ExampleCommitted() {
	prices, err := gcp.Committed("europe-west4", 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, _, err := gcp.MustCatalog("europe-west4").WithPrices(prices)
	if err != nil {
		fmt.Println(err)
		return
	}
	n2, _ := catalog.Get("n2-standard-4")
	fmt.Println(n2.Offerings[0].CapacityType, n2.Offerings[0].Price)
	// Output:
	// on-demand 0.096228
}
