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

// name turns the name of a benchmark into a row's, e.g. BenchmarkWorkloads/pods=1000/classes=300-2 without
// "Benchmark" and "-2".
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

// markdown is the table of the rows of planning benchmarks, and one of those of consolidation.
func markdown(rows []row) string {
	var plans, moves strings.Builder
	for _, r := range rows {
		if _, ok := r.figures["moved"]; ok {
			r.consolidation(&moves)
		} else {
			r.plan(&plans)
		}
	}
	var b strings.Builder
	if plans.Len() > 0 {
		b.WriteString("| benchmark | time | CPU | pods/s | nodes | USD/h | over the bound | memory | allocations | ÷ reading |\n")
		b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		b.WriteString(plans.String())
	}
	if moves.Len() > 0 {
		if plans.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("| benchmark | time | CPU | first step | pods | moved | steps | nodes after | USD/h before | after | over the bound | allocated | heap at most |\n")
		b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		b.WriteString(moves.String())
	}
	return b.String()
}

// plan is the line of a benchmark that plans pods.
func (r row) plan(b *strings.Builder) {
	fmt.Fprintf(b, "| %s | %.4g ms | %s | %.0f | %s | %s | %s | %s | %s | %s |\n", r.name,
		r.figures["ns/op"]/1e6, r.figure("cpu-ns/op", "%.4g ms", 1e-6), r.figures["pods/s"],
		r.figure("nodes", "%.0f", 1), r.figure("USD/h", "%.3f", 1), r.figure("gap-%", "%.2f %%", 1),
		r.figure("B/op", "%.1f MB", 1e-6), r.figure("allocs/op", "%.0f", 1), r.ratios())
}

// consolidation writes the table row of a benchmark of the disruption planner.
func (r row) consolidation(b *strings.Builder) {
	fmt.Fprintf(b, "| %s | %.0f ms | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name,
		r.figures["ns/op"]/1e6, r.figure("cpu-ns/op", "%.0f ms", 1e-6), r.figure("first-ns", "%.0f ms", 1e-6),
		r.figure("pods", "%.0f", 1), r.figure("moved", "%.0f", 1), r.figure("steps", "%.0f", 1), r.figure("nodes", "%.0f", 1),
		r.figure("USD/h-before", "%.3f", 1), r.figure("USD/h", "%.3f", 1), r.figure("gap-%", "%.2f %%", 1),
		r.figure("B/op", "%.1f MB", 1e-6), r.figure("peak-B", "%.0f MB", 1e-6))
}

// ratios are the elapsed and CPU time of a solve, in multiples of the time of reading the problem.
func (r row) ratios() string {
	text := r.figure("reads", "%.1f", 1)
	if _, ok := r.figures["cpu-reads"]; ok {
		text += r.figure("cpu-reads", " (CPU %.1f)", 1)
	}
	return text
}

// figure is a figure times a factor; a dash where the benchmark has none.
func (r row) figure(unit, format string, factor float64) string {
	x, ok := r.figures[unit]
	if !ok {
		return "–"
	}
	return fmt.Sprintf(format, x*factor)
}
