package billing

import (
	"errors"
	"math"
	"math/bits"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Units is a number of units of a commitment, in billionths: 12.5 is Units(12_500_000_000).
type Units int64

// nano is the number of billionths in one.
const nano = 1_000_000_000

// MaxUnits is the largest amount of a commitment, a million units.
const MaxUnits Units = 1_000_000 * nano

// Float is the amount as near as a float64 comes.
func (a Units) Float() float64 { return float64(a) / nano }

// String is the amount as the shortest exact decimal, e.g. "12.5".
func (a Units) String() string { return offerings.Price(a).String() }

// MarshalJSON writes a JSON number with exact decimals.
func (a Units) MarshalJSON() ([]byte, error) { return offerings.Price(a).MarshalJSON() }

// UnmarshalJSON reads a JSON number, exact to nine decimals.
func (a *Units) UnmarshalJSON(data []byte) error {
	p := offerings.Price(*a)
	if p.UnmarshalJSON(data) != nil {
		return errors.New("must be a number of units, e.g. 12.5")
	}
	*a = Units(p)
	return nil
}

// scaled is n × numerator ÷ denominator, rounded down, or up if so told; at most the largest int64. All
// three must not be negative, and the denominator not 0.
func scaled(n, numerator, denominator int64, up bool) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(numerator))
	if hi >= uint64(denominator) {
		return math.MaxInt64
	}
	quotient, rest := bits.Div64(hi, lo, uint64(denominator))
	if up && rest > 0 {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}
