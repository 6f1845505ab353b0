package offerings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Price is the cost of a node, in nano-USD per hour: 0.0412 USD per hour is Price(41_200_000).
// The zero value is free. No node may have a negative price; the difference of two prices may be
// negative, and is written and read with its sign.
type Price int64

// MaxPrice is the largest price, some 9.2 billion USD per hour. Sums above it are MaxPrice.
const MaxPrice Price = math.MaxInt64

// lowest is the least difference of prices, one nano-USD below the opposite of MaxPrice.
const lowest Price = math.MinInt64

// ParsePrice reads a decimal number of USD per hour, with or without an exponent:
// "0.0412", "12", ".5", "4.12e-2". It is exact to nine decimals and rounds half up
// beyond them. Signs, blanks, currency symbols, NaN, Inf and prices above
// [MaxPrice] are errors.
func ParsePrice(s string) (Price, error) {
	n, err := parseNano(s)
	if err != nil {
		return 0, fmt.Errorf("price %s: %w", quoteShort(s), priceFault(err))
	}
	return Price(n), nil
}

// MustPrice is [ParsePrice] for prices written in source code. It panics on an
// error.
func MustPrice(s string) Price {
	p, err := ParsePrice(s)
	if err != nil {
		panic(err)
	}
	return p
}

// USD is the price in USD per hour, as near as a float64 comes.
func (p Price) USD() float64 { return float64(p) / nano }

// String is the price in USD per hour, as the shortest exact decimal: "0.0412".
// [ParsePrice] reads it back.
func (p Price) String() string { return formatNano(int64(p)) }

// Plus adds two prices. It reports false, with the nearest price that exists, where
// the sum overflows.
func (p Price) Plus(q Price) (Price, bool) {
	sum := p + q
	if (sum > p) == (q > 0) {
		return sum, true
	}
	if q > 0 {
		return MaxPrice, false
	}
	return lowest, false
}

// Sum is a plus b, or MaxPrice if that is less.
func Sum(a, b Price) Price {
	if sum, ok := a.Plus(b); ok {
		return sum
	}
	return MaxPrice
}

// Times is the price of n nodes of this price. It reports false, with the nearest price that a
// Price can hold, where the product overflows.
func (p Price) Times(n int64) (Price, bool) {
	negative := (p < 0) != (n < 0)
	hi, lo := bits.Mul64(magnitude(int64(p)), magnitude(n))
	switch {
	case hi == 0 && lo <= math.MaxInt64:
		if negative {
			return -Price(lo), true
		}
		return Price(lo), true
	case hi == 0 && lo == 1<<63 && negative:
		return lowest, true
	case negative:
		return lowest, false
	}
	return MaxPrice, false
}

// MarshalJSON writes USD per hour as a JSON number with exact decimals.
func (p Price) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads a JSON number of USD per hour by the rules of [ParsePrice],
// without the loss that a float64 in between would bring. Other than there a sign is
// read, so that all that MarshalJSON writes is; [Offering.Validate] refuses a negative price.
// null leaves the price as it is.
func (p *Price) UnmarshalJSON(data []byte) error {
	return readNumber(p, data, "price", "USD per hour", parseDifference)
}

// parseDifference is [ParsePrice] for prices that may be negative.
func parseDifference(s string) (Price, error) {
	unsigned, negative := strings.CutPrefix(s, "-")
	switch {
	case !negative:
		return ParsePrice(s)
	case s == lowest.String():
		return lowest, nil
	}
	p, err := ParsePrice(unsigned)
	return -p, err
}

// readNumber reads money that is called so, in a unit, from a number in JSON's own
// grammar: not "0.1" in quotes, not .5. null leaves it as it is.
func readNumber[T any](into *T, data []byte, name, unit string, parse func(string) (T, error)) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) == 0 || data[0] != '-' && (data[0] < '0' || data[0] > '9') || !json.Valid(data) {
		return fmt.Errorf("%s %s: want a JSON number of %s", name, shorten(string(data)), unit)
	}
	parsed, err := parse(string(data))
	if err != nil {
		return err
	}
	*into = parsed
	return nil
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// priceFault states a fault of a number in the words of prices.
func priceFault(err error) error { return moneyFault(err, "USD per hour", "0.0412") }

