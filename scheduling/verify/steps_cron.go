package verify

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// cron is a schedule of five fields: what each of them lets through.
type cron struct {
	minute, hour, day, month, weekday map[int]bool
	// anyDay and anyWeekday are set for fields that begin with a star: where both say
	// something, one of them has to hold, else both.
	anyDay, anyWeekday bool
}

// readCron reads a schedule; false if it is none.
func readCron(text string) (*cron, bool) {
	switch text {
	case "@yearly", "@annually":
		text = "0 0 1 1 *"
	case "@monthly":
		text = "0 0 1 * *"
	case "@weekly":
		text = "0 0 * * 0"
	case "@daily", "@midnight":
		text = "0 0 * * *"
	case "@hourly":
		text = "0 * * * *"
	}
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return nil, false
	}
	c := &cron{}
	months := []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	days := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	var ok [5]bool
	c.minute, _, ok[0] = cronField(fields[0], 0, 59, nil)
	c.hour, _, ok[1] = cronField(fields[1], 0, 23, nil)
	c.day, c.anyDay, ok[2] = cronField(fields[2], 1, 31, nil)
	c.month, _, ok[3] = cronField(fields[3], 1, 12, months)
	c.weekday, c.anyWeekday, ok[4] = cronField(fields[4], 0, 6, days)
	return c, !slices.Contains(ok[:], false)
}

// cronField lists the numbers that a field lets through, and whether it is a star.
func cronField(text string, low, high int, words []string) (map[int]bool, bool, bool) {
	out := make(map[int]bool)
	star := false
	for _, part := range strings.Split(text, ",") {
		span, every, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(every)
			if err != nil || n < 1 {
				return nil, false, false
			}
			step = n
		}
		from, to := low, high
		if span == "*" || span == "?" {
			star = star || step == 1
		} else {
			first, last, ranged := strings.Cut(span, "-")
			var ok, also bool
			from, ok = cronNumber(first, words)
			to, also = from, true
			switch {
			case ranged:
				to, also = cronNumber(last, words)
			case stepped:
				to = high // from there on
			}
			if !ok || !also || from < low || to > high {
				return nil, false, false
			}
		}
		for n := from; n <= to; n += step {
			out[n] = true
		}
	}
	return out, star, true
}

func cronNumber(text string, words []string) (int, bool) {
	if i := slices.Index(words, strings.ToLower(text)); i >= 0 && text != "" {
		return i, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// hits reports whether the schedule hits the minute, in the time's own zone.
func (c *cron) hits(t time.Time) bool {
	if !c.minute[t.Minute()] || !c.hour[t.Hour()] || !c.month[int(t.Month())] {
		return false
	}
	day, weekday := c.day[t.Day()], c.weekday[int(t.Weekday())]
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}
