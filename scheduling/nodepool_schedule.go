package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// scheduleField is one of the five fields of a cron expression.
type scheduleField struct {
	name     string
	from, to int
	words    []string // names of from, from+1, …
}

// scheduleFields follow the standard cron format: Sunday is 0, not 7.
func scheduleFields() [5]scheduleField {
	return [5]scheduleField{
		{name: "minute", from: 0, to: 59},
		{name: "hour", from: 0, to: 23},
		{name: "day of month", from: 1, to: 31},
		{name: "month", from: 1, to: 12, words: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
		{name: "day of week", from: 0, to: 6, words: strings.Fields("sun mon tue wed thu fri sat")},
	}
}

// CheckSchedule returns the fault of a cron expression of a budget; nil if it is valid.
func CheckSchedule(s string) error {
	if strings.HasPrefix(s, "@") {
		if !slices.Contains([]string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}, s) {
			return errNoSchedule
		}
		return nil
	}
	places := strings.Fields(s)
	fields := scheduleFields()
	if len(places) != len(fields) {
		return errNoSchedule
	}
	for i, place := range places {
		for part := range strings.SplitSeq(place, ",") {
			if !fields[i].accepts(part) {
				return fmt.Errorf("%q is no %s", part, fields[i].name)
			}
		}
	}
	return nil
}

// accepts reports whether a part is a value, a range or "*", perhaps with a step.
func (f *scheduleField) accepts(part string) bool {
	part, step, stepped := strings.Cut(part, "/")
	if stepped {
		if n, err := strconv.Atoi(step); err != nil || n < 1 || step[0] == '+' {
			return false
		}
	}
	if part == "*" || part == "?" {
		return true
	}
	first, last, ranged := strings.Cut(part, "-")
	from, ok := f.value(first)
	if !ok || !ranged {
		return ok
	}
	to, ok := f.value(last)
	return ok && from <= to
}

// value reads a number or a name.
func (f *scheduleField) value(s string) (int, bool) {
	if i := slices.Index(f.words, strings.ToLower(s)); i >= 0 {
		return f.from + i, true
	}
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && f.from <= n && n <= f.to
}

// errNoSchedule is the fault of most invalid schedules.
var errNoSchedule = errors.New("is no schedule: five fields (minute, hour, day of month, month, day of week) in UTC, or @hourly, " +
	"@daily, @weekly, @monthly, @yearly")
