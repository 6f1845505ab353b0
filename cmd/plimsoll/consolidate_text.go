package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/bills"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/report"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/steps"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// moves writes a consolidation plan as text: its totals, the steps in their
// order, where it stops paying, and why the other nodes stay.
type moves struct {
	to   *table
	p    *problem
	plan *disruption.ConsolidationPlan
}

// printMoves writes a consolidation plan in a format.
func printMoves(a *app, format string, p *problem, plan *disruption.ConsolidationPlan) error {
	if format == "table" {
		writeMoves(&a.stdout, a.view, p, plan)
		return nil
	}
	plan.Warnings = p.warnOfOldPrices(plan.Warnings)
	return a.encode(format, "plan", plan)
}

// writeMoves writes a consolidation plan for people.
func writeMoves(w *bytes.Buffer, v view, p *problem, plan *disruption.ConsolidationPlan) {
	m := &moves{to: &table{view: v, out: w}, p: p, plan: plan}
	m.to.oldPrices(p.today, p.Problem.Catalog.Origin())
	m.headline()
	m.steps()
	m.risks()
	m.to.bill(plan.Bill)
	m.blocked()
	if v.details {
		m.rebuilt()
		m.bill()
		m.drifted()
		m.frontier()
		m.staying()
	}
	writeWarnings(m.to, plan.Warnings)
	if !v.details && len(plan.Nodes) > 0 {
		m.to.line("\n--details adds cost by %s, the rebuilt cluster, diminishing returns\nand the nodes that are not removed.", lo.Ternary(p.grouped, "node group", "NodePool"))
	}
}

// headline states the cost of the cluster today, after the steps, and at least.
func (m *moves) headline() {
	s := &m.plan.Summary
	if len(m.plan.Nodes) == 0 {
		m.to.line("Nothing to consolidate: the input has no nodes%s.", m.p.readInstead(true, "no node"))
		return
	}
	m.to.line("%s\n", m.basis())
	before, after := totals(&m.plan.Summary)
	rows := [][]string{{"", "$/MONTH", "$/HOUR", "NODES"}}
	row := func(what string, price offerings.Price, nodes string) {
		rows = append(rows, []string{what, figures.PlainMonthly(price), figures.Plain(price), nodes})
	}
	row("now", before, strconv.Itoa(s.NodesBefore))
	if len(m.plan.Steps) > 0 {
		row("after these steps", after, strconv.Itoa(s.NodesAfter))
		if r := s.AfterScheduling; r != nil && expected(r) != after {
			row("expected after scheduling", expected(r), strconv.Itoa(s.NodesAfter+r.Launches))
		}
	}
	if s.LowerBoundPerHour > 0 {
		row("lower bound"+lo.Ternary(steps.Blocked(m.plan) > 0, " while blocked nodes stay", ""), s.LowerBoundPerHour, "")
	}
	if r := s.Rebuilt; r != nil {
		row("rebuilt from scratch, "+lo.Ternary(m.p.grouped, "of the groups' own types", "if every pod could move"), cmp.Or(r.ExpectedPerHour, r.PricePerHour), strconv.Itoa(r.Nodes))
	}
	if r := s.Alternative; r != nil {
		row("rebuilt from scratch, of any current type", cmp.Or(r.ExpectedPerHour, r.PricePerHour), strconv.Itoa(r.Nodes))
	}
	m.to.headed(rows)
	m.to.line("")
	if len(m.plan.Steps) == 0 {
		m.to.line("%s", m.nothing())
	} else {
		saved, planned := m.saved(after, ""), ""
		if r := s.AfterScheduling; r != nil && expected(r) != after {
			saved, planned = m.saved(expected(r), "about "), saved
		}
		if m.committed() {
			saved, planned = "", "" // the change of the bill follows
		} else {
			saved = ", " + saved
		}
		m.to.line("%s: %d → %s%s.", figures.Count(len(m.plan.Steps), "step"), s.NodesBefore, figures.Count(s.NodesAfter, "node"), saved)
		if planned != "" {
			m.to.line("If every pod is scheduled as planned: %s.", planned)
		}
		m.to.line("%s rescheduled, %s launched.", figures.Count(s.PodsMoved, "pod"), figures.Count(s.Launches, "node"))
	}
	m.to.spotShares(s.SpotShares)
	m.to.priceLimits(m.p, lo.FlatMap(m.plan.Steps, func(s disruption.Step, _ int) []scheduling.Launch { return s.Launches }),
		lo.FlatMap(m.plan.Steps, func(s disruption.Step, _ int) []string { return s.Drain }))
	m.to.line("%s", m.rest())
	m.to.underBill(m.plan.Bill)
	m.pending()
	m.room()
	m.notes()
	m.to.line("%s", m.p.madeWith())
}

