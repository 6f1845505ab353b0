package strict

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ParseDuration reads a Go duration that is not negative. For common mistakes the error has the
// right form, e.g. hours for days.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d < 0:
		return 0, fmt.Errorf("%q is negative: want a duration of 0s or more", s)
	case err == nil:
		return d, nil
	case s == "":
		return 0, errors.New(`"" is no duration: want for example "720h"`)
	case strings.ContainsAny(s, "dw") && strings.Trim(s, "0123456789.dwhms") == "":
		return 0, fmt.Errorf("%q is no duration: there is no unit for days or weeks, write hours (1 day is 24h)", s)
	case strings.Trim(s, "0123456789.") == "":
		return 0, fmt.Errorf("%q is no duration: the unit is missing, write for example %q", s, s+"s")
	default:
		return 0, fmt.Errorf("%q is no duration: want for example \"720h\" or \"1h30m\"", s)
	}
}
