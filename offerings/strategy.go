package offerings

import (
	"fmt"
	"math"
	"strings"
)

// Strategy names a rule by which offerings are ordered. The empty strategy is
// [LowestPrice].
type Strategy string

// The strategies.
const (
	// LowestPrice takes the cheapest offering.
	LowestPrice Strategy = "lowest-price"
	// PriceCapacityOptimized weighs price and risk of interruption: a spot offering
	// counts as dearer by its monthly interruption rate. One of which 20% are
	// interrupted has to be a sixth cheaper than one that never is.
	PriceCapacityOptimized Strategy = "price-capacity-optimized"
	// CapacityOptimized weighs interruptions ten times as heavily: it pays for calm,
	// but still not any price.
	CapacityOptimized Strategy = "capacity-optimized"
	// FewestInterruptions takes what is interrupted least, at almost any price: each
	// percent of interruptions in a month counts as 10 USD per hour. A spot offering
	// that states no rate counts as one of [UnstatedRate].
	FewestInterruptions Strategy = "fewest-interruptions"
	// Diversified takes what is cheap from as many different spot pools as there are.
	// See [Ranking.Sort] for the rule.
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
		if squeeze(s) == squeeze(string(strategy)) {
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

// partsPerMillion turns a rate into an integer; what is not a share counts as the
// nearest one, NaN as 0.
func partsPerMillion(rate float64) uint64 {
	if !(rate > 0) {
		return 0
	}
	return uint64(math.Round(min(rate, 1) * million))
}
