package scheduling

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/internal/strict"
)

// never is the text of a NillableDuration without a duration.
const never = "Never"

// NillableDuration is a duration or "Never", as karpenter.sh/v1 writes
// expireAfter and consolidateAfter. The zero value is Never.
//
// It reads Go durations that are not negative ("720h", "1h30m", "0s") and
// "Never". A bare JSON or YAML number is a count of seconds, as in the
// ttlSecondsUntilExpired of older manifests; a string must carry its unit. There
// is no unit for days: a day is not always 24 hours, so write "24h".
type NillableDuration struct {
	// Duration is nil for Never.
	Duration *time.Duration
}

// String returns the shortest form that reads back: "Never", "720h", "1h30m", "0s".
func (d NillableDuration) String() string {
	if d.Duration == nil {
		return never
	}
	s := d.Duration.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes the form of [NillableDuration.String].
func (d NillableDuration) MarshalText() ([]byte, error) {
	return []byte(d.String()), nil
}

// UnmarshalText reads "Never" or a Go duration. The error names the text and its fault.
func (d *NillableDuration) UnmarshalText(text []byte) error {
	if string(text) == never {
		d.Duration = nil
		return nil
	}
	parsed, err := strict.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%w, or Never", err)
	}
	d.Duration = &parsed
	return nil
}

// MarshalJSON writes the form of [NillableDuration.String] as a JSON string.
func (d NillableDuration) MarshalJSON() ([]byte, error) {
	return json.Marshal(d.String())
}

// UnmarshalJSON reads a string as [NillableDuration.UnmarshalText] does, and a
// number as whole seconds. null leaves the receiver as it is.
func (d *NillableDuration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("not a JSON string: %w", err)
		}
		return d.UnmarshalText([]byte(s))
	}
	seconds, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is no duration: want a string such as \"720h\", \"Never\" or a whole number of seconds", data)
	}
	if seconds < 0 {
		return fmt.Errorf("%d is negative: want 0 seconds or more", seconds)
	}
	if seconds > math.MaxInt64/int64(time.Second) {
		return fmt.Errorf("%d is too large: %d seconds is the longest duration", seconds, int64(math.MaxInt64)/int64(time.Second))
	}
	parsed := time.Duration(seconds) * time.Second
	d.Duration = &parsed
	return nil
}
