package facts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Region is the types that a region sells, with their prices and zones.
type Region struct {
	// Name is the region, such as "us-east-1".
	Name string `json:"name"`
	// Zones lists its availability zones, in order of letter.
	Zones []Zone `json:"zones"`
	// SpotEstimated says that the cloud has a spot price in each zone, and the rows have one in place of them, because the
	// source does not say which price is of which zone.
	SpotEstimated bool `json:"spotEstimated,omitempty"`
	// FreshDate is the day of the fresher price list, as YYYY-MM-DD; empty if there
	// is none for this region.
	FreshDate string `json:"freshDate,omitempty"`
	// Rows are the region's types, in order of name.
	Rows []Row `json:"rows"`
}

// Zone is an availability zone.
type Zone struct {
	// Letter ends the zone's name, a letter or a digit: zone "us-east-1a" has letter 'a'.
	Letter byte `json:"letter"`
	// ID is the zone id, such as "use1-az1"; empty if it is not known.
	ID string `json:"id,omitempty"`
}

// PriceList tells which list an on-demand price stands in.
type PriceList string

// The lists.
const (
	// OlderList is that of the source which covers all regions.
	OlderList PriceList = ""
	// FresherList is newer and covers few regions.
	FresherList PriceList = "f"
	// DedicatedList is the fresher list's price of a bare-metal machine, which is that
	// of dedicated tenancy and above the price of shared tenancy.
	DedicatedList PriceList = "d"
	// FormerList is older than the others; it counts where these are wrong.
	FormerList PriceList = "o"
)

// Row is how a region sells one type.
type Row struct {
	// Type is the instance type.
	Type string `json:"type"`
	// OnDemand is the price of a machine on demand, and List where it stands.
	OnDemand offerings.Price `json:"onDemand"`
	List     PriceList       `json:"list,omitempty"`
	// OneYear and ThreeYears are the prices of machines that one commits to buy for so long,
	// per hour; 0 if not known.
	OneYear    offerings.Price `json:"oneYear,omitempty"`
	ThreeYears offerings.Price `json:"threeYears,omitempty"`
	// Zones holds the letters of the zones that sell the type, ascending.
	Zones string `json:"zones"`
	// Assumed tells that the zones are a guess, because no source lists them.
	Assumed bool `json:"assumed,omitempty"`
	// Spot is the spot price in all of these zones; 0 if it is not known, so that the type is not sold as spot.
	Spot offerings.Price `json:"spot,omitempty"`
	// Band is the interruption band of spot machines, 1 to 5; 0 if not known.
	Band Band `json:"band,omitempty"`
}

// Validate returns the errors of a region, at most 20: prices that are not above 0, zones that the region
// does not have, interruption bands without a spot price.
func (g *Region) Validate() error {
	var errs []error
	fault := func(format string, args ...any) {
		if len(errs) < 20 {
			errs = append(errs, fmt.Errorf("region %s: "+format, append([]any{g.Name}, args...)...))
		}
	}
	if g.Name == "" {
		fault("the name is empty")
	}
	known := map[byte]bool{}
	for i, z := range g.Zones {
		known[z.Letter] = true
		digit, letter := '0' <= z.Letter && z.Letter <= '9', 'a' <= z.Letter && z.Letter <= 'z'
		if !digit && !letter || i > 0 && g.Zones[i-1].Letter >= z.Letter {
			fault("zone %q: want letters from a to z or digits that ascend", z.Letter)
		}
	}
	if err := ascending(len(g.Rows), func(i int) string { return g.Rows[i].Type }); err != nil {
		fault("%w", err)
	}
	for _, row := range g.Rows {
		if row.OnDemand <= 0 || min(row.OneYear, row.ThreeYears, row.Spot) < 0 {
			fault("%s: prices %v on demand, %v and %v committed, %v spot: want more than 0, and at least 0", row.Type, row.OnDemand, row.OneYear, row.ThreeYears, row.Spot)
		}
		if !slices.Contains([]PriceList{OlderList, FresherList, DedicatedList, FormerList}, row.List) {
			fault("%s: price list %q is not known", row.Type, row.List)
		}
		if row.Zones == "" {
			fault("%s: is sold in no zone", row.Type)
		}
		for i := range len(row.Zones) {
			if !known[row.Zones[i]] || i > 0 && row.Zones[i-1] >= row.Zones[i] {
				fault("%s: zones %q: want ascending letters of the region's zones", row.Type, row.Zones)
				break
			}
		}
		if row.Band < 0 || row.Band > BandTop || row.Band != 0 && row.Spot == 0 {
			fault("%s: interruption band %d: want 0 to %d, and 0 without a spot price", row.Type, row.Band, BandTop)
		}
	}
	return errors.Join(errs...)
}

// Band is one of the classes in which AWS publishes how many spot machines of a type
// were taken back within a month. 0 means that it is not known.
type Band int

// BandTop is the highest band, more than a fifth.
const BandTop Band = 5

// ParseBand reads the spelling of the Spot Instance Advisor: "<5%", "5-10%",
// "10-15%", "15-20%", ">20%".
func ParseBand(s string) (Band, error) {
	switch s {
	case "<5%":
		return 1, nil
	case "5-10%":
		return 2, nil
	case "10-15%":
		return 3, nil
	case "15-20%":
		return 4, nil
	case ">20%":
		return BandTop, nil
	}
	return 0, fmt.Errorf("interruption band %q: want one of <5%%, 5-10%%, 10-15%%, 15-20%%, >20%%", s)
}

// Rate returns the middle of the band as a share from 0 to 1: 0.025, 0.075, 0.125,
// 0.175. The open band above a fifth counts as a quarter, and 0 as 0.
func (b Band) Rate() float64 {
	switch {
	case b <= 0:
		return 0
	case b >= BandTop:
		return 0.25
	}
	return [...]float64{0.025, 0.075, 0.125, 0.175}[b-1]
}
