package provisioning

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestCheckSchedule(t *testing.T) {
	for _, s := range []string{
		"* * * * *", "0 9 * * mon-fri", "0 9 * * MON-FRI", "*/15 0-6,22-23 1,15 * ?", "59 23 31 12 6", "0 0 1 jan sun",
		"0-30/10 * * * *", "5/15 * * * *", "  0\t0 * *  0 ", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually",
	} {
		assert.NoError(t, scheduling.CheckSchedule(s), s)
	}
	for s, want := range map[string]string{
		"":                             "is no schedule",
		"* * * *":                      "is no schedule",
		"* * * * * *":                  "is no schedule",
		"@every 1h":                    "is no schedule",
		"@Daily":                       "is no schedule",
		"60 * * * *":                   `"60" is no minute`,
		"* 24 * * *":                   `"24" is no hour`,
		"* * 0 * *":                    `"0" is no day of month`,
		"* * * 13 *":                   `"13" is no month`,
		"* * * * 7":                    `"7" is no day of week`,
		"* * * * tuesday":              `"tuesday" is no day of week`,
		"1, * * * *":                   `"" is no minute`,
		"5-1 * * * *":                  `"5-1" is no minute`,
		"1-2-3 * * * *":                `"1-2-3" is no minute`,
		"*/0 * * * *":                  `"*/0" is no minute`,
		"*/ * * * *":                   `"*/" is no minute`,
		"*/+5 * * * *":                 `"*/+5" is no minute`,
		"-1 * * * *":                   `"-1" is no minute`,
		"1- * * * *":                   `"1-" is no minute`,
		"99999999999999999999 * * * *": `is no minute`,
		"mon * * * *":                  `"mon" is no minute`,
	} {
		require.ErrorContains(t, scheduling.CheckSchedule(s), want, s)
	}
}
