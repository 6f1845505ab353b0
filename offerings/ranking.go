package offerings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Candidate is an offering together with the name of the instance type that it
// sells, which an [Offering] itself does not know.
type Candidate struct {
	InstanceType string
	Offering     Offering
}

// Ranking orders offerings, best first. The zero value takes the lowest price and
// decides ties by capacity type (reserved, spot, on-demand), then by the names of
// instance type, zone and reservation. A ranking is read only; it may be shared.
type Ranking struct {
	// Strategy says which property of offerings is compared first; "" is LowestPrice.
	Strategy Strategy
	// CapacityTypes is the order of capacity types. Types that it lacks follow in the order
	// reserved, spot, on-demand, then all types of one's own alike. Under Prioritized the order is
	// compared first, otherwise it decides ties.
	CapacityTypes []CapacityType
	// Priorities ranks instance types by name for Prioritized, smallest first. Types
	// that are missing come last. Other strategies do not read it.
	Priorities map[string]int
}

// Validate reports everything that is wrong with the ranking: an unknown strategy,
// an unknown or repeated capacity type, a priority for a type without a name.
func (r Ranking) Validate() error {
	var faults faultList
	if _, err := ParseStrategy(string(r.Strategy)); err != nil {
		faults.add("strategy: %w", err)
	}
	for i, c := range r.CapacityTypes {
		if _, err := ParseCapacityType(string(c)); err != nil {
			faults.add("capacityTypes[%d]: %w", i, err)
		} else if slices.Contains(r.CapacityTypes[:i], c) {
			faults.add("capacityTypes[%d]: %s: stands there twice", i, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Priorities)) {
		if name == "" {
			faults.add("priorities: the name of an instance type must not be empty")
		}
	}
	return errors.Join(faults...)
}

// ExpectedPrice is the figure that the strategy minimises: the price, raised under
// [PriceCapacityOptimized] and [CapacityOptimized] by the risk of interruption. With w of 1 and 10,
// and the interruption rate rounded to parts per million,
//
//	expected = price × (1,000,000 + w × rate) ÷ 1,000,000
//
// rounded half up to a nano-USD, at most [MaxPrice]. Under [FewestInterruptions] it is
// the price and 1,000 USD per hour times the rate. Under [Prioritized], where
// price comes last, and under [Diversified] it is the price. [Offering.RankingSurcharge] is added.
func (r Ranking) ExpectedPrice(c Candidate) Price {
	return Sum(r.withRisk(c), c.Offering.RankingSurcharge)
}

// withRisk is the price with the risk of interruption.
func (r Ranking) withRisk(c Candidate) Price {
	if r.Strategy == FewestInterruptions {
		expected, _ := c.Offering.Price.Plus(Price(partsPerMillion(c.Offering.presumedRate()) * pricePerPart))
		return expected
	}
	price, weight := c.Offering.Price, r.Strategy.riskWeight()
	if weight == 0 || price <= 0 {
		return price
	}
	return scale(price, million+weight*partsPerMillion(c.Offering.InterruptionRate), million)
}

// Compare is negative when a is the better choice, positive when b is, and 0 only
// when they are the same choice. It is a total order. Under [Diversified], where a
// place in the list depends on the rest of the list, it compares prices; use Sort.
func (r Ranking) Compare(a, b Candidate) int {
	if r.Strategy == Prioritized {
		if c := cmp.Or(r.compareCapacityType(a, b), cmp.Compare(r.priority(a), r.priority(b))); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(r.ExpectedPrice(a), r.ExpectedPrice(b)); c != 0 {
		return c
	}
	return cmp.Or(
		r.compareRisk(a, b),
		r.compareCapacityType(a, b),
		cmp.Compare(a.InstanceType, b.InstanceType),
		cmp.Compare(a.Offering.Zone, b.Offering.Zone),
		cmp.Compare(a.Offering.ReservationID, b.Offering.ReservationID),
		// Only candidates that no valid instance type lists side by side come here.
		cmp.Compare(a.Offering.Price, b.Offering.Price),
		cmp.Compare(a.Offering.InterruptionRate, b.Offering.InterruptionRate),
	)
}

// compareRisk puts the offering with fewer interruptions first when the strategy weighs risk
// and they are expected to cost the same.
func (r Ranking) compareRisk(a, b Candidate) int {
	if r.Strategy.riskWeight() == 0 {
		return 0
	}
	return cmp.Compare(partsPerMillion(a.Offering.InterruptionRate), partsPerMillion(b.Offering.InterruptionRate))
}

func (r Ranking) compareCapacityType(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(r.CapacityTypeRank(a.Offering.CapacityType), r.CapacityTypeRank(b.Offering.CapacityType)),
		cmp.Compare(a.Offering.CapacityType, b.Offering.CapacityType),
	)
}

// CapacityTypeRank is the place of a capacity type, 0 for the best: in CapacityTypes, behind it
// in the order of the function [CapacityTypes], or behind everything, where all are equal.
func (r Ranking) CapacityTypeRank(c CapacityType) int {
	if i := slices.Index(r.CapacityTypes, c); i >= 0 {
		return i
	}
	known := CapacityTypes()
	if i := slices.Index(known, c); i >= 0 {
		return len(r.CapacityTypes) + i
	}
	return len(r.CapacityTypes) + len(known)
}

func (r Ranking) priority(c Candidate) int {
	if priority, ok := r.Priorities[c.InstanceType]; ok {
		return priority
	}
	return math.MaxInt
}

// Strategy names a rule by which offerings are ordered. The empty strategy is
// [LowestPrice].
type Strategy string

// The strategies.
const (
	// LowestPrice takes the cheapest offering.
	LowestPrice Strategy = "lowest-price"
	// PriceCapacityOptimized weighs price and risk of interruption: a spot offering
	// counts as more expensive by its monthly interruption rate. One of which 20% are
	// interrupted has to be a sixth cheaper than one that never is.
	PriceCapacityOptimized Strategy = "price-capacity-optimized"
	// CapacityOptimized weighs interruptions ten times as heavily: it pays for fewer interruptions,
	// but still not any price.
	CapacityOptimized Strategy = "capacity-optimized"
	// FewestInterruptions takes the offerings that are interrupted least, at almost any price: each
	// percent of interruptions in a month counts as 10 USD per hour. A spot offering without a rate
	// counts as one with [UnstatedRate].
	FewestInterruptions Strategy = "fewest-interruptions"
	// Diversified takes cheap offerings from as many spot pools as possible. See [Ranking.Sort] for
	// the rule.
	Diversified Strategy = "diversified"
	// Prioritized takes the caller's order: capacity types first, then instance
	// types by priority, then price.
	Prioritized Strategy = "prioritized"
)

// Strategies returns the strategies in the order in which they are documented.
func Strategies() []Strategy {
	return []Strategy{LowestPrice, PriceCapacityOptimized, CapacityOptimized, FewestInterruptions, Diversified, Prioritized}
}

// ParseStrategy reads the name of a strategy, spelled exactly; "" is [LowestPrice].
func ParseStrategy(s string) (Strategy, error) {
	if s == "" {
		return LowestPrice, nil
	}
	names := make([]string, 0, len(Strategies()))
	hint := ""
	for _, strategy := range Strategies() {
		if string(strategy) == s {
			return strategy, nil
		}
		if spelling.Bare(s) == spelling.Bare(string(strategy)) {
			hint = fmt.Sprintf("; did you mean %s?", strategy)
		}
		names = append(names, string(strategy))
	}
	return "", fmt.Errorf("strategy %s: want one of %s%s", quoteShort(s), strings.Join(names, ", "), hint)
}

// riskWeight is by how much of its price an offering counts as dearer for each unit
// of interruption rate.
func (s Strategy) riskWeight() uint64 {
	switch s {
	case PriceCapacityOptimized:
		return 1
	case CapacityOptimized:
		return 10
	}
	return 0
}

// million is the resolution at which interruption rates enter a price.
const million = 1_000_000

// partsPerMillion turns a rate into parts per million. A number that is no share counts as the
// nearest share, NaN as 0.
func partsPerMillion(rate float64) uint64 {
	if !(rate > 0) {
		return 0
	}
	return uint64(math.Round(min(rate, 1) * million))
}

// CapacityType is on-demand, spot, reserved, or a name of one's own such as colo: a lower-case
// label value. It is the value of the node label karpenter.sh/capacity-type. Nodes of a type of
// one's own are not interrupted.
type CapacityType string

// The capacity types.
const (
	// Reserved nodes use a reservation that is paid for already.
	Reserved CapacityType = "reserved"
	// Spot nodes are cheap and may be interrupted at short notice.
	Spot CapacityType = "spot"
	// OnDemand nodes cost the list price and are not interrupted.
	OnDemand CapacityType = "on-demand"
)

// CapacityTypes returns the capacity types in the order in which they are preferred
// unless a [Ranking] says otherwise: reserved, spot, on-demand.
func CapacityTypes() []CapacityType { return []CapacityType{Reserved, Spot, OnDemand} }

// ParseCapacityType reads the name of a capacity type, spelled exactly: reserved, spot, on-demand,
// or a lower-case label value. Names that differ from the first three in case, spaces, dashes and
// underscores alone are errors, because they are misspelt.
func ParseCapacityType(s string) (CapacityType, error) {
	meant, misspelt := requirements.Misspelt(CapacityTypeLabel, s)
	if meant != "" {
		return "", fmt.Errorf("capacity type %s: want reserved, spot or on-demand; did you mean %s?", quoteShort(s), meant)
	}
	if s == "" || misspelt || !requirements.ValidLabelValue(s) {
		return "", fmt.Errorf("capacity type %s: want reserved, spot, on-demand or a lower-case label value", quoteShort(s))
	}
	return CapacityType(s), nil
}
