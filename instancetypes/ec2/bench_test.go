package ec2_test

import (
	"testing"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
)

// BenchmarkCatalog measures how long a region takes to decode, the largest first.
func BenchmarkCatalog(b *testing.B) {
	for _, region := range []string{"us-east-1", "eu-central-1", "af-south-1"} {
		b.Run("region="+region, func(b *testing.B) {
			b.ReportAllocs()
			offered := 0
			for b.Loop() {
				catalog, err := ec2.Catalog(region)
				if err != nil {
					b.Fatal(err)
				}
				offered = 0
				for t := range catalog.All() {
					offered += len(t.Offerings)
				}
			}
			b.ReportMetric(float64(offered), "offerings")
		})
	}
}
