package table

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Head is the head of a Markdown table. Columns whose name ends in a colon are aligned to the
// right.
func Head(columns ...string) string {
	names, rule := "|", "|"
	for _, c := range columns {
		name, right := strings.CutSuffix(c, ":")
		names += " " + name + " |"
		rule += "---|"
		if right {
			rule = strings.TrimSuffix(rule, "---|") + "--:|"
		}
	}
	return names + "\n" + rule + "\n"
}

// Line is a line of a Markdown table.
func Line(cells ...any) string {
	line := "|"
	for _, c := range cells {
		line += fmt.Sprintf(" %v |", c)
	}
	return line + "\n"
}

// Number is a number with so many digits after the point, followed by a unit; a dash for 0,
// which stands for what is not known.
func Number(x float64, digits int, unit string) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f%s", digits, x, unit)
}

// Megabytes are so many bytes in millions.
func Megabytes(n uint64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// Duration shows three figures.
func Duration(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1000)
}

// Quotient is a ÷ b; 0 where b is not known.
func Quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Header is the head of the table of comparisons.
func Header() string {
	return Head("instance", "planner", "placed:", "nodes:", "$/h:", "cost ÷ bound:", "time:", "CPU:", "allocated:", "cost ÷ plimsoll:", "time ÷ plimsoll:")
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
		elapsed := Duration(r.Elapsed)
		if r.Late {
			elapsed = "stopped at " + elapsed
		}
		b.WriteString(Line(name, r.Peer, placed, r.Nodes, fmt.Sprintf("%.3f", r.Price.USD()), Number(r.OverBound, 4, ""), elapsed, Duration(r.CPU),
			Megabytes(r.Allocated), Number(r.Cost, 4, ""), Number(r.Time, 2, "")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
