package openmetrics

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the media type of the text that [Write] writes.
const ContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// Type is the type of a metric.
type Type string

// The types of metrics.
const (
	Gauge     Type = "gauge"
	Counter   Type = "counter"
	Histogram Type = "histogram"
)

// Family is a metric with its samples.
type Family struct {
	// Name has the unit as its suffix. That of a counter is without _total, which its samples get.
	Name string
	// Type is [Gauge] if it is "".
	Type Type
	// Unit is "" for counts and for values that are 0 or 1.
	Unit string
	Help string
	// Labels are the names of the labels of each sample.
	Labels  []string
	samples []sample
}

// sample is a value under values of the labels, in the order of the family's labels. The name of the sample is that of
// the family with a suffix; bound is the upper bound of a bucket of a histogram, "" elsewhere.
type sample struct {
	suffix string
	labels []string
	bound  string
	value  string
}

// Add adds a sample of a gauge or counter. The values of the labels are in the order of the family's labels, and differ
// from those of each other sample.
func (f *Family) Add(value string, labels ...string) {
	s := sample{labels: labels, value: value}
	if f.Type == Counter {
		s.suffix = "_total"
	}
	f.samples = append(f.samples, s)
}

// Buckets counts observed values, in the unit of their family, for a histogram.
type Buckets struct {
	// Bounds are the upper bounds of the buckets, ascending, without the last one, which has no bound.
	Bounds []float64
	// within has by bound the number of values that are not above it.
	within map[float64]int64
	count  int64
	sum    float64
}

// Observe counts a value.
func (b *Buckets) Observe(value float64) {
	if b.within == nil {
		b.within = map[float64]int64{}
	}
	for _, bound := range b.Bounds {
		if value <= bound {
			b.within[bound]++
		}
	}
	b.count++
	b.sum += value
}

// AddBuckets adds the samples of a histogram. The values of the labels are as in [Family.Add].
func (f *Family) AddBuckets(b *Buckets, labels ...string) {
	add := func(suffix, bound, value string) {
		f.samples = append(f.samples, sample{suffix, labels, bound, value})
	}
	for _, bound := range b.Bounds {
		add("_bucket", bucketBound(bound), strconv.FormatInt(b.within[bound], 10))
	}
	add("_bucket", "+Inf", strconv.FormatInt(b.count, 10))
	add("_count", "", strconv.FormatInt(b.count, 10))
	add("_sum", "", Float(b.sum))
}

// bucketBound writes the bound of a bucket with a decimal point, as OpenMetrics demands it.
func bucketBound(x float64) string {
	text := Float(x)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// Float writes a number as the value of a sample.
func Float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Write writes families in their order, each with its samples by label. The only errors are those of w.
func Write(w io.Writer, families []*Family) error {
	var b strings.Builder
	for _, f := range families {
		kind := f.Type
		if kind == "" {
			kind = Gauge
		}
		b.WriteString("# HELP " + f.Name + " " + escape(f.Help) + "\n")
		b.WriteString("# TYPE " + f.Name + " " + string(kind) + "\n")
		if f.Unit != "" {
			b.WriteString("# UNIT " + f.Name + " " + f.Unit + "\n")
		}
		slices.SortStableFunc(f.samples, func(x, y sample) int { return slices.Compare(x.labels, y.labels) })
		for _, s := range f.samples {
			b.WriteString(f.Name + s.suffix + f.selector(s) + " " + s.value + "\n")
		}
	}
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// selector writes the labels of a sample in braces, "" if there are none.
func (f *Family) selector(s sample) string {
	var pairs []string
	for i, name := range f.Labels {
		pairs = append(pairs, name+`="`+escape(s.labels[i])+`"`)
	}
	if s.bound != "" {
		pairs = append(pairs, `le="`+s.bound+`"`)
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// escape writes a text as the formats demand it for values of labels and for help. Prometheus refuses text that is not
// valid UTF-8.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}
