package offerings

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

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

// maxExponent bounds what splitExponent returns. It leaves room for adding the
// length of any string without overflow, also where int has 32 bits.
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

// roundDigits reads the first keep digits as a number, taking zeros for those that
// are missing at the end, and rounds half up by the digit that follows. The digits
// start with one that is not zero.
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
