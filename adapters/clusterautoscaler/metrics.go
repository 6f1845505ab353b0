package clusterautoscaler

import (
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
)

// metrics are the figures of all requests so far.
type metrics struct {
	mu      sync.Mutex
	results map[string]int64
	took    openmetrics.Buckets // in seconds
	// ratio, options and dollars are those of the last choice; dollars is the price of all choices per hour.
	ratio   float64
	options int
	dollars float64
}

func newMetrics() *metrics {
	bounds := []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4}
	m := &metrics{results: map[string]int64{}, took: openmetrics.Buckets{Bounds: bounds}}
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
	m.took.Observe(took.Seconds())
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

// write writes the metrics in the text format of OpenMetrics.
func (m *metrics) write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	const prefix, dollars = "plimsoll_expander_", "dollars_per_hour"
	requests := &openmetrics.Family{Name: prefix + "requests", Type: openmetrics.Counter, Help: "Requests of the autoscaler by their result.", Labels: []string{"result"}}
	for result, n := range m.results {
		requests.Add(strconv.FormatInt(n, 10), result)
	}
	took := &openmetrics.Family{Name: prefix + "request_duration_seconds", Type: openmetrics.Histogram, Unit: "seconds", Help: "Time from a request to its answer."}
	took.AddBuckets(&m.took)
	chosen := &openmetrics.Family{Name: prefix + "chosen_" + dollars, Type: openmetrics.Counter, Unit: dollars, Help: "Price of the nodes of all choices."}
	chosen.Add(openmetrics.Float(m.dollars))
	options := &openmetrics.Family{Name: prefix + "options", Help: "Options that the last choice compared."}
	options.Add(strconv.Itoa(m.options))
	ratio := &openmetrics.Family{Name: prefix + "price_ratio", Help: "Price of the last choice divided by the planned price of its pods."}
	ratio.Add(openmetrics.Float(m.ratio))
	return openmetrics.Write(w, []*openmetrics.Family{requests, took, chosen, options, ratio})
}
