package requirements

import (
	"math"
	"slices"
	"strconv"
)

// Has reports whether a node whose label has this value satisfies r. A value
// that is no integer of 64 bits never satisfies a bound. Has allocates nothing.
func (r Requirement) Has(value string) bool { return r.has(value) }

// has takes a pointer so that hot loops do not copy the requirement.
func (r *Requirement) has(value string) bool {
	if _, found := slices.BinarySearch(r.values, value); found != r.listed {
		return false
	}
	return r.within(value)
}

// within reports whether value satisfies the bounds, if there are any.
func (r *Requirement) within(value string) bool {
	if !r.numeric {
		return true
	}
	n, ok := parseInt(value)
	return ok && r.lower <= n && n <= r.upper
}

// AllowsAbsent reports whether a node without the label satisfies r. That holds for [NotIn], for
// [DoesNotExist] and for the zero value, and for their intersections; any other requirement in an
// intersection takes it away.
func (r Requirement) AllowsAbsent() bool { return !r.present }

// Empty reports whether no value of the label satisfies r. A missing label may
// still do, see [Requirement.AllowsAbsent] and [Requirement.Impossible].
//
// Integers count in their plain spelling: when every integer within the bounds
// is excluded, r is empty, although Has accepts "01" where "1" is excluded.
func (r Requirement) Empty() bool {
	if r.listed {
		return len(r.values) == 0
	}
	if !r.numeric {
		return false
	}
	return covered(r.lower, r.upper, r.values, nil)
}

// Impossible reports whether r has no solution, neither a value nor a missing label.
func (r Requirement) Impossible() bool { return r.present && r.Empty() }

// Any returns one value that satisfies r, the same one every time; ok is false
// when there is none. Listed values give the first in order. Otherwise it is
// the smallest integer from 0 up that r allows, or, when r allows negative
// integers only, the one closest to 0: decimal digits are valid in every label.
func (r Requirement) Any() (value string, ok bool) {
	if r.listed {
		if len(r.values) == 0 {
			return "", false
		}
		return r.values[0], true
	}
	lower, upper := int64(math.MinInt64), int64(math.MaxInt64)
	if r.numeric {
		lower, upper = r.lower, r.upper
	}
	// Each step meets another exclusion, so these loops end after len(values)+1
	// steps, well before n can wrap around in the unbounded case.
	for n := max(lower, 0); n <= upper; n++ {
		if v := strconv.FormatInt(n, 10); r.has(v) {
			return v, true
		}
		if n == math.MaxInt64 {
			break
		}
	}
	for n := min(upper, -1); n >= lower; n-- {
		if v := strconv.FormatInt(n, 10); r.has(v) {
			return v, true
		}
		if n == math.MinInt64 {
			break
		}
	}
	return "", false
}

// parseInt reads a decimal integer exactly as strconv.ParseInt(s, 10, 64) does, because
// kube-scheduler compares with it, but allocates no memory when s is no integer: most label values
// are not.
func parseInt(s string) (n int64, ok bool) {
	digits, negative := s, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		digits, negative = s[1:], s[0] == '-'
	}
	if digits == "" {
		return 0, false
	}
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	var sum uint64
	for i := range len(digits) {
		d := uint64(digits[i]) - '0'
		if d > 9 || sum > (limit-d)/10 {
			return 0, false
		}
		sum = sum*10 + d
	}
	if negative {
		return -int64(sum), true // the magnitude of MinInt64 survives both conversions
	}
	return int64(sum), true
}

// plainInt reads an integer in the one spelling that strconv.FormatInt gives
// it: no plus sign, no leading zeros, no minus zero.
func plainInt(s string) (n int64, ok bool) {
	digits := s
	if s != "" && s[0] == '-' {
		digits = s[1:]
	}
	leadingZero := digits != "" && digits[0] == '0' && s != "0"
	if leadingZero || s != "" && s[0] == '+' {
		return 0, false
	}
	return parseInt(s)
}
