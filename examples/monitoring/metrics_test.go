package monitoring

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/stretchr/testify/require"
)

// planned is the time of the plan of the metrics.
var planned = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// exposition is the output of "plimsoll consolidate -o openmetrics" for examples/consolidate; a test of the command
// compares it.
func exposition(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../cmd/plimsoll/testdata/consolidate.prom")
	require.NoError(t, err)
	return string(text)
}

// database holds samples, as Prometheus has them after it has scraped them.
type database struct{ series []promql.Series }

// scrape adds the samples of a text with the labels of a Pushgateway's group.
func (d *database) scrape(t *testing.T, text string, at time.Time) {
	t.Helper()
	p := textparse.NewOpenMetricsParser([]byte(text), labels.NewSymbolTable())
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		_, stamp, value := p.Series()
		require.Nil(t, stamp, "a Pushgateway refuses samples with a time")
		var ls labels.Labels
		p.Labels(&ls)
		ls = labels.NewBuilder(ls).Set("job", "plimsoll").Set("cluster", "production").Labels()
		point := promql.FPoint{T: at.UnixMilli(), F: value}
		if i := slices.IndexFunc(d.series, func(s promql.Series) bool { return labels.Equal(s.Metric, ls) }); i >= 0 {
			d.series[i].Floats = append(d.series[i].Floats, point)
		} else {
			d.series = append(d.series, promql.Series{Metric: ls, Floats: []promql.FPoint{point}})
		}
	}
}

// Querier implements [storage.Queryable].
func (d *database) Querier(_, _ int64) (storage.Querier, error) { return querier{d}, nil }

// querier is the view of one query.
type querier struct{ *database }

// Select implements [storage.Querier].
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &set{}
	for _, s := range q.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Metric.Get(m.Name)) }) {
			found.series = append(found.series, s)
		}
	}
	return found
}

// LabelValues implements [storage.LabelQuerier]; no query needs it.
func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements [storage.LabelQuerier]; no query needs it.
func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements [storage.Querier].
func (querier) Close() error { return nil }

// set is the result of a query.
type set struct {
	series []promql.Series
	next   int
}

// Next implements [storage.SeriesSet].
func (s *set) Next() bool { s.next++; return s.next <= len(s.series) }

// At implements [storage.SeriesSet].
func (s *set) At() storage.Series { return promql.NewStorageSeries(s.series[s.next-1]) }

// Err implements [storage.SeriesSet].
func (*set) Err() error { return nil }

// Warnings implements [storage.SeriesSet].
func (*set) Warnings() annotations.Annotations { return nil }

// query evaluates an expression.
func (d *database) query(t *testing.T, expr string, at time.Time) promql.Vector {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	defer func() { require.NoError(t, engine.Close()) }()
	q, err := engine.NewInstantQuery(t.Context(), d, nil, expr, at)
	require.NoError(t, err, expr)
	defer q.Close()
	result := q.Exec(t.Context())
	require.NoError(t, result.Err, expr)
	require.Empty(t, result.Warnings, expr)
	vector, err := result.Vector()
	require.NoError(t, err, expr)
	return vector
}

// metricsOf are the names of the metrics in an expression.
func metricsOf(t *testing.T, expr string) []string {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	require.NoError(t, err, expr)
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			names = append(names, s.Name)
		}
		return nil
	})
	require.NotEmpty(t, names, expr)
	return names
}

// Prometheus scrapes OpenMetrics; the Pushgateway and node_exporter read its own text format.
func TestBothFormats(t *testing.T) {
	text := exposition(t)
	var d database
	d.scrape(t, text, planned)
	require.NotEmpty(t, d.series)

	reader := expfmt.NewTextParser(model.LegacyValidation)
	families, err := reader.TextToMetricFamilies(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	samples := 0
	for name, f := range families {
		samples += len(f.GetMetric())
		require.Equal(t, "GAUGE", f.GetType().String(), name)
		require.NotEmpty(t, f.GetHelp(), name)
	}
	require.Len(t, d.series, samples)
}

// Metadata follows the conventions: each metric has a unit as its suffix, or is a count or a truth value.
func TestUnits(t *testing.T) {
	p := textparse.NewOpenMetricsParser([]byte(exposition(t)), labels.NewSymbolTable())
	units := map[string]string{}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if entry == textparse.EntryUnit {
			name, unit := p.Unit()
			units[string(name)] = string(unit)
		}
	}
	require.NotEmpty(t, units)
	for name, unit := range units {
		require.True(t, strings.HasSuffix(name, "_"+unit), "%s: %s", name, unit)
		require.Contains(t, []string{"dollars_per_hour", "seconds"}, unit)
	}
}

func TestReadmeHasEachMetric(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, line := range strings.Split(exposition(t), "\n") {
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			require.Contains(t, string(readme), "`"+strings.TrimSuffix(name, " gauge")+"`")
		}
	}
}