// basis states which nodes all prices are of.
func (m *moves) basis() string {
	s := &m.plan.Summary
	text := "Prices are of all nodes"
	if others := len(m.plan.Nodes) - s.NodesBefore - s.UnpricedNodes; others > 0 {
		text = fmt.Sprintf("Prices are of the nodes of %s (%s not counted)", lo.Ternary(m.p.grouped, "node groups", "NodePools"), figures.CountVerb(others, "other", "is", "are"))
	}
	if s.ExpectedPerHourBefore > 0 {
		text += ", including " + beside(s.NodeOverheadPerHour, s.NodesBefore, s.ExpectedPerHourBefore-s.PricePerHourBefore)
	}
	if s.UnpricedNodes > 0 {
		text += fmt.Sprintf(", but for %s of unknown price", figures.Count(s.UnpricedNodes, "node"))
	}
	return text + "."
}

// totals are the costs of the whole cluster before and after the steps.
func totals(s *disruption.ConsolidationSummary) (before, after offerings.Price) {
	return cmp.Or(s.ExpectedPerHourBefore, s.PricePerHourBefore), cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter)
}

// expected is the price per hour after the steps, all in all, as kube-scheduler is expected to bind the pods.
func expected(r *disruption.StepsAfterScheduling) offerings.Price {
	return cmp.Or(r.ExpectedPerHourAfter, r.PricePerHourAfter)
}

// pending tells of the pods that have no node yet.
func (m *moves) pending() {
	p := m.plan.Pending
	if p == nil {
		return
	}
	var parts []string
	if p.Existing > 0 {
		parts = append(parts, figures.CountVerb(p.Existing, "pod", "fits", "fit")+" on existing nodes")
	}
	if p.Launched > 0 {
		parts = append(parts, fmt.Sprintf("%s %s, which %s not part of these prices", figures.CountVerb(p.Launched, "pod", "needs", "need"), figures.Count(p.Launches, "new node"), lo.Ternary(p.Launches == 1, "is", "are")))
	}
	if p.Gated > 0 {
		parts = append(parts, figures.CountVerb(p.Gated, "pod", "is", "are")+" held by scheduling gates")
	}
	if n := len(p.Unschedulable); n > 0 {
		parts = append(parts, fmt.Sprintf("%s nowhere ('plimsoll plan' says why): %s", figures.CountVerb(n, "pod", "fits", "fit"), figures.Names(p.Unschedulable, m.to.view.most(3))))
	}
	m.to.line("%s pending: %s.", figures.Are(p.Pods, "pod"), strings.Join(parts, "; "))
}

// room tells how many virtual pods have room before and after the steps.
func (m *moves) room() {
	p := m.plan.RoomPending
	if p == nil {
		return
	}
	text := fmt.Sprintf("Room kept free: %d of %s, after each step, too", p.Existing, figures.Count(p.Pods, "virtual pod"))
	if p.Launched > 0 {
		text += fmt.Sprintf("; %s %s", figures.CountVerb(p.Launched, "virtual pod", "needs", "need"), figures.Count(p.Launches, "new node"))
	}
	if n := len(p.Unschedulable); n > 0 {
		text += fmt.Sprintf("; %s nowhere ('plimsoll plan' has the reason and a fix): %s", figures.CountVerb(n, "virtual pod", "fits", "fit"), figures.Names(p.Unschedulable, m.to.view.most(3)))
	}
	m.to.line("%s.", text)
	if r := m.plan.Summary.Rebuilt; r != nil && r.RoomPerHour != nil {
		m.to.line("In the cluster rebuilt from scratch this room costs %s per hour, %s per month.", figures.USD(*r.RoomPerHour), figures.Monthly(*r.RoomPerHour))
	}
}

// notes say where pods may be otherwise than the prices assume.
func (m *moves) notes() {
	s := &m.plan.Summary
	if r := s.AfterScheduling; r != nil && r.PodsElsewhere > 0 && len(m.plan.Steps) > 0 {
		_, after := totals(s)
		m.to.line("kube-scheduler may schedule up to %s to other nodes than shown%s.", figures.Count(r.PodsElsewhere, "pod"), lo.Ternary(expected(r) == after, ";\nthe expected price is the same", ""))
	}
	if r := s.Rebuilt; r != nil && (steps.Blocked(m.plan) > 0 || cmp.Or(r.ExpectedPerHour, r.PricePerHour) > s.LowerBoundPerHour) {
		m.to.line("Rebuilt from scratch is the best cluster found; a cheaper one may exist.")
	}
	leftOut := func(r *disruption.Rebuilt, of string) {
		if r != nil && len(r.LeftOut) > 0 {
			m.to.line("The cluster rebuilt from scratch%s has no node for %s: %s.", of, figures.Count(len(r.LeftOut), "pod"), figures.Names(r.LeftOut, 3))
		}
	}
	leftOut(s.Rebuilt, "")
	leftOut(s.Alternative, ", of any current type,")
}

