package realised

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Result is how one problem ended in one way.
type Result struct {
	// Problem names the problem.
	Problem string `json:"problem"`
	// Plan says whose the first plan is: the placement that Plimsoll planned for, or the name
	// of a plan that was given.
	Plan string `json:"plan"`
	Way
	Outcome
}

// Table writes results for people: a line for each problem and way, over all orders,
// with the mean and the worst price over the bound.
func Table(out io.Writer, results []Result) error {
	type line struct {
		problem, plan string
		way           Way
	}
	var lines []line
	of := map[line][]*Result{}
	for i := range results {
		r := &results[i]
		key := line{r.Problem, r.Plan, r.Way}
		key.way.Order = 0
		if of[key] == nil {
			lines = append(lines, key)
		}
		of[key] = append(of[key], r)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROBLEM\tPODS\tPLAN\tNODES JOIN\tPLANNED\tGAP\tESTIMATED\tBILL\tOVER BOUND\tWORST\tELSEWHERE\tROUNDS\tEXTRA\tPENDING")
	for _, key := range lines {
		rs := of[key]
		n := float64(len(rs))
		var realised, over, worst, elsewhere, rounds, later, waiting float64
		for _, r := range rs {
			realised += r.Realised.USD() / n
			over += r.Over() / n
			worst = max(worst, r.Over())
			elsewhere += float64(r.Elsewhere) / n
			rounds += float64(r.Rounds) / n
			later += float64(r.Later) / n
			waiting += float64(r.Waiting) / n
		}
		expected := ""
		if e := rs[0].Expected; e > 0 {
			expected = fmt.Sprintf("%.4g", e.USD())
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.4g\t%.2f%%\t%s\t%.4g\t%.3f\t%.3f\t%.0f\t%.1f\t%.1f\t%.0f\n", key.problem, rs[0].Pods, key.plan, key.way.describe(),
			rs[0].Planned.USD(), 100*rs[0].Gap(), expected, realised, over, worst, elsewhere, rounds, later, waiting)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// StepsResult is how the steps of one plan ended in one order.
type StepsResult struct {
	// Cluster names the cluster, Plan is the placement that was planned for.
	Cluster string `json:"cluster"`
	Plan    string `json:"plan"`
	Order   uint64 `json:"order"`
	StepsOutcome
}

// StepsTable writes results for people: a line for each cluster and plan, over all orders, and where there are several
// clusters, one for all of them.
func StepsTable(out io.Writer, results []StepsResult) error {
	type line struct{ cluster, plan string }
	const all = "all"
	var lines, sums []line
	of, clusters := map[line][]*StepsResult{}, map[line]int{}
	note := func(key line, r *StepsResult, to *[]line) {
		if of[key] == nil {
			*to = append(*to, key)
		}
		of[key] = append(of[key], r)
	}
	for i := range results {
		r := &results[i]
		key := line{r.Cluster, r.Plan}
		if of[key] == nil {
			clusters[key], clusters[line{all, r.Plan}] = 1, clusters[line{all, r.Plan}]+1
		}
		note(key, r, &lines)
		note(line{all, r.Plan}, r, &sums)
	}
	if len(lines) > len(sums) {
		lines = append(lines, sums...)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLUSTER\tNODES\tPODS\tPLAN\tBEFORE\tPLANNED\tESTIMATED\tBILL\tOVER\tWORST\tMOVED\tELSEWHERE\tWAITED\tEXTRA\tPENDING")
	for _, key := range lines {
		var sum StepsOutcome
		var worst float64
		rs := of[key]
		for _, r := range rs {
			sum.add(&r.StepsOutcome)
			worst = max(worst, r.Over())
		}
		mean := func(n float64) float64 { return n * float64(clusters[key]) / float64(len(rs)) }
		expected := ""
		if sum.Expected > 0 {
			expected = fmt.Sprintf("%.4g", mean(sum.Expected.USD()))
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%s\t%.4g\t%.4g\t%s\t%.4g\t%+.2f%%\t%+.2f%%\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\n", key.cluster, mean(float64(sum.Nodes)), mean(float64(sum.Pods)), key.plan,
			mean(sum.Before.USD()), mean(sum.Planned.USD()), expected, mean(sum.Realised.USD()), 100*(sum.Over()-1), 100*(worst-1),
			mean(float64(sum.Moved)), mean(float64(sum.Elsewhere)), mean(float64(sum.Waited)), mean(float64(sum.Later)), mean(float64(sum.Waiting)))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// describe says how machines join.
func (w Way) describe() string {
	s := "at once"
	if w.Batches > 1 {
		s = fmt.Sprintf("in %d batches", w.Batches)
	}
	switch w.Nominated {
	case All:
		s += ", nominated"
	case InTurn:
		s += ", nominated in turn"
	}
	return s
}
