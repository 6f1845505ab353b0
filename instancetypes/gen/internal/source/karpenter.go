package source

import (
	"maps"
	"path/filepath"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Prices is a list of on-demand prices by region and instance type.
type Prices struct {
	// Dates tells of which day the prices of a region are, as YYYY-MM-DD.
	Dates map[string]string
	// ByRegion holds the prices.
	ByRegion map[string]map[string]offerings.Price
}

// ReadPrices reads the fresher on-demand prices out of Karpenter's AWS provider:
// those of us-east-1 and of the GovCloud regions. Prices of China are in another
// currency and are left alone.
func ReadPrices(moduleDir string) (Prices, error) {
	prices := Prices{Dates: map[string]string{}, ByRegion: map[string]map[string]offerings.Price{}}
	for _, file := range []struct{ name, variable string }{
		{"zz_generated.pricing_aws.go", "InitialOnDemandPricesAWS"},
		{"zz_generated.pricing_aws_us_gov.go", "InitialOnDemandPricesUSGov"},
	} {
		f, err := parseGo(filepath.Join(moduleDir, "pkg", "providers", "pricing", file.name))
		if err != nil {
			return Prices{}, err
		}
		var byRegion map[string]map[string]offerings.Price
		if err := f.literal(file.variable, &byRegion); err != nil {
			return Prices{}, err
		}
		date, err := f.generatedDate()
		if err != nil {
			return Prices{}, err
		}
		for region := range byRegion {
			prices.Dates[region] = date
		}
		maps.Copy(prices.ByRegion, byRegion)
	}
	return prices, nil
}

// ReadBandwidths reads the baseline network bandwidth of instance types, in Mbit/s.
func ReadBandwidths(moduleDir string) (map[string]int64, error) {
	f, err := parseGo(filepath.Join(moduleDir, "pkg", "providers", "instancetype", "zz_generated.bandwidth.go"))
	if err != nil {
		return nil, err
	}
	var byType map[string]int64
	err = f.literal("InstanceTypeBandwidthMegabits", &byType)
	return byType, err
}