// saved states the saving of all steps if they lead to a price, with a word before the amount if it is an estimate.
func (m *moves) saved(after offerings.Price, about string) string {
	before, _ := totals(&m.plan.Summary)
	saving := before - after
	switch {
	case saving == 0:
		return "saving nothing"
	case saving < 0:
		return fmt.Sprintf("costing %s%s per hour, %s per month more", about, figures.USD(-saving), figures.Monthly(-saving))
	}
	return fmt.Sprintf("saving %s%s per hour, %s per month (%s)", about, figures.USD(saving), figures.Monthly(saving), figures.Percent(saving.USD()/before.USD()))
}

// rest says how much there is left to save at most.
func (m *moves) rest() string {
	s := &m.plan.Summary
	_, after := totals(&m.plan.Summary)
	stay := ""
	if n := steps.Blocked(m.plan); n > 0 {
		stay = fmt.Sprintf(" while %s", figures.CountVerb(n, "blocked node", "stays", "stay"))
	}
	var text string
	switch {
	case figures.Nothing(s.LowerBoundPerHour):
		text = "No lower bound on the price is known."
	case after <= s.LowerBoundPerHour:
		text = lo.Ternary(len(m.plan.Steps) > 0, "No other steps lead", "No steps lead") + " to a lower price" + stay + "."
	default:
		text = fmt.Sprintf("Other steps can save at most %s per month more%s.", figures.Monthly(after-s.LowerBoundPerHour), stay)
	}
	if s.Status == scheduling.StatusDeadline {
		text += fmt.Sprintf(" The search was stopped by %s; a longer search may find further steps.", m.to.view.stopped)
	}
	return text
}

// committed reports whether there are commitments, so that savings are those of the bill.
func (m *moves) committed() bool {
	return m.plan.Bill != nil && len(bills.Uses(&m.plan.Bill.After)) > 0 && len(m.plan.Bill.Steps) == len(m.plan.Steps)
}

// steps lists the steps in their order.
func (m *moves) steps() {
	saves := func(i int) offerings.Price { return m.plan.Steps[i].SavingPerHour }
	if m.committed() {
		saves = func(i int) offerings.Price { return m.plan.Bill.Steps[i] }
	}
	head := []string{"", "REASON", "NODES", "LAUNCHES", "PODS MOVED", "SAVES $/HOUR", "$/MONTH", "DISRUPTION", "SCORE"}
	left := tabulate(m.to, "STEPS", head, m.plan.Steps, func(s disruption.Step, i int) []string {
		pods := strconv.Itoa(s.PodsMoved())
		if waves := lo.Max(lo.Map(s.Evictions, func(e disruption.Eviction, _ int) int { return e.Wave })); waves > 1 {
			pods += fmt.Sprintf(" in %d waves", waves)
		}
		bought := lo.Map(s.Launches, func(l scheduling.Launch, _ int) scheduling.LaunchOption { return l.Options[0] })
		return []string{
			strconv.Itoa(i + 1), string(s.Reason), figures.Names(s.Drain, m.to.view.most(3)), cmp.Or(launches.Bundle(bought, m.to.view.most(3)), "-"), pods,
			figures.Plain(saves(i)), figures.PlainMonthly(saves(i)), figures.Decimal(s.DisruptionCost), lo.Ternary(s.Score == 0, "-", figures.Decimal(s.Score)),
		}
	}, "SCORE", "DISRUPTION", "SAVES $/HOUR")
	m.to.zones(m.launched())
	if len(m.plan.Steps) > 0 && m.committed() {
		m.to.line("  SAVES is by how much the bill falls with the step, below 0 by how much it rises.")
	}
	if len(m.plan.Steps) > 0 && !slices.Contains(left, "DISRUPTION") {
		m.to.line("  DISRUPTION is 1 for each node and for each evicted pod, more for pods of a high priority or deletion cost.")
	}
	if len(m.plan.Steps) > 0 && !slices.Contains(left, "SCORE") {
		m.to.line("  SCORE is the share of the price that a step saves, divided by its share of the disruption.")
	}
	if n := len(m.plan.Cordon); n > 0 {
		m.to.line("  Cordon %s before step 1, so that evicted pods are not scheduled", figures.Count(n, "node"))
		m.to.line("  to nodes that will be removed:")
		m.to.line("    kubectl cordon %s", m.to.wrapped(m.plan.Cordon, "      ", len("    kubectl cordon ")))
		m.to.line("  To stop earlier, uncordon the nodes of the steps that are not done.")
	}
	if len(m.plan.Steps) > 0 {
		m.to.line("  plimsoll report -o report.html has a runbook of the steps: how to pause\n  consolidation, the cordon, the drains and the removal of nodes.")
	}
}