// amountFault states a fault of a number in the words of amounts of money.
func amountFault(err error) error { return moneyFault(err, "USD", "0.5") }

func moneyFault(err error, unit, example string) error {
	switch {
	case errors.Is(err, errNotDecimal):
		return fmt.Errorf("want a decimal number of %s, like %s", unit, example)
	case errors.Is(err, errNegative):
		return errors.New("must not be negative")
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("must not exceed %v %s", MaxPrice, unit)
	}
	return err
}

// quoteShort quotes a piece of input for an error message.
func quoteShort(s string) string { return strconv.Quote(shorten(s)) }

// shorten keeps an error message readable when the input is not.
func shorten(s string) string {
	const longest = 40
	if len(s) <= longest {
		return s
	}
	return s[:longest] + "…"
}

// nano is the number of units in one: 1 USD per hour, or one percent.
const nano = 1_000_000_000

// nanoDigits is the number of decimals that a fixed-point number keeps.
const nanoDigits = 9

var (
	errNotDecimal = errors.New("not a decimal number")
	errNegative   = errors.New("negative")
	errTooLarge   = errors.New("too large")
)

// parseNano reads an unsigned decimal ("12", "0.0412", ".5", "4.12e-2") as a count
// of billionths. Decimals beyond the ninth are rounded half up, whatever their
// number, without a detour over floating point.
func parseNano(s string) (int64, error) {
	if strings.HasPrefix(s, "-") {
		if _, err := parseNano(s[1:]); errors.Is(err, errNotDecimal) || errors.Is(err, errNegative) {
			return 0, errNotDecimal
		}
		return 0, errNegative
	}
	mantissa, exponent, err := splitExponent(s)
	if err != nil {
		return 0, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return 0, errNotDecimal
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, nil
	}
	// keep is how many of the digits stand at or before the ninth decimal.
	keep := len(digits) - len(fraction) + exponent + nanoDigits
	return roundDigits(digits, keep)
}

// maxExponent bounds the exponent that splitExponent returns. It leaves room for adding the length
// of any string without overflow, also where int has 32 bits.
const maxExponent = 1 << 30

// splitExponent cuts "4.12e-2" into "4.12" and -2. Exponents beyond all reason are
// clamped; the result is then zero or too large all the same.
func splitExponent(s string) (mantissa string, exponent int, err error) {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return s, 0, nil
	}
	text := s[i+1:]
	sign := 1
	switch {
	case strings.HasPrefix(text, "+"):
		text = text[1:]
	case strings.HasPrefix(text, "-"):
		text, sign = text[1:], -1
	}
	if text == "" || !allDigits(text) {
		return "", 0, errNotDecimal
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxExponent {
		n = maxExponent
	}
	return s[:i], sign * n, nil
}

// roundDigits reads the first keep digits as a number, taking zeros for digits that are missing at
// the end, and rounds half up by the digit that follows. The digits start with one that is not
// zero.
func roundDigits(digits string, keep int) (int64, error) {
	const longest = 19 // digits of the largest int64
	switch {
	case keep < 0:
		return 0, nil
	case keep > longest:
		return 0, errTooLarge
	}
	head := digits[:min(keep, len(digits))] + strings.Repeat("0", max(0, keep-len(digits)))
	n := uint64(0)
	for i := range len(head) {
		n = n*10 + uint64(head[i]-'0') // at most 19 digits, which uint64 holds
	}
	if keep < len(digits) && digits[keep] >= '5' {
		n++
	}
	if n > math.MaxInt64 {
		return 0, errTooLarge
	}
	return int64(n), nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// formatNano writes a count of billionths as the shortest exact decimal.
func formatNano(n int64) string {
	sign, magnitude := "", uint64(n)
	if n < 0 {
		sign, magnitude = "-", -uint64(n) // exact for the smallest int64 too
	}
	whole, fraction := magnitude/nano, magnitude%nano
	text := sign + strconv.FormatUint(whole, 10)
	if fraction == 0 {
		return text
	}
	decimals := strconv.FormatUint(fraction+nano, 10)[1:]
	return text + "." + strings.TrimRight(decimals, "0")
}
