package report

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Head is the head of a Markdown table. Columns whose name ends in a colon are aligned to the
// right.
func Head(columns ...string) string {
	names, rule := "|", "|"
	for _, c := range columns {
		name, right := strings.CutSuffix(c, ":")
		names += " " + name + " |"
		if right {
			rule += "--:|"
		} else {
			rule += "---|"
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

// Column is a column of a table with a line for each result.
type Column struct {
	Head string // see [Head]
	Cell func(r peer.Result) string
}

// Table is the whole table, or without head the lines that continue one.
func Table(columns []Column, results []peer.Result, head bool) string {
	var b strings.Builder
	if head {
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = c.Head
		}
		b.WriteString(Head(names...))
	}
	for _, r := range results {
		cells := make([]any, len(columns))
		for i, c := range columns {
			cells[i] = c.Cell(r)
		}
		b.WriteString(Line(cells...))
	}
	return b.String()
}

// Number is a number with the given digits after the point, followed by a unit; a dash for 0,
// which stands for an unknown number.
func Number(x float64, digits int, unit string) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f%s", digits, x, unit)
}

// Megabytes is n bytes in megabytes.
func Megabytes(n uint64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// Duration shows three figures.
func Duration(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", milliseconds(d))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// quotient is a ÷ b; 0 where b is not known.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Put replaces the text between the lines
//
//	<!-- begin: SECTION -->
//	<!-- end: SECTION -->
//
// of the file with the given one, an empty line around it. A file without these lines is an error.
func Put(file, section, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- begin: "+section+" -->\n", "<!-- end: "+section+" -->"
	head, rest, ok := strings.Cut(string(old), begin)
	if !ok {
		return fmt.Errorf("%s: lacks the line %s", file, strings.TrimSpace(begin))
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return fmt.Errorf("%s: lacks the line %s after its beginning", file, end)
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+strings.Trim(text, "\n")+"\n\n"+end+tail), 0o644)
}
