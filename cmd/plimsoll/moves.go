package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// moves writes a consolidation plan for people: what it comes to, the steps in their
// order, where it stops paying, and why the other nodes stay.
type moves struct {
	table

	plan *disruption.Plan
}

// writeMoves writes a consolidation plan for people.
func writeMoves(w io.Writer, v view, p *problem, plan *disruption.Plan) error {
	m := &moves{table: table{problem: p, view: v, plan: &scheduling.Plan{Warnings: plan.Warnings}}, plan: plan}
	m.headline()
	m.kept()
	m.bill()
	m.steps()
	m.drifted()
	m.risks()
	m.frontier()
	m.staying()
	m.warnings()
	_, err := w.Write(m.out.Bytes())
	return err
}

// headline says what the cluster costs, what it will cost, and what it could.
func (m *moves) headline() {
	s := &m.plan.Summary
	if len(m.plan.Nodes) == 0 {
		m.line("There is nothing to consolidate: the input has no nodes.")
		return
	}
	before, after := m.costs()
	rows := [][]string{{"", "$/MONTH", "$/HOUR", "NODES"}}
	row := func(what string, price offerings.Price, nodes string) {
		rows = append(rows, []string{what, plainMonthly(price), plain(price), nodes})
	}
	row("now", before, strconv.Itoa(s.NodesBefore))
	if len(m.plan.Steps) > 0 {
		row("after these steps", after, strconv.Itoa(s.NodesAfter))
	}
	if s.LowerBoundPerHour > 0 {
		row("least by any steps", s.LowerBoundPerHour, "")
	}
	if r := s.Rebuilt; r != nil {
		anew := "built anew"
		if m.grouped {
			anew += ", of the groups' own types"
		}
		row(anew, cmp.Or(r.ExpectedPerHour, r.PricePerHour), strconv.Itoa(r.Nodes))
	}
	if r := s.Alternative; r != nil {
		row("built anew, of any current type", cmp.Or(r.ExpectedPerHour, r.PricePerHour), strconv.Itoa(r.Nodes))
	}
	m.headed(rows)
	m.line("")
	if len(m.plan.Steps) == 0 {
		m.line("Nothing is to be done.")
	} else {
		m.line("%s to %s: %s.", steps(len(m.plan.Steps)), count(s.NodesAfter, "node"), m.saved())
		m.line("%s, %s launched.", moved(s.PodsMoved), machines(s.Launches))
	}
	m.line("%s", m.rest())
	m.notes()
}

// costs are what the cluster costs before and after the steps, all in all.
func (m *moves) costs() (before, after offerings.Price) {
	s := &m.plan.Summary
	return cmp.Or(s.ExpectedPerHourBefore, s.PricePerHourBefore), cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter)
}

// notes say what the prices are of.
func (m *moves) notes() {
	s := &m.plan.Summary
	if s.ExpectedPerHourBefore > 0 {
		m.line("Prices are with %s:", beside(s.NodeOverheadPerHour, s.NodesBefore, s.ExpectedPerHourBefore-s.PricePerHourBefore))
		m.line("the machines alone cost %s per hour now, and %s afterwards.", usd(s.PricePerHourBefore), usd(s.PricePerHourAfter))
	}
	if others := len(m.plan.Nodes) - s.NodesBefore - s.UnpricedNodes; others > 0 {
		m.line("%s left out that no NodePool owns.", areNodes(others))
	}
	if s.UnpricedNodes > 0 {
		m.line("%s left out of the prices: what they cost is not known.", areNodes(s.UnpricedNodes))
	}
	if r := s.Rebuilt; r != nil && len(r.LeftOut) > 0 {
		m.line("Built anew, the cluster has no place for %s: %s.", count(len(r.LeftOut), "pod"), names(r.LeftOut, 3))
	}
	m.line("%s", m.madeWith())
}

// saved says what all steps save.
func (m *moves) saved() string {
	before, after := m.costs()
	saving := before - after
	switch {
	case saving == 0:
		return "that saves nothing"
	case saving < 0:
		return fmt.Sprintf("that costs %s per hour, %s per month more", usd(-saving), monthly(-saving))
	}
	return fmt.Sprintf("that saves %s per hour, %s per month (%s)", usd(saving), monthly(saving), percent(saving.USD()/before.USD()))
}

// rest says how much there is left to save at most.
func (m *moves) rest() string {
	s := &m.plan.Summary
	_, after := m.costs()
	var text string
	switch {
	case s.LowerBoundPerHour <= 0:
		text = "How much cheaper a cluster could hold the same pods is not known."
	case after <= s.LowerBoundPerHour:
		text = "No cluster is cheaper that holds the same pods and keeps the nodes that may not go."
	default:
		text = fmt.Sprintf("That is %s above what the same pods cost at least, with the nodes that may not go.", above(s.Gap))
	}
	if s.Status == scheduling.StatusDeadline {
		text += fmt.Sprintf(" The search was stopped by %s; there may be further steps.", m.stopped)
	}
	return text
}

