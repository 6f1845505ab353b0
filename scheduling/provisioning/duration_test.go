package provisioning

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func after(d time.Duration) scheduling.NillableDuration {
	return scheduling.NillableDuration{Duration: &d}
}

func TestNillableDuration(t *testing.T) {
	for text, want := range map[string]scheduling.NillableDuration{
		"Never":    {},
		"720h":     after(720 * time.Hour),
		"1h30m":    after(90 * time.Minute),
		"30s":      after(30 * time.Second),
		"0s":       after(0),
		"1m5s":     after(65 * time.Second),
		"1h0m5s":   after(time.Hour + 5*time.Second),
		"10m":      after(10 * time.Minute),
		"1.5s":     after(1500 * time.Millisecond),
		"100h100m": after(100*time.Hour + 100*time.Minute),
	} {
		t.Run(text, func(t *testing.T) {
			var got scheduling.NillableDuration
			require.NoError(t, got.UnmarshalText([]byte(text)))
			assert.Equal(t, want, got)

			got = after(time.Nanosecond) // an old value must go
			require.NoError(t, yaml.Unmarshal([]byte(strconv.Quote(text)), &got))
			assert.Equal(t, want, got)

			raw, err := json.Marshal(got)
			require.NoError(t, err)
			var again scheduling.NillableDuration
			require.NoError(t, json.Unmarshal(raw, &again))
			assert.Equal(t, want, again)
			plain, err := got.MarshalText()
			require.NoError(t, err)
			assert.Equal(t, strconv.Quote(string(plain)), string(raw))
		})
	}
}

func TestNillableDurationString(t *testing.T) {
	for want, d := range map[string]scheduling.NillableDuration{
		"Never":   {},
		"720h":    after(720 * time.Hour),
		"101h40m": after(100*time.Hour + 100*time.Minute),
		"0s":      after(0),
		"10s":     after(10 * time.Second),
		"1h0m5s":  after(time.Hour + 5*time.Second),
		"10m":     after(10 * time.Minute),
		"20h":     after(20 * time.Hour),
		"1ms":     after(time.Millisecond),
	} {
		assert.Equal(t, want, d.String())
	}
}

// A number is seconds, as in the fields that came before.
func TestNillableDurationSeconds(t *testing.T) {
	var d scheduling.NillableDuration
	require.NoError(t, yaml.Unmarshal([]byte("2592000"), &d))
	assert.Equal(t, "720h", d.String())
	require.NoError(t, json.Unmarshal([]byte("0"), &d))
	assert.Equal(t, "0s", d.String())
}

func TestNillableDurationLeavesNullAlone(t *testing.T) {
	holder := struct{ After *scheduling.NillableDuration }{}
	require.NoError(t, json.Unmarshal([]byte(`{"After":null}`), &holder))
	assert.Nil(t, holder.After)
	d := after(time.Hour)
	require.NoError(t, d.UnmarshalJSON([]byte("null")))
	assert.Equal(t, "1h", d.String())
}

func TestNillableDurationErrors(t *testing.T) {
	for in, want := range map[string]string{
		`"30d"`:                              `"30d" is no duration: there is no unit for days or weeks, write hours (1 day is 24h), or Never`,
		`"1w2d"`:                             `"1w2d" is no duration: there is no unit for days or weeks, write hours (1 day is 24h), or Never`,
		`"720"`:                              `"720" is no duration: the unit is missing, write for example "720s", or Never`,
		`"-1h"`:                              `"-1h" is negative: want a duration of 0s or more, or Never`,
		`""`:                                 `"" is no duration: want for example "720h", or Never`,
		`"never"`:                            `"never" is no duration: want for example "720h" or "1h30m", or Never`,
		`"weekend"`:                          `"weekend" is no duration: want for example "720h" or "1h30m", or Never`,
		`-5`:                                 `-5 is negative: want 0 seconds or more`,
		`1.5`:                                `1.5 is no duration: want a string such as "720h", "Never" or a whole number of seconds`,
		`true`:                               `true is no duration: want a string such as "720h", "Never" or a whole number of seconds`,
		`{}`:                                 `{} is no duration: want a string such as "720h", "Never" or a whole number of seconds`,
		strconv.FormatInt(math.MaxInt64, 10): `9223372036854775807 is too large: 9223372036 seconds is the longest duration`,
	} {
		t.Run(in, func(t *testing.T) {
			d := after(time.Hour)
			require.EqualError(t, d.UnmarshalJSON([]byte(in)), want)
			assert.Equal(t, after(time.Hour), d, "a failed read changes nothing")
		})
	}
	var d scheduling.NillableDuration
	assert.ErrorContains(t, d.UnmarshalJSON([]byte(`"\u12"`)), "not a JSON string")
}

func FuzzNillableDuration(f *testing.F) {
	for _, s := range []string{"Never", "720h", "1h30m", "0s", "30d", "-1h", "1e3s", "9223372036s", "2562047h47m16.854775807s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var d scheduling.NillableDuration
		if d.UnmarshalText([]byte(s)) != nil {
			return
		}
		var again scheduling.NillableDuration
		if err := again.UnmarshalText([]byte(d.String())); err != nil {
			t.Fatalf("%q prints as %q, which does not read back: %v", s, d, err)
		}
		if (d.Duration == nil) != (again.Duration == nil) || d.Duration != nil && *d.Duration != *again.Duration {
			t.Fatalf("%q becomes %s and then %s", s, d, again)
		}
		if d.Duration != nil && *d.Duration < 0 {
			t.Fatalf("%q is negative", s)
		}
	})
}
