package pricelist_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/instancetypes/pricelist"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func ExampleReadList() {
	prices, err := pricelist.ReadList(strings.NewReader(`{"SpotPriceHistory": [{"AvailabilityZone": "us-east-1a", "AvailabilityZoneId": "use1-az1",
		"InstanceType": "m7i.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.0412", "Timestamp": "2026-11-20T06:16:23+00:00"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, _, err := ec2.MustCatalog("us-east-1").WithPrices(prices)
	if err != nil {
		fmt.Println(err)
		return
	}
	o, _ := catalog.Lookup(offerings.Key{InstanceType: "m7i.large", Zone: "us-east-1a", CapacityType: offerings.Spot})
	fmt.Println(o.Price, prices.Changes[0].PriceList, prices.Changes[0].Date)
	// Output:
	// 0.0412 EC2 spot price history 2026-11-20
}

// read reads a file, and returns its prices one in a line.
func read(t *testing.T, file string) (lines, warnings []string) {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	prices, err := pricelist.ReadList(in)
	require.NoError(t, err)
	for _, x := range prices.Changes {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(x.Region, " ", x.InstanceType, " ", x.CapacityType, " ", x.Zone, " ", x.ZoneID, " ", x.Price, " ", x.Date)), " "))
	}
	var written strings.Builder
	require.NoError(t, prices.WriteJSON(&written))
	again, err := instancetypes.ReadPrices(strings.NewReader(written.String()))
	require.NoError(t, err)
	require.Equal(t, prices.Changes, again.Changes, "the file for --prices says the same")
	return lines, prices.Warnings
}

func TestProducts(t *testing.T) {
	lines, warnings := read(t, "../../examples/prices/aws-products.json")
	assert.Equal(t, []string{
		"us-east-1 c7g.large on-demand 0.0725 2026-11-20", "us-east-1 c7g.xlarge on-demand 0.145 2026-11-20",
		"us-east-1 m7g.large on-demand 0.0816 2026-11-20", "us-east-1 m7g.xlarge on-demand 0.1632 2026-11-20",
		"us-east-1 m7i.large on-demand 0.1008 2026-11-20", "us-east-1 m7i.xlarge on-demand 0.2016 2026-11-20",
	}, lines)
	assert.Equal(t, []string{`left out of the EC2 price list: products of the capacity status "UnusedCapacityReservation" (1), ` +
		`products of the tenancy "Dedicated" (1), products with the operating system "Windows" (1)`}, warnings)
}

func TestOfferFile(t *testing.T) {
	lines, warnings := read(t, "testdata/ec2-offers.json")
	assert.Equal(t, []string{
		"eu-west-1 m5.large on-demand 0.107 2026-11-19", "eu-west-1 m5.metal on-demand 5.136 2026-11-19", "eu-west-1 m5.xlarge on-demand 0.214 2026-11-19",
	}, lines)
	assert.Equal(t, []string{`left out of the EC2 price list: prices of 0 (1), products of the family "Storage" (1), ` +
		`products of the location type "AWS Local Zone" (1), products with the operating system "RHEL" (1)`}, warnings)
}

func TestSpotPriceHistory(t *testing.T) {
	lines, warnings := read(t, "../../examples/prices/spot-price-history.json")
	require.Len(t, lines, 18)
	assert.Equal(t, []string{
		"us-east-1 c7g.large spot us-east-1a use1-az1 0.0271 2026-11-21", // not the older price of 0.0315
		"us-east-1 c7g.large spot us-east-1b use1-az2 0.0294 2026-11-21",
		"us-east-1 c7g.large spot us-east-1d use1-az4 0.0248 2026-11-21",
	}, lines[:3])
	assert.Equal(t, []string{`left out of the EC2 spot price history: prices of "Windows" (1)`}, warnings)
}

func TestAzure(t *testing.T) {
	lines, warnings := read(t, "testdata/azure-pages.json")
	assert.Equal(t, []string{
		"westeurope Standard_D2s_v5 on-demand 0.115", "westeurope Standard_D2s_v5 spot 0.0187", "westeurope Standard_D4s_v5 on-demand 0.23",
	}, lines, "of two spot prices the one that is valid since later")
	assert.Equal(t, []string{`left out of the Azure retail price list: prices of Windows (1), prices of low priority (1), prices of the type "Reservation" (1)`}, warnings,
		"the second page is the last one, so that nothing is cut off")
}

// Prices of machine types are those of their cores and their memory.
func TestGoogleCloud(t *testing.T) {
	lines, warnings := read(t, "testdata/gcp-skus.json")
	for _, want := range []string{
		"europe-west4 n2-standard-4 on-demand 0.213864 2026-11-20", // 4 × 0.034806 + 16 × 0.004665
		"europe-west4 n2-standard-4 spot 0.04544 2026-11-20",
		"europe-west4 n2-highmem-2 on-demand 0.144252 2026-11-20", // 2 × 0.034806 + 16 × 0.004665
		"europe-west4 t2d-standard-1 on-demand 0.046502 2026-11-20",
		"europe-west4 e2-standard-2 on-demand 0.073768 2026-11-20",
		"europe-west1 e2-standard-2 on-demand 0.073768 2026-11-20",
		"europe-west4 c2-standard-4 on-demand 0.22972 2026-11-20",
	} {
		assert.Contains(t, lines, want)
	}
	assert.NotContains(t, strings.Join(lines, "\n"), "g2-standard", "the price of the GPU is unknown")
	assert.NotContains(t, strings.Join(lines, "\n"), "e2-micro")
	require.Len(t, warnings, 1)
	for _, want := range []string{
		"SKUs of neither cores nor memory of predefined machine types, e.g. of GPUs, custom machine types and sole tenancy (3)",
		`SKUs of the resource family "Storage" (1)`, `SKUs of the usage type "Commit1Yr" (1)`, "prices of machine types with accelerators (", "prices of machine types with a share of a core (6)",
	} {
		assert.Contains(t, warnings[0], want)
	}
}

// The rule by which package pricelist computes prices from cores and memory gives the embedded prices, where two types of a family
// state its rates.
func TestMachineTypesArePricedByCoresAndMemory(t *testing.T) {
	catalog := gcp.MustCatalog("europe-west4")
	price := func(name string) float64 {
		o, ok := catalog.Lookup(offerings.Key{InstanceType: name, Zone: "europe-west4-a", CapacityType: offerings.OnDemand})
		require.True(t, ok, name)
		return o.Price.USD()
	}
	for family, memory := range map[string][2]float64{"n2": {4, 8}, "e2": {4, 8}, "n2d": {4, 8}} {
		// standard has 4 GiB for each core, highmem 8.
		perGiB := (price(family+"-highmem-4") - price(family+"-standard-4")) / (4 * (memory[1] - memory[0]))
		perCore := price(family+"-standard-4")/4 - memory[0]*perGiB
		assert.InDelta(t, 8*perCore+8*perGiB, price(family+"-highcpu-8"), 0.0001, family)
		assert.InDelta(t, 16*perCore+64*perGiB, price(family+"-standard-16"), 0.0001, family)
	}
}

// A spot price of a size that the catalog does not sell as spot adds its spot offerings, with the labels of spot nodes.
func TestPricesAddOfferings(t *testing.T) {
	catalog := azure.MustCatalog("westeurope")
	var name string
	for it := range catalog.All() {
		if !slices.ContainsFunc(it.Offerings, func(o offerings.Offering) bool { return o.CapacityType == offerings.Spot }) {
			name = it.Name
			break
		}
	}
	prices, err := pricelist.ReadList(strings.NewReader(`{"Items": [{"currencyCode": "USD", "retailPrice": 0.05, "armRegionName": "westeurope", "effectiveStartDate": "2026-11-01T00:00:00Z",
		"meterName": "X Spot", "productName": "Virtual Machines", "skuName": "X Spot", "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour", "type": "Consumption", "armSkuName": "` + name + `"}]}`))
	require.NoError(t, err)
	priced, unused, err := catalog.WithPrices(prices)
	require.NoError(t, err)
	require.Empty(t, unused)
	it, ok := priced.Get(name)
	require.True(t, ok)
	var spot int
	for _, o := range it.Offerings {
		if o.CapacityType == offerings.Spot {
			spot++
			assert.Equal(t, "0.05", o.Price.String())
			assert.Equal(t, "spot", o.Labels["kubernetes.azure.com/scalesetpriority"])
			assert.NotContains(t, o.Estimated, "price")
		}
	}
	assert.Equal(t, len(it.Offerings), 2*spot, "in each zone of the size")
	other := prices
	other.Changes = slices.Clone(prices.Changes)
	other.Changes[0].Region = "eastus"
	_, unused, err = catalog.WithPrices(other)
	require.NoError(t, err)
	assert.Equal(t, other.Changes, unused, "prices of another region are not used")
}

func TestFaultyLists(t *testing.T) {
	spot := `{"AvailabilityZone": "us-east-1a", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.03", "Timestamp": "2026-11-20T06:16:23Z"}`
	for name, tt := range map[string]struct{ text, want string }{
		"no price":         {`{"SpotPriceHistory": [` + strings.ReplaceAll(spot, "0.03", "free") + `]}`, `instance type m5.large: SpotPriceHistory[0]: SpotPrice in us-east-1a: "free": want a decimal number of USD per hour, like 0.0412`},
		"no time":          {`{"SpotPriceHistory": [` + strings.ReplaceAll(spot, "2026-11-20T06:16:23Z", "today") + `]}`, `SpotPriceHistory[0]: Timestamp: "today": must be a time such as 2026-11-20T06:16:23Z`},
		"no zone":          {`{"SpotPriceHistory": [` + strings.ReplaceAll(spot, "us-east-1a", "") + `]}`, "instance type m5.large: SpotPriceHistory[0]"},
		"nothing":          {`{"SpotPriceHistory": []}`, "the EC2 spot price history has no price of a Linux node"},
		"Windows alone":    {`{"SpotPriceHistory": [` + strings.ReplaceAll(spot, "Linux/UNIX", "Windows") + `]}`, `has no price of a Linux node; left out of the EC2 spot price history: prices of "Windows" (1)`},
		"another document": {`{"result": {"Items": []}}`, "has none of the fields of price lists"},
		"cut in the midst": {`{"SpotPriceHistory": [` + spot + `, {"Avail`, "the file ends too early: was the download complete?"},
		"not a list":       {`{"SpotPriceHistory": "none"}`, "is none, want ["},
		"a product":        {`{"PriceList": ["{\"product\": 5}"]}`, "PriceList[0]: "},
		"negative":         {`{"Items": [{"serviceName": "Virtual Machines", "type": "Consumption", "unitOfMeasure": "1 Hour", "currencyCode": "USD", "armSkuName": "Standard_D2", "armRegionName": "eastus", "retailPrice": -1}]}`, `instance type Standard_D2: Items[0]: retailPrice: "-1": must not be negative`},
		"nanos": {`{"skus": [{"skuId": "A-1", "description": "N2 Instance Core running in Belgium", "category": {"resourceFamily": "Compute", "usageType": "OnDemand"}, "serviceRegions": ["europe-west1"],
			"pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [{"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": -5}}]}}]}]}`, `skus[0] (A-1): unitPrice: "0 units and -5 nanos"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pricelist.ReadList(strings.NewReader(tt.text))
			require.ErrorContains(t, err, tt.want)
		})
	}
	cut, err := pricelist.ReadList(strings.NewReader(`{"SpotPriceHistory": [` + spot + `], "NextToken": "abc"}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"the price list is cut off: its last page refers to a next one"}, cut.Warnings)
}

// Lists are told apart by their content: files of one's own, YAML, and several pages in a list.
func TestKinds(t *testing.T) {
	for name, text := range map[string]string{
		"our own":    "prices:\n- {instanceType: m5.large, zone: us-east-1a, capacityType: spot, price: 0.03}\n",
		"our CSV":    "instanceType,zone,capacityType,price\nm5.large,us-east-1a,spot,0.03\n",
		"YAML":       "SpotPriceHistory:\n- {AvailabilityZone: us-east-1a, InstanceType: m5.large, ProductDescription: Linux/UNIX, SpotPrice: '0.03', Timestamp: '2026-11-20T06:16:23+00:00'}\n",
		"a list":     `[{"SpotPriceHistory": []}, {"SpotPriceHistory": [{"AvailabilityZone": "us-east-1a", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.03", "Timestamp": "2026-11-20T06:16:23Z"}]}]`,
		"with a BOM": "\ufeff" + `{"SpotPriceHistory": [{"AvailabilityZone": "us-east-1a", "InstanceType": "m5.large", "ProductDescription": "Linux/UNIX", "SpotPrice": "0.03", "Timestamp": "2026-11-20T06:16:23Z"}]}`,
	} {
		prices, err := pricelist.ReadList(strings.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, prices.Changes, 1, name)
		x := prices.Changes[0]
		assert.Equal(t, "m5.large us-east-1a spot 0.03", fmt.Sprint(x.InstanceType, " ", x.Zone, " ", x.CapacityType, " ", x.Price), name)
	}
}

func FuzzReadList(f *testing.F) {
	for _, file := range []string{"testdata/azure-pages.json", "testdata/gcp-skus.json", "testdata/ec2-offers.json", "../../examples/prices/spot-price-history.json"} {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(`{"PriceList": [{"product": {"attributes": {}}}]}`)
	f.Add(`[{"Items": []}, 5]`)
	f.Fuzz(func(t *testing.T, text string) {
		prices, err := pricelist.ReadList(strings.NewReader(text))
		if err == nil && len(prices.Changes) == 0 {
			t.Error("neither prices nor an error")
		}
	})
}
