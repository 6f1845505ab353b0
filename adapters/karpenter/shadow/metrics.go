package shadow

import (
	"io"
	"strconv"

	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
)

// WriteMetrics writes the sums in the text format of OpenMetrics, as plimsoll_shadow_*. They begin anew when the process
// does.
func (s *Shadow) WriteMetrics(w io.Writer) error {
	const prefix, dollars, perHour, perMonth = "plimsoll_shadow_", "dollars", "dollars_per_hour", "dollars_per_month"
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	decisions := &openmetrics.Family{Name: prefix + "decisions", Type: openmetrics.Counter, Help: "Decisions of Karpenter by their cause, and by whether they are compared.", Labels: []string{"cause", "outcome"}}
	for _, cause := range sortedKeys(l.counts) {
		for _, o := range outcomes() {
			decisions.Add(strconv.Itoa(l.counts[cause][o]), string(cause), string(o))
		}
	}
	unsettled := &openmetrics.Family{Name: prefix + "unsettled_decisions", Help: "Decisions whose nodes have not registered, whose nodes are not removed, or that are not planned yet."}
	unsettled.Add(strconv.Itoa(l.unsettled))
	byPool := []string{"cause", "nodepool"}
	bySide := []string{"by", "cause", "nodepool"}
	launched := &openmetrics.Family{Name: prefix + "launched_" + perHour, Type: openmetrics.Counter, Unit: perHour, Help: "Prices of the nodes that compared decisions launch, by Karpenter and by Plimsoll.", Labels: bySide}
	removed := &openmetrics.Family{Name: prefix + "removed_" + perHour, Type: openmetrics.Counter, Unit: perHour, Help: "Prices of the nodes that compared decisions remove, by Karpenter and by Plimsoll.", Labels: bySide}
	rate := &openmetrics.Family{Name: prefix + "saved_" + perMonth, Unit: perMonth, Help: "How much less the nodes of compared decisions that still run would cost with Plimsoll's decisions; below 0 if they would cost more.", Labels: byPool}
	saved := &openmetrics.Family{Name: prefix + "saved_" + dollars, Type: openmetrics.Counter, Unit: dollars, Help: "Saving with Plimsoll's decisions over the time when they cost less.", Labels: byPool}
	lost := &openmetrics.Family{Name: prefix + "lost_" + dollars, Type: openmetrics.Counter, Unit: dollars, Help: "Loss with Plimsoll's decisions over the time when they cost more.", Labels: byPool}
	for _, k := range l.sortedTotals() {
		t, cause := l.totals[k], string(k.Cause)
		for _, side := range []struct {
			by string
			of Amounts
		}{{"karpenter", t.Karpenter}, {"plimsoll", t.Plimsoll}} {
			launched.Add(side.of.Launched.String(), side.by, cause, k.NodePool)
			removed.Add(side.of.Removed.String(), side.by, cause, k.NodePool)
		}
		rate.Add(openmetrics.Float(t.SavedPerMonth()), cause, k.NodePool)
		saved.Add(openmetrics.Float(t.Saved), cause, k.NodePool)
		lost.Add(openmetrics.Float(t.Lost), cause, k.NodePool)
	}
	cluster := &openmetrics.Family{Name: prefix + "cluster_" + perHour, Unit: perHour, Help: "Price of the nodes of NodePools: now, after Plimsoll's consolidation, and a proven lower bound while nodes that may not be removed stay.", Labels: []string{"state"}}
	at := &openmetrics.Family{Name: prefix + "cluster_timestamp_seconds", Unit: "seconds", Help: "Time of the last plan for the whole cluster."}
	if !l.standing.At.IsZero() {
		cluster.Add(l.standing.Now.String(), "now")
		cluster.Add(l.standing.Consolidated.String(), "consolidated")
		if l.standing.LowerBound > 0 {
			cluster.Add(l.standing.LowerBound.String(), "lower_bound")
		}
		at.Add(strconv.FormatInt(l.standing.At.Unix(), 10))
	}
	rejected := &openmetrics.Family{Name: prefix + "rejected_objects", Type: openmetrics.Counter, Help: "Objects that were left out because they are malformed."}
	rejected.Add(strconv.Itoa(l.rejected))
	took := &openmetrics.Family{Name: prefix + "plan_duration_seconds", Type: openmetrics.Histogram, Unit: "seconds", Help: "Time of Plimsoll's plans, by the cause of the decision, or for the whole cluster.", Labels: []string{"for"}}
	for _, of := range sortedKeys(l.duration) {
		took.AddBuckets(l.duration[of], of)
	}
	return openmetrics.Write(w, []*openmetrics.Family{decisions, unsettled, launched, removed, rate, saved, lost, cluster, at, rejected, took})
}
