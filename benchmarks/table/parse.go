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
	b.WriteString("| benchmark | time | CPU | pods/s | nodes | USD/h | over the bound | memory | allocations | ÷ reading |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %.4g ms | %s | %.0f | %s | %s | %s | %s | %s | %s |\n", r.name,
			r.figures["ns/op"]/1e6, r.figure("cpu-ns/op", "%.4g ms", 1e-6), r.figures["pods/s"],
			r.figure("nodes", "%.0f", 1), r.figure("USD/h", "%.3f", 1), r.figure("gap-%", "%.2f %%", 1),
			r.figure("B/op", "%.1f MB", 1e-6), r.figure("allocs/op", "%.0f", 1), r.ratios())
	}
	return b.String()
}

// ratios are what a solve takes by the clock and by the cores, in times of reading.
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
