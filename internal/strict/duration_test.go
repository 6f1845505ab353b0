package strict_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/internal/strict"
)

func TestParseDuration(t *testing.T) {
	d, err := strict.ParseDuration("1h30m")
	assert.NoError(t, err)
	assert.Equal(t, 90*time.Minute, d)
	for text, want := range map[string]string{
		"": `"" is no duration: want for example "720h"`, "-1s": `"-1s" is negative: want a duration of 0s or more`,
		"60": `"60" is no duration: the unit is missing, write for example "60s"`, "soon": `"soon" is no duration: want for example "720h" or "1h30m"`,
		"3d": `"3d" is no duration: there is no unit for days or weeks, write hours (1 day is 24h)`,
	} {
		_, err := strict.ParseDuration(text)
		assert.EqualError(t, err, want)
	}
}