// steps lists what is to be done, in its order.
func (m *moves) steps() {
	if len(m.plan.Steps) == 0 {
		return
	}
	m.section("STEPS")
	rows := [][]string{{"", "REASON", "NODES", "LAUNCHES", "PODS", "SAVES $/HOUR", "$/MONTH", "DISRUPTION", "SCORE"}}
	for i := range m.plan.Steps {
		s := &m.plan.Steps[i]
		score := "-"
		if s.Score != 0 {
			score = decimal(s.Score)
		}
		rows = append(rows, []string{
			strconv.Itoa(i + 1), string(s.Reason), names(s.Drain, m.most(3)), m.launches(s.Launches), pods(s.Evictions),
			plain(s.SavingPerHour), plainMonthly(s.SavingPerHour), decimal(s.DisruptionCost), score,
		})
	}
	m.headed(rows, "SCORE", "DISRUPTION", "SAVES $/HOUR")
}

// launches writes what a step buys: the same machines together.
func (m *moves) launches(list []scheduling.Launch) string {
	if len(list) == 0 {
		return "-"
	}
	counts := map[string]int{}
	for i := range list {
		counts[offeringText(&list[i].Options[0])]++
	}
	return summarise(counts, m.most(3))
}

// pods writes how many pods a step evicts, and in how many waves.
func pods(list []disruption.Eviction) string {
	waves := 0
	for i := range list {
		waves = max(waves, list[i].Wave)
	}
	if waves > 1 {
		return fmt.Sprintf("%d in %d waves", len(list), waves)
	}
	return strconv.Itoa(len(list))
}

// frontier says where it stops paying: what the steps have saved, and moved for it.
func (m *moves) frontier() {
	points := m.plan.Summary.Frontier
	if len(points) < 2 {
		return
	}
	total := points[len(points)-1].SavingPerHour
	m.section("WHERE IT STOPS PAYING")
	rows := [][]string{{"STEPS", "SAVED $/HOUR", "OF ALL", "PODS MOVED", "DISRUPTION", "THESE STEPS: $/MONTH PER POD"}}
	last := disruption.Point{}
	for _, p := range thinned(points) {
		share := "-"
		if total > 0 {
			share = percent(p.SavingPerHour.USD() / total.USD())
		}
		each := "no pod moved"
		if n := p.PodsMoved - last.PodsMoved; n > 0 {
			each = decimal((p.SavingPerHour - last.SavingPerHour).USD() * hoursPerMonth / float64(n))
		}
		rows = append(rows, []string{strconv.Itoa(p.Steps), plain(p.SavingPerHour), share, strconv.Itoa(p.PodsMoved), decimal(p.DisruptionCost), each})
		last = p
	}
	m.headed(rows, "DISRUPTION", "SAVED $/HOUR")
}

// thinned picks points for people: all of them, or where there are many about ten, of
// which each saves another tenth, and the last.
func thinned(points []disruption.Point) []disruption.Point {
	const most = 10
	if len(points) <= most+2 {
		return points
	}
	total := points[len(points)-1].SavingPerHour
	var out []disruption.Point
	next := offerings.Price(0)
	for i, p := range points {
		if i == len(points)-1 || i == 0 || p.SavingPerHour >= next {
			out = append(out, p)
			next = max(next, p.SavingPerHour) + total/most
		}
	}
	return out
}

// printMoves writes a consolidation plan in a format.
func (a *app) printMoves(format string, p *problem, plan *disruption.Plan) error {
	if format == "table" {
		var b bytes.Buffer
		if err := writeMoves(&b, a.view, p, plan); err != nil {
			return err
		}
		_, err := b.WriteTo(&a.stdout)
		return err
	}
	return a.encode(format, "plan", plan)
}

// names writes names, and how many more there are.
func names(list []string, most int) string {
	switch {
	case len(list) == 0:
		return "-"
	case len(list) > most+1:
		return join(append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most)))
	}
	return join(list)
}

// steps says how many steps lead somewhere.
func steps(n int) string {
	if n == 1 {
		return "1 step leads"
	}
	return count(n, "step") + " lead"
}

// moved says how many pods move.
func moved(n int) string {
	switch n {
	case 0:
		return "No pod moves"
	case 1:
		return "1 pod moves"
	}
	return count(n, "pod") + " move"
}

// machines says how many machines are bought.
func machines(n int) string {
	if n == 1 {
		return "1 machine is"
	}
	if n == 0 {
		return "no machine is"
	}
	return count(n, "machine") + " are"
}

// areNodes says that there are nodes of some kind.
func areNodes(n int) string {
	if n == 1 {
		return "1 node is"
	}
	return count(n, "node") + " are"
}

// signed writes a price that may be below 0.
func signed(p offerings.Price) string {
	if p < 0 {
		return "-" + usd(-p)
	}
	return usd(p)
}

// plainMonthly writes what a price that may be below 0 comes to in a month, without its sign
// of currency.
func plainMonthly(p offerings.Price) string {
	if p < 0 {
		return "-" + plainMonthly(-p)
	}
	return strings.TrimPrefix(monthly(p), "$")
}

// plain writes a price without its sign of currency.
func plain(p offerings.Price) string { return strings.Replace(signed(p), "$", "", 1) }

// decimal writes a number with two decimals at most.
func decimal(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
