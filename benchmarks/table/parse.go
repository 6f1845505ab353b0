package main

import (
	"fmt"
	"strconv"
	"strings"
)

// row is one benchmark: its name, and its figures by unit.
type row struct {
	name    string
	figures map[string]float64
}

// parse finds the benchmarks in the output of go test.
func parse(output string) []row {
	var rows []row
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		r := row{name: name(f[0]), figures: map[string]float64{}}
		for i := 2; i+1 < len(f); i += 2 {
			if x, err := strconv.ParseFloat(f[i], 64); err == nil {
				r.figures[f[i+1]] = x
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// name is what a reader wants of BenchmarkWorkloads/pods=1000/classes=300-2.
func name(text string) string {
	text = strings.TrimPrefix(text, "Benchmark")
	if i := strings.LastIndexByte(text, '-'); i >= 0 {
		if _, err := strconv.Atoi(text[i+1:]); err == nil {
			text = text[:i]
		}
	}
	group, rest, _ := strings.Cut(text, "/")
	return group + ": " + strings.ReplaceAll(rest, "/", ", ")
}

// markdown is the table of the rows.
func markdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| benchmark | time | pods/s | nodes | USD/h | over the bound | memory | allocations |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.0f ms | %.0f | %.0f | %.3f | %.2f %% | %.1f MB | %.0f |\n", r.name,
			r.figures["ns/op"]/1e6, r.figures["pods/s"], r.figures["nodes"], r.figures["USD/h"], r.figures["gap-%"],
			r.figures["B/op"]/1e6, r.figures["allocs/op"])
	}
	return b.String()
}
