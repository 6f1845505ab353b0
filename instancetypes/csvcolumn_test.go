package instancetypes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// What a column reads it writes again, and what it says about a cell is what the
// type then holds.
func TestColumnsReadWhatTheyWrite(t *testing.T) {
	for _, tc := range []struct{ heading, cell, want string }{
		{"name", "m", "m"},
		{"arch", "arm64", "arm64"},
		{"os", "windows", "windows"},
		{"cpu", "0.5", "500m"},
		{"memory", "1024Mi", "1Gi"},
		{"pods", "29", "29"},
		{"ephemeralStorage", "20Gi", "20Gi"},
		{"gpu", "8", "8"},
		{"zone", "a", "a"},
		{"capacityType", "spot", "spot"},
		{"price", "0.10", "0.1"},
		{"unavailable", "True", "true"},
		{"unavailable", "false", ""},
		{"interruptionRate", "0.050", "0.05"},
		{"interruptionRate", "0", ""},
		{"reservationID", "cr-1", "cr-1"},
		{"reservationCount", "03", "3"},
		{"reservationCount", "0", ""},
		{"estimated", "price  unavailable", "price unavailable"},
		{"label:a.b/c", "x", "x"},
		{"label:a.b/c", emptyLabel, emptyLabel},
		{"offering.label:a.b/c", "x", "x"},
		{"offering.label:a.b/c", emptyLabel, emptyLabel},
		{"capacity:a.b/c", "3", "3"},
		{"reserved:cpu", "70m", "70m"},
		{"systemReserved:cpu", "70m", "70m"},
		{"evictionThreshold:memory", "100Mi", "100Mi"},
		{"offering.capacity:pods", "58", "58"},
		{"offering.overhead:memory", "700Mi", "700Mi"},
	} {
		t.Run(tc.heading+" "+tc.cell, func(t *testing.T) {
			column, err := columnNamed(tc.heading)
			require.NoError(t, err)
			assert.Equal(t, tc.heading, column.name)
			var it InstanceType
			var o offerings.Offering
			before := column.get(&it, &o)
			require.NoError(t, column.set(&it, &o, tc.cell))
			assert.Equal(t, tc.want, column.get(&it, &o))
			if tc.want != "" && tc.heading != "price" {
				assert.Empty(t, before, "nothing is written where nothing is said")
			}
			if column.offering {
				assert.Equal(t, InstanceType{}, it, "a column of the offering leaves the type alone")
			} else {
				assert.Equal(t, offerings.Offering{}, o, "a column of the type leaves the offering alone")
			}
		})
	}
}

func TestColumnsRefuse(t *testing.T) {
	for _, tc := range []struct{ heading, cell, want string }{
		{"cpu", "two", "is not a quantity"},
		{"capacityType", "ondemand", "did you mean on-demand?"},
		{"price", "$1", "want a decimal number"},
		{"price", "1,5", "want a decimal number"},
		{"unavailable", "yes", "must be true or false"},
		{"interruptionRate", "5%", "must be a share from 0 to 1"},
		{"reservationCount", "-", "must be a whole number"},
		{"reservationCount", "99999999999", "of at most 32 bits"},
		{"offering.capacity:pods", "x", "is not a quantity"},
	} {
		column, err := columnNamed(tc.heading)
		require.NoError(t, err)
		assert.ErrorContains(t, column.set(&InstanceType{}, &offerings.Offering{}, tc.cell), tc.want, tc.heading)
	}
	for heading, want := range map[string]string{
		"":                        "is not a known column",
		"prices":                  "is not a known column",
		"label":                   "is not a known column",
		"label:":                  "is not a known column",
		"capacity:":               "is not a known column",
		"Label:a":                 "is not a known column",
		"capacity:cpu":            "has a column of its own, cpu",
		"label:kubernetes.io/os":  "has a column of its own, os",
		"capacity:nvidia.com/gpu": "has a column of its own, gpu",
	} {
		_, err := columnNamed(heading)
		assert.ErrorContains(t, err, want, heading)
	}
}

// Every fixed column has a name of its own, in any case.
func TestFixedColumnsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range fixedColumns() {
		assert.False(t, seen[c.name], c.name)
		seen[c.name] = true
		found, err := columnNamed(c.name)
		require.NoError(t, err)
		assert.Equal(t, c.path, found.path)
	}
	for short := range shortHeadings() {
		assert.True(t, seen[short], short)
	}
}
