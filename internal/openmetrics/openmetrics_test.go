package openmetrics_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
)

// A namespace of a file may be any text, and must not break the metrics of the others.
func TestTextsAreEscaped(t *testing.T) {
	f := &openmetrics.Family{Name: "a_seconds", Unit: "seconds", Help: `Line \ one` + "\nand two.", Labels: []string{"namespace", "nodepool"}}
	f.Add("2", `b"\`+"\n\xff", "p")
	f.Add("1", "a", "p")
	require.Equal(t, `# HELP a_seconds Line \\ one\nand two.
# TYPE a_seconds gauge
# UNIT a_seconds seconds
a_seconds{namespace="a",nodepool="p"} 1
a_seconds{namespace="b\"\\\n`+"\uFFFD"+`",nodepool="p"} 2
# HELP steps Steps.
# TYPE steps gauge
# EOF
`, text(t, f, &openmetrics.Family{Name: "steps", Help: "Steps."}))
}

// Samples of counters and histograms have the suffixes of OpenMetrics, their families have none.
func TestCountersAndHistograms(t *testing.T) {
	requests := &openmetrics.Family{Name: "requests", Type: openmetrics.Counter, Help: "Requests.", Labels: []string{"result"}}
	requests.Add("2", "ok")
	b := openmetrics.Buckets{Bounds: []float64{0.5, 1}}
	empty := &openmetrics.Family{Name: "none_seconds", Type: openmetrics.Histogram, Unit: "seconds", Help: "None."}
	empty.AddBuckets(&b)
	for _, took := range []float64{0.25, 0.5, 0.75, 4} {
		b.Observe(took)
	}
	took := &openmetrics.Family{Name: "took_seconds", Type: openmetrics.Histogram, Unit: "seconds", Help: "Time."}
	took.AddBuckets(&b)
	require.Equal(t, `# HELP requests Requests.
# TYPE requests counter
requests_total{result="ok"} 2
# HELP none_seconds None.
# TYPE none_seconds histogram
# UNIT none_seconds seconds
none_seconds_bucket{le="0.5"} 0
none_seconds_bucket{le="1.0"} 0
none_seconds_bucket{le="+Inf"} 0
none_seconds_count 0
none_seconds_sum 0
# HELP took_seconds Time.
# TYPE took_seconds histogram
# UNIT took_seconds seconds
took_seconds_bucket{le="0.5"} 2
took_seconds_bucket{le="1.0"} 3
took_seconds_bucket{le="+Inf"} 4
took_seconds_count 4
took_seconds_sum 5.5
# EOF
`, text(t, requests, empty, took))
}

func text(t *testing.T, families ...*openmetrics.Family) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, openmetrics.Write(&b, families))
	return b.String()
}
