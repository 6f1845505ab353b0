package offerings

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Adjustment changes a price: it replaces it ("0.5"), adds to it or takes from it
// ("+0.01", "-0.01"), or changes it by a percentage ("-10%", "+5%"). The zero value
// changes nothing. Adjustments compare with ==.
type Adjustment struct {
	kind adjustmentKind
	// value is in nano-USD per hour, or in billionths of a percent. Only deltas and
	// percentages have a sign.
	value int64
}

type adjustmentKind uint8

const (
	delta adjustmentKind = iota // first, so that the zero value adds nothing
	absolute
	percent
)

// wholePrice is a hundred percent, in billionths of a percent.
const wholePrice = 100 * nano

// ParseAdjustment reads an adjustment: a price of USD per hour that replaces the old
// one, a signed amount of USD per hour, or a signed percentage. Numbers keep nine
// decimals. More than 100% cannot be taken off.
func ParseAdjustment(s string) (Adjustment, error) {
	fail := func(format string, args ...any) (Adjustment, error) {
		return Adjustment{}, fmt.Errorf("price adjustment %s: %w", quoteShort(s), fmt.Errorf(format, args...))
	}
	number, isPercent := strings.CutSuffix(s, "%")
	unsigned := strings.TrimPrefix(strings.TrimPrefix(number, "+"), "-")
	signed := unsigned != number
	if signed && len(number) != len(unsigned)+1 {
		unsigned = number // more than one sign; the number will not parse
	}
	value, err := parseNano(unsigned)
	switch {
	case errors.Is(err, errTooLarge):
		return fail("too large")
	case err != nil:
		return fail("want a price like 0.5, a signed amount like +0.01 or -0.01, or a signed percentage like -10%%")
	case isPercent && !signed:
		return fail("a percentage needs a sign: +%s or -%s", s, s)
	}
	if strings.HasPrefix(number, "-") {
		value = -value
	}
	switch {
	case isPercent && value < -wholePrice:
		return fail("cannot take more than 100%% off")
	case isPercent:
		return Adjustment{kind: percent, value: value}, nil
	case signed:
		return Adjustment{kind: delta, value: value}, nil
	}
	return Adjustment{kind: absolute, value: value}, nil
}

// ParseFactor reads a factor by which a price is multiplied, e.g. "0.72" for a discount of 28 %:
// the same as the percentage "-28%". It is at most 1000.
func ParseFactor(s string) (Adjustment, error) {
	const most = 1000
	value, err := parseNano(s)
	switch {
	case errors.Is(err, errNegative):
		return Adjustment{}, fmt.Errorf("factor %s: must not be negative", quoteShort(s))
	case errors.Is(err, errTooLarge) || value > most*nano:
		return Adjustment{}, fmt.Errorf("factor %s: must not exceed %d", quoteShort(s), most)
	case err != nil:
		return Adjustment{}, fmt.Errorf("factor %s: want a decimal number like 0.72", quoteShort(s))
	}
	return Adjustment{kind: percent, value: (value - nano) * 100}, nil
}

// Replaces reports whether the adjusted price does not depend on the one before.
func (a Adjustment) Replaces() bool { return a.kind == absolute }

// Apply returns the adjusted price: never below 0, never above [MaxPrice]. A
// percentage rounds half up to a nano-USD.
func (a Adjustment) Apply(p Price) Price {
	switch a.kind {
	case absolute:
		return Price(a.value)
	case percent:
		// In unsigned words, where the sum of a large raise cannot overflow.
		return scale(max(p, 0), wholePrice+uint64(a.value), wholePrice)
	}
	sum, _ := p.Plus(Price(a.value)) // on overflow Plus returns the nearest price, which is meant here, too
	return max(sum, 0)
}

// String writes the adjustment so that [ParseAdjustment] reads it back.
func (a Adjustment) String() string {
	text := formatNano(a.value)
	if a.kind == absolute {
		return text
	}
	if a.value >= 0 {
		text = "+" + text
	}
	if a.kind == percent {
		text += "%"
	}
	return text
}

// MarshalText writes the form of [Adjustment.String].
func (a Adjustment) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the text form of [ParseAdjustment].
func (a *Adjustment) UnmarshalText(text []byte) error {
	parsed, err := ParseAdjustment(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// scale is p × numerator ÷ denominator for a price that is not negative, rounded
// half up, at most [MaxPrice]. The denominator is below 2^63.
func scale(p Price, numerator, denominator uint64) Price {
	hi, lo := bits.Mul64(uint64(p), numerator)
	if hi >= denominator {
		return MaxPrice
	}
	quotient, remainder := bits.Div64(hi, lo, denominator)
	if remainder >= denominator-remainder {
		quotient++
	}
	// A quotient that wrapped to 0 was above MaxPrice before.
	if quotient > math.MaxInt64 || quotient == 0 && hi > 0 {
		return MaxPrice
	}
	return Price(quotient)
}