// launched returns the first option of each launch of the steps.
func (m *moves) launched() []scheduling.LaunchOption {
	return lo.FlatMap(m.plan.Steps, func(s disruption.Step, _ int) []scheduling.LaunchOption {
		return lo.Map(s.Launches, func(l scheduling.Launch, _ int) scheduling.LaunchOption { return l.Options[0] })
	})
}

// nothing states that there are no steps, with the cause of the most expensive nodes.
func (m *moves) nothing() string {
	groups := steps.Stays(m.plan, m.price)
	if len(groups) == 0 {
		return "Nothing to consolidate now."
	}
	g := groups[0]
	return fmt.Sprintf("Nothing to consolidate now: %s (%d of %s).", report.Meaning(g.Code), len(g.Nodes), figures.Count(len(m.plan.Nodes), "node"))
}

// frontier lists the diminishing returns of steps: the saving so far, and the pods moved for it.
func (m *moves) frontier() {
	points := m.plan.Summary.Frontier
	if len(points) < 2 {
		return
	}
	total := points[len(points)-1].SavingPerHour
	last := disruption.Point{}
	head := []string{"STEPS", "SAVED $/HOUR", "SHARE", "PODS MOVED", "DISRUPTION", "$/MONTH PER POD MOVED"}
	tabulate(m.to, "DIMINISHING RETURNS", head, steps.Thinned(points), func(p disruption.Point, _ int) []string {
		share, each := "-", "no pods moved"
		if total > 0 {
			share = figures.Percent(p.SavingPerHour.USD() / total.USD())
		}
		if n := p.PodsMoved - last.PodsMoved; n > 0 {
			each = figures.Decimal((p.SavingPerHour - last.SavingPerHour).USD() * offerings.HoursPerMonth / float64(n))
		}
		last = p
		return []string{strconv.Itoa(p.Steps), figures.Plain(p.SavingPerHour), share, strconv.Itoa(p.PodsMoved), figures.Decimal(p.DisruptionCost), each}
	}, "DISRUPTION", "SAVED $/HOUR")
}

// drifted lists the fields in which drifted nodes differ from their NodePool.
func (m *moves) drifted() {
	nodes := map[string][]string{}
	for i := range m.plan.Nodes {
		if v := &m.plan.Nodes[i]; v.Step > 0 && m.plan.Steps[v.Step-1].Reason == disruption.Drifted {
			nodes[v.Drift] = append(nodes[v.Drift], v.Node)
		}
	}
	if len(nodes) == 0 {
		return
	}
	m.to.section("DRIFTED NODES")
	for _, drift := range slices.Sorted(maps.Keys(nodes)) {
		m.to.line("  %s: %s", figures.Names(nodes[drift], m.to.view.most(3)), drift)
	}
}

// risks lists the risks to check before the steps are carried out.
func (m *moves) risks() {
	var rows [][]string
	for _, r := range report.Risks(m.plan) {
		numbers := lo.Map(r.Steps, func(n, _ int) string { return strconv.Itoa(n) })
		rows = append(rows, []string{figures.Names(numbers, m.to.view.most(3)), string(r.Code), r.Meaning, figures.Names(r.Objects, m.to.view.most(1))})
	}
	if r := m.plan.Summary.AfterScheduling; r != nil && len(m.plan.Steps) > 0 {
		rows = append(rows, m.schedulingRisks(r)...)
	}
	tabulate(m.to, "RISKS", []string{"STEPS", "RISK", "MEANING", "OBJECTS"}, rows, asItIs, "RISK")
}

// schedulingRisks are the rows of risks that arise if kube-scheduler binds evicted pods to other nodes than shown.
func (m *moves) schedulingRisks(r *disruption.StepsAfterScheduling) (rows [][]string) {
	risk := func(objects, meaning string, args ...any) {
		rows = append(rows, []string{"any", "scheduling", fmt.Sprintf(meaning, args...), objects})
	}
	switch {
	case r.PodsPending > 0:
		risk("-", "%s may be pending until %s launched", figures.Count(r.PodsPending, "evicted pod"), figures.Are(r.Launches, "extra node"))
	case r.Launches > 0:
		risk("-", "%s may be launched", figures.Count(r.Launches, "extra node"))
	}
	if len(r.Pending) > 0 {
		risk(figures.Names(r.Pending, m.to.view.most(1)), "may stay pending, because other pods may be scheduled so that no node suits them")
	}
	return rows
}
