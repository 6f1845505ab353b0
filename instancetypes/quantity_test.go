package instancetypes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParseQuantity(t *testing.T) {
	for _, tc := range []struct{ text, want, problem string }{
		{"4", "4", ""}, {"500m", "500m", ""}, {"16Gi", "16Gi", ""}, {"1e3", "1e3", ""}, {"1E3", "1E3", ""}, {"-1", "-1", ""},
		{"0e00001", "0", ""}, {"1.5Ti", "1536Gi", ""}, {"1E", "1E", ""}, {"2e-3", "2e-3", ""},
		{"", "", "is not a quantity"}, {"x", "", "is not a quantity"}, {"1GB", "", "is not a quantity"}, {" 1", "", "is not a quantity"},
		{"1e100", "", "too long"}, {"1e-999999999", "", "too long"}, {"1E+00123", "", "too long"},
		{"0.0000000000000000000000000000000000000000000000000000000000000001", "", "too long"},
	} {
		start := time.Now()
		q, err := parseQuantity(tc.text)
		assert.Less(t, time.Since(start), time.Second, tc.text)
		if tc.problem != "" {
			assert.ErrorContains(t, err, tc.problem, tc.text)
			continue
		}
		require.NoError(t, err, tc.text)
		assert.Equal(t, tc.want, q.String(), tc.text)
	}
}

func TestQuantityProblem(t *testing.T) {
	for _, tc := range []struct {
		name       corev1.ResourceName
		text, want string
	}{
		{"cpu", "0", ""}, {"cpu", "100m", ""}, {"cpu", "1n", ""}, {"cpu", "9223372036854774", ""},
		{"cpu", "9223372036854776", "of millicores"}, {"cpu", "-1n", "negative"},
		{"memory", "9223372036854770000", ""}, {"memory", "9223372036854775807", "is too large"}, {"memory", "8Ei", "is too large"},
		{"memory", "0.5", ""}, {"ephemeral-storage", "1.5", ""}, {"hugepages-2Mi", "2Mi", ""},
		{"pods", "110", ""}, {"pods", "110.5", "whole"}, {"pods", "9223372036854770000", ""}, {"a.b/c", "1m", "whole"}, {"a.b/c", "1000m", ""},
		{"a.b/c", "1e99", "is too large"},
	} {
		got := quantityProblem(tc.name, resource.MustParse(tc.text))
		if tc.want == "" {
			assert.Empty(t, got, "%s %s", tc.name, tc.text)
		} else {
			assert.Contains(t, got, tc.want, "%s %s", tc.name, tc.text)
		}
	}
}

// The text of an amount is the same after it has been read again.
func TestCanonical(t *testing.T) {
	for _, text := range []string{"0", "1000", "1k", "1Ki", "1024", "1000Ki", "0.1Gi", "1e3", "1500m", "1.5", "0.5Ki", "1234567.891", "7577Mi", "3n"} {
		for _, format := range []resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent} {
			q := resource.MustParse(text)
			q.Format = format
			want := q.DeepCopy()
			once := canonical(corev1.ResourceList{"x": q})["x"]
			assert.Zero(t, once.Cmp(want), text)
			again, err := resource.ParseQuantity(once.String())
			require.NoError(t, err)
			twice := canonical(corev1.ResourceList{"x": again})["x"]
			assert.Equal(t, once.String(), twice.String(), "%s as %s", text, format)
		}
	}
}
