package offerings

import (
	"fmt"
	"math"
	"math/bits"
)

// HoursPerMonth is how many hours the month has that interruption rates are about: a
// twelfth of a year of 365 days, as cloud providers bill months.
const HoursPerMonth = 730

// UnstatedRate is the interruption rate that [FewestInterruptions] takes a spot offering
// for that states none: the rate that the embedded EC2 catalogs give to the worst of
// the bands of the AWS Spot Instance Advisor, above 20%.
const UnstatedRate = 0.25

// pricePerPart is the price that [FewestInterruptions] adds for each interruption per million
// nodes and month, in nano-USD per hour.
const pricePerPart = 1_000_000

// presumedRate is the interruption rate, UnstatedRate for spot offerings without one.
func (o Offering) presumedRate() float64 {
	if o.CapacityType == Spot && o.InterruptionRate == 0 {
		return UnstatedRate
	}
	return o.InterruptionRate
}

// InterruptionCost is the expected cost per hour of the interruptions of a node of the offering,
// each of which costs the given amount: with the rate rounded to parts per million,
//
//	cost × rate ÷ (730 × 1,000,000)
//
// rounded half up to a nano-USD, at most [MaxPrice]. A cost below 0 counts as 0.
//
// Rates are read as the number of interruptions in a month for each node that is kept running,
// because the AWS Spot Instance Advisor defines its frequency of interruption in this way ("the
// rate at which Spot has reclaimed capacity during the trailing month"). Were they the share of
// nodes that are interrupted before the month ends, a node that is replaced each time would
// be interrupted −ln(1 − rate) times, i.e. 1% more at a rate of 2.5% and 15% more at one of 25%.
func (o Offering) InterruptionCost(each Amount) Price {
	parts := partsPerMillion(o.InterruptionRate)
	if parts == 0 || each <= 0 {
		return 0
	}
	return scale(Price(each), parts, HoursPerMonth*million)
}

// Amount is an amount of money that is not per hour, in nano-USD: 0.5 USD is Amount(500_000_000).
// The zero value is no money.
type Amount int64

// MaxAmount is the largest amount, some 9.2 billion USD.
const MaxAmount Amount = math.MaxInt64

// ParseAmount reads a decimal number of USD by the rules of [ParsePrice].
func ParseAmount(s string) (Amount, error) {
	n, err := parseNano(s)
	if err != nil {
		return 0, fmt.Errorf("amount %s: %w", quoteShort(s), amountFault(err))
	}
	return Amount(n), nil
}

// MustAmount is [ParseAmount] for amounts written in source code. It panics on an
// error.
func MustAmount(s string) Amount {
	a, err := ParseAmount(s)
	if err != nil {
		panic(err)
	}
	return a
}

// String is the amount in USD, as the shortest exact decimal: "0.5". [ParseAmount]
// reads it back.
func (a Amount) String() string { return formatNano(int64(a)) }

// Plus adds two amounts, neither of which is below 0; the sum is at most [MaxAmount].
func (a Amount) Plus(b Amount) Amount {
	if sum := a + b; sum >= a {
		return sum
	}
	return MaxAmount
}

// PerThousand is the amount times n ÷ 1,000, rounded down, at most [MaxAmount]. Neither
// the amount nor n is below 0. It prices millicores by an amount for each core.
func (a Amount) PerThousand(n int64) Amount {
	const thousand = 1_000
	if a <= 0 || n <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(n))
	if hi >= thousand {
		return MaxAmount
	}
	quotient, _ := bits.Div64(hi, lo, thousand)
	return Amount(min(quotient, math.MaxInt64))
}

// MarshalJSON writes USD as a JSON number with exact decimals.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a JSON number of USD by the rules of [ParseAmount]. null leaves
// the amount as it is.
func (a *Amount) UnmarshalJSON(data []byte) error {
	return readNumber(a, data, "amount", "USD", ParseAmount)
}
