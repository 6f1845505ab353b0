package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dashboard is as much of Grafana's model as the tests read.
type dashboard struct {
	Title, UID string
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		ID                       int
		Title, Description, Type string
		Datasource               struct{ Type, UID string }
		GridPos                  struct{ X, Y, W, H int }
		FieldConfig              struct{ Defaults struct{ Unit string } }
		Targets                  []struct{ RefID, Expr, LegendFormat string }
	}
}

func TestDashboardShowsTheMetrics(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var board dashboard
	require.NoError(t, json.Unmarshal(text, &board))
	require.NotEmpty(t, board.Panels)

	metrics := exposition(t)
	var d database
	d.scrape(t, metrics, planned)
	require.Equal(t, "label_values(plimsoll_steps, cluster)", board.Templating.List[1].Definition)
	require.Contains(t, metrics, "# HELP plimsoll_steps ")

	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.Equal(t, "prometheus ${datasource}", p.Datasource.Type+" "+p.Datasource.UID, p.Title)
		require.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "%s lies on another panel", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			for _, cluster := range []string{".*", "production", "production|staging"} {
				expr := strings.ReplaceAll(target.Expr, "$cluster", cluster)
				for _, name := range metricsOf(t, expr) {
					require.Contains(t, metrics, "# HELP "+name+" ", p.Title)
				}
				found := d.query(t, expr, planned.Add(time.Minute))
				require.NotEmpty(t, found, "%s: %s", p.Title, expr)
				for _, m := range regexp.MustCompile(`\{\{([a-z_]+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
					require.NotEmpty(t, found[0].Metric.Get(m[1]), "%s: %s", p.Title, target.LegendFormat)
				}
			}
			require.Empty(t, d.query(t, strings.ReplaceAll(target.Expr, "$cluster", "staging"), planned), "of another cluster")
		}
	}
}

// The parts of the bill by namespace are the whole bill, on the dashboard as in the metrics.
func TestDashboardAddsUp(t *testing.T) {
	var d database
	d.scrape(t, exposition(t), planned)
	sum := func(expr string) float64 { return d.query(t, expr, planned)[0].F }
	parts := sum("sum(plimsoll_namespace_dollars_per_hour) + sum(plimsoll_idle_dollars_per_hour) + sum(plimsoll_daemonset_dollars_per_hour) + sum(plimsoll_system_reserved_dollars_per_hour) + sum(plimsoll_node_overhead_dollars_per_hour)")
	require.InDelta(t, sum("sum(plimsoll_bill_dollars_per_hour)"), parts, 1e-9)
	require.InDelta(t, sum("sum(plimsoll_bill_dollars_per_hour) - sum(plimsoll_planned_bill_dollars_per_hour)"), sum("sum(plimsoll_saving_dollars_per_hour)"), 1e-9)
}
