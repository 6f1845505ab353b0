package table

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Header is the head of the table.
func Header() string {
	return "| instance | planner | placed | nodes | $/h | cost ÷ bound | time | CPU | allocated | cost ÷ plimsoll | time ÷ plimsoll |\n" +
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
}

// Write writes the rows, without a head.
func Write(w io.Writer, rows []Row) error {
	var b strings.Builder
	for i, r := range rows {
		name := ""
		if i == 0 || rows[i-1].Instance != r.Instance {
			name = r.Instance
		}
		placed := fmt.Sprint(r.Placed)
		if r.Placed != r.Pods {
			placed = fmt.Sprintf("%d of %d", r.Placed, r.Pods)
		}
		elapsed := duration(r.Elapsed)
		if r.Late {
			elapsed = "stopped at " + elapsed
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %.3f | %s | %s | %s | %.1f MB | %s | %s |\n",
			name, r.Peer, placed, r.Nodes, r.Price.USD(), ratio(r.OverBound, 4), elapsed, duration(r.CPU),
			float64(r.Allocated)/1e6, ratio(r.Cost, 4), ratio(r.Time, 2))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func ratio(x float64, digits int) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, x)
}

// duration shows three figures.
func duration(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	default:
		return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
	}
}
