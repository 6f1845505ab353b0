package ec2facts

import "fmt"

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
