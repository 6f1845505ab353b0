package requirements

import "math"

// parseInt reads a decimal integer exactly as strconv.ParseInt(s, 10, 64) does
// (which is what kube-scheduler compares with), but allocates nothing when s is
// no integer: most label values are not.
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
