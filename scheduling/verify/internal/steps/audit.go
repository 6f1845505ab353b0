package steps

import (
	"fmt"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Audit judges one consolidation plan.
type Audit struct {
	planner disruption.Planner
	cluster disruption.Cluster
	plan    *disruption.ConsolidationPlan
	// bounds are those of the SpotPolicies of the cluster, whose pods are divided.
	bounds []snapshot.SpotBound
}

// New returns the audit of a plan that the planner has made for the cluster. It changes neither.
func New(planner disruption.Planner, cluster disruption.Cluster, plan *disruption.ConsolidationPlan) *Audit {
	cluster.Nodes = changed(lo.Compact(cluster.Nodes), markDrained, lo.FlatMap(cluster.Underway, func(s disruption.Step, _ int) []string { return s.Drain }))
	var bounds []snapshot.SpotBound
	cluster.Problem, bounds = snapshot.DividePods(cluster.Problem)
	return &Audit{planner: planner, cluster: cluster, plan: plan, bounds: bounds}
}

// Judge carries the plan out, and reports each rule that it breaks but those about the lower bound.
func (a *Audit) Judge(report *rule.Report) {
	a.judgeRoom(report)
	g := newClusterState(&a.planner, a.withRoom(), a.plan)
	start := g.totals()
	spot := newSpotCheck(g, a.bounds)
	frontier := []disruption.Point{}
	sum := disruption.Point{}
	for i := range a.plan.Steps {
		step := &a.plan.Steps[i]
		own := &rule.Report{}
		judgeStep(own, g, a.bounds, i+1, step)
		spot.afterStep(own)
		report.AddWithin(fmt.Sprintf("steps[%d]", i), own)
		sum.Steps++
		sum.SavingPerHour += step.SavingPerHour
		sum.PodsMoved += lo.CountBy(step.Evictions, func(e disruption.Eviction) bool { return !e.Virtual })
		sum.DisruptionCost += step.DisruptionCost
		frontier = append(frontier, sum)
	}
	whole := &planCheck{cluster: g, report: report, plan: a.plan}
	whole.verdicts()
	whole.pending(&a.cluster, "pending", a.plan.Pending, false)
	whole.pending(&a.cluster, "roomPending", a.plan.RoomPending, true)
	whole.summary(start, frontier)
	spot.summary(report, a.plan.Summary.SpotShares)
}

// judgeStep judges one step and carries it out.
func judgeStep(r *rule.Report, g *clusterState, bounds []snapshot.SpotBound, number int, step *disruption.Step) {
	a := &stepCheck{cluster: g, report: r, bounds: bounds, number: number, step: step, left: make(map[string][]*binding.Group)}
	a.checkStatements()
	a.checkDrained()
	a.checkEvictions()
	budgets := &budgetCheck{cluster: g, report: r, step: step, going: a.going, moves: a.moves}
	budgets.nodeBudgets()
	budgets.podBudgets()
	worth := &worthCheck{cluster: g, report: r, step: step, going: a.going, moves: a.moves}
	worth.worth()
	a.removeDrained()
	a.checkPlaces()
	waves := &waveCheck{cluster: g, report: r, going: a.going, moves: a.moves, left: a.left}
	waves.waves()
	a.complete()
}
