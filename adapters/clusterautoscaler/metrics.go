package clusterautoscaler

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
)

// metrics are the figures of all requests so far.
type metrics struct {
	mu      sync.Mutex
	results map[string]int64
	// within has for each of buckets the number of requests that took at most as long.
	within []int64
	took   time.Duration
	// ratio, options and dollars are those of the last choice; dollars is the price of all choices per hour.
	ratio   float64
	options int
	dollars float64
}

// buckets are the upper bounds of the histogram of durations, in seconds.
func buckets() []float64 { return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4} }

func newMetrics() *metrics {
	m := &metrics{results: map[string]int64{}, within: make([]int64, len(buckets()))}
	for _, result := range []string{resultChosen, resultMalformed, resultLate, resultPanic, resultNone} {
		m.results[result] = 0 // so that rates are known from the first failure on
	}
	return m
}

// observe counts a request. choice is that of requests with [resultChosen].
func (m *metrics) observe(choice expander.Choice, result string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[result]++
	m.took += took
	for i, bound := range buckets() {
		if took.Seconds() <= bound {
			m.within[i]++
		}
	}
	if result != resultChosen {
		return
	}
	best := choice.Best[0]
	m.options = len(choice.Options)
	m.dollars += best.Price.USD()
	if choice.Plan != nil {
		m.ratio = best.Ratio()
	}
}

// text writes the metrics in Prometheus' text format.
func (m *metrics) text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b bytes.Buffer
	family := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP plimsoll_expander_%s %s\n# TYPE plimsoll_expander_%[1]s %[3]s\n", name, help, kind)
	}
	float := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	family("requests_total", "counter", "Requests of the autoscaler by their result.")
	var all int64
	for _, result := range slices.Sorted(maps.Keys(m.results)) {
		fmt.Fprintf(&b, "plimsoll_expander_requests_total{result=%q} %d\n", result, m.results[result])
		all += m.results[result]
	}
	family("request_duration_seconds", "histogram", "Time from a request to its answer.")
	for i, bound := range buckets() {
		fmt.Fprintf(&b, "plimsoll_expander_request_duration_seconds_bucket{le=%q} %d\n", float(bound), m.within[i])
	}
	fmt.Fprintf(&b, "plimsoll_expander_request_duration_seconds_bucket{le=\"+Inf\"} %d\n", all)
	fmt.Fprintf(&b, "plimsoll_expander_request_duration_seconds_sum %s\n", float(m.took.Seconds()))
	fmt.Fprintf(&b, "plimsoll_expander_request_duration_seconds_count %d\n", all)
	family("chosen_dollars_per_hour_total", "counter", "Price of the nodes of all choices.")
	fmt.Fprintf(&b, "plimsoll_expander_chosen_dollars_per_hour_total %s\n", float(m.dollars))
	family("options", "gauge", "Options that the last choice compared.")
	fmt.Fprintf(&b, "plimsoll_expander_options %d\n", m.options)
	family("price_ratio", "gauge", "Price of the last choice divided by the planned price of its pods.")
	fmt.Fprintf(&b, "plimsoll_expander_price_ratio %s\n", float(m.ratio))
	return b.Bytes()
}
