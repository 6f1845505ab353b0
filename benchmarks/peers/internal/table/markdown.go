package table

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
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

// Row is a result beside what it is compared with.
type Row struct {
	peer.Result
	// OverBound is price ÷ the best bound that any planner proves for these pods; 0
	// where there is none.
	OverBound float64
	// Cost and Time are price and elapsed time ÷ those of the reference; 0 where the
	// reference is missing, placed other pods or costs nothing.
	Cost, Time float64
}

// Compare puts the results of one instance beside that of the reference.
func Compare(results []peer.Result, reference string) []Row {
	rows := make([]Row, 0, len(results))
	for _, r := range results {
		row := Row{Result: r}
		var bound offerings.Price
		for _, other := range results {
			if other.Instance != r.Instance {
				continue
			}
			// A bound holds for the pods that its planner placed, so for all.
			if r.Placed == r.Pods || other.Peer == r.Peer {
				bound = max(bound, other.Bound)
			}
			if other.Peer != reference {
				continue
			}
			if other.Price > 0 && other.Placed == r.Placed {
				row.Cost = r.Price.USD() / other.Price.USD()
			}
			if other.Elapsed > 0 {
				row.Time = r.Elapsed.Seconds() / other.Elapsed.Seconds()
			}
		}
		if bound > 0 {
			row.OverBound = r.Price.USD() / bound.USD()
		}
		rows = append(rows, row)
	}
	return rows
}

// Losses say where another planner placed more pods than the reference, or as many for
// less. ours tells the reference's own kin, which may do better.
func Losses(rows []Row, reference string, ours func(name string) bool) []string {
	var out []string
	for _, a := range rows {
		if a.Peer != reference {
			continue
		}
		for _, b := range rows {
			if b.Instance != a.Instance || ours(b.Peer) {
				continue
			}
			switch {
			case b.Placed > a.Placed:
				out = append(out, fmt.Sprintf("%s: %s places %d pods, %s %d", a.Instance, b.Peer, b.Placed, a.Peer, a.Placed))
			case b.Placed == a.Placed && b.Price < a.Price:
				out = append(out, fmt.Sprintf("%s: %s costs %s, %s %s", a.Instance, b.Peer, b.Price, a.Peer, a.Price))
			}
		}
	}
	return out
}
