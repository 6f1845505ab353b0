package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// planText writes a plan of launches for people: first the totals, then the launches with their
// reasons, then the pods without a node, and warnings.
type planText struct {
	to   *table
	p    *problem
	plan *scheduling.Plan
}

// writeTable writes a plan for people.
func writeTable(w *bytes.Buffer, v view, p *problem, plan *scheduling.Plan) {
	t := &planText{to: &table{view: v, out: w}, p: p, plan: plan}
	t.to.oldPrices(p.today, p.Problem.Catalog.Origin())
	t.headline()
	groups := launches.Groups(t.plan, t.p.Problem.CatalogOf)
	t.machines(groups)
	t.reasons(groups)
	t.usage()
	t.present()
	t.to.bill(plan.Bill)
	t.refused()
	writeWarnings(t.to, plan.Warnings)
}

// headline states in two or three lines the expected cost of the plan and its distance from the lower bound.
func (t *planText) headline() {
	s := &t.plan.Summary
	gated := len(t.plan.Unschedulable) - t.p.unplaced(t.plan)
	if gated > 0 {
		defer t.to.line("%s held by scheduling gates, see below.", figures.Are(gated, "pod"))
	}
	pods, room := s.Pods-gated, lo.FromPtr(s.RoomKept)
	switch {
	case pods == 0 && room.Pods == 0:
		t.to.line("Nothing to place: the input has no pending pods%s.", t.p.readInstead(len(t.p.Problem.Running) == 0, "no pod or workload"))
		return
	case s.Placed+room.Existing+room.Launched == 0:
		t.to.line("None of %s can be placed: reasons and fixes are below.", figures.Count(pods+room.Pods, "pod"))
		return
	}
	placed := figures.Count(pods, "pod") + " placed"
	switch {
	case pods == 0:
		placed = "Room kept free"
	case s.Placed < pods:
		placed = fmt.Sprintf("%d of %s placed", s.Placed, figures.Count(pods, "pod"))
	}
	where := "on " + figures.Count(s.Nodes, "new node")
	if n := len(t.plan.Existing); n > 0 {
		where += fmt.Sprintf(" and %d existing", n)
		if s.Nodes == 0 {
			where = "on " + figures.Count(n, "existing node")
		}
	}
	if s.Nodes == 0 {
		t.to.line("%s %s: nothing to launch.", placed, where)
		t.roomKept()
		t.to.spotShares(s.SpotShares)
		return
	}
	t.to.line("%s %s: %s.", placed, where, cost(s))
	if afterScheduling(s) != objective(s) {
		t.to.line("If every pod is scheduled as shown: %s per hour, %s per month.", figures.USD(objective(s)), figures.Monthly(objective(s)))
	}
	t.to.underBill(t.plan.Bill)
	t.to.line("%s", t.bound(s))
	if s.AfterScheduling != nil {
		t.to.line("%s", t.realised(s.AfterScheduling))
	}
	t.split()
	t.roomKept()
	t.to.spotShares(s.SpotShares)
	t.to.spotPoliciesPrice(s)
	t.to.priceLimits(t.p, t.plan.Launches, nil)
	if s.ExpectedPerHour > 0 {
		t.to.line("All prices include %s; a month has %d hours.", beside(s.NodeOverheadPerHour, s.Nodes, s.ExpectedPerHour-s.PricePerHour), offerings.HoursPerMonth)
	}
	t.to.line("%s", t.p.madeWith())
}

// cost states the expected and the largest cost of the plan once kube-scheduler has bound the pods.
func cost(s *scheduling.Summary) string {
	total := afterScheduling(s)
	text := fmt.Sprintf("%s per hour, %s per month", figures.USD(total), figures.Monthly(total))
	if total != objective(s) {
		text = "about " + text + " expected after scheduling"
	}
	if s.AfterScheduling != nil && s.AfterScheduling.WorstPerHour > total {
		text += fmt.Sprintf(", %s in the worst case", figures.Monthly(s.AfterScheduling.WorstPerHour))
	}
	return text
}

// beside names the costs of nodes beside their instances.
func beside(overhead offerings.Price, nodes int, all offerings.Price) string {
	var parts []string
	if overhead > 0 {
		parts = append(parts, fmt.Sprintf("node overhead (%s/h each)", figures.USD(overhead)))
	}
	if own, ok := overhead.Times(int64(nodes)); overhead == 0 || ok && all > own {
		parts = append(parts, "the expected cost of interruptions")
	}
	return strings.Join(parts, " and ")
}

// bound says in words how good the plan is.
func (t *planText) bound(s *scheduling.Summary) string {
	var text string
	switch {
	case s.Status == scheduling.StatusOptimal || objective(s) == s.LowerBoundPerHour:
		text = "Optimal: no plan is cheaper."
	case figures.Nothing(s.LowerBoundPerHour):
		text = "No lower bound on the price is known."
	default:
		text = fmt.Sprintf("Lower bound %s per hour: this plan is within %s of optimal.", figures.USD(s.LowerBoundPerHour), figures.Within(s.Gap))
		if (provisioning.Planner{Policy: t.p.policy}).HasPreferences(t.p.Problem) {
			text += " The bound ignores preferences, so that their price is part of this."
		}
	}
	if s.Status == scheduling.StatusDeadline {
		text += fmt.Sprintf(" The search was stopped by %s; more time may find a cheaper one.", t.to.view.stopped)
	}
	return text
}

// realised says where kube-scheduler may bind pods otherwise than the plan has them.
func (t *planText) realised(r *scheduling.AfterScheduling) string {
	text := "kube-scheduler is expected to schedule every pod as shown"
	if r.PodsElsewhere > 0 {
		text = fmt.Sprintf("kube-scheduler may schedule up to %s to other nodes than shown", figures.Count(r.PodsElsewhere, "pod"))
	}
	if len(r.Pending) > 0 {
		text += fmt.Sprintf("; %s may stay pending, because other pods may be scheduled so that no node suits them", figures.Names(r.Pending, t.to.view.most(1)))
	}
	return text + "."
}

// split states the cost of the plan by capacity type, and compares it with the same nodes on demand.
func (t *planText) split() {
	s := &t.plan.Summary
	paid := map[string]offerings.Price{} // by capacity type
	for i := range t.plan.Launches {
		l := &t.plan.Launches[i]
		kind := string(l.Options[0].CapacityType)
		paid[kind] = offerings.Sum(paid[kind], t.p.expected(l.NodePool, &l.Options[0]))
	}
	if len(s.CapacityTypes) > 1 {
		var parts []string
		for _, share := range s.CapacityTypes {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", share.Name, figures.USD(paid[share.Name]), figures.Count(share.Nodes, "node")))
		}
		t.to.line("By capacity type: %s.", figures.Join(parts))
	}
	total := offerings.Price(0)
	for i := range t.plan.Launches {
		l := &t.plan.Launches[i]
		price, ok := t.onDemand(l)
		sum, fits := total.Plus(price)
		if !ok || !fits {
			return
		}
		total = sum
	}
	if total > objective(s) {
		then, now := t.datesOf()
		t.to.line("The same nodes on demand: %s per hour%s; the plan%s is %s cheaper.", figures.USD(total), then, now, figures.Percent(1-objective(s).USD()/total.USD()))
	}
}

// onDemand is the expected cost of a node of a launch's instance type on demand; not ok where the catalog has no such offering.
func (t *planText) onDemand(l *scheduling.Launch) (offerings.Price, bool) {
	price, _, ok := costs.Expected(t.p.Problem.CatalogOf(l.NodePool), t.p.policy, onDemandOf(l))
	return price, ok
}

// onDemandOf is the offering of a launch's instance on demand.
func onDemandOf(l *scheduling.Launch) offerings.Key {
	o := &l.Options[0]
	return offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: offerings.OnDemand}
}

// roomKept says how much room virtual pods keep free, and its price.
func (t *planText) roomKept() {
	room := t.plan.Summary.RoomKept
	if room == nil {
		return
	}
	kept := room.Existing + room.Launched
	if kept == 0 {
		t.to.line("No room is kept free: %s no place, see below.", figures.CountVerb(room.Pods, "virtual pod", "has", "have"))
		return
	}
	where := "on existing nodes"
	switch {
	case room.Existing == 0:
		where = "on new nodes"
	case room.Launched > 0:
		where = "on existing and new nodes"
	}
	virtual := figures.Count(room.Pods, "virtual pod")
	if kept < room.Pods {
		virtual = fmt.Sprintf("%d of %s", kept, virtual)
	}
	price := ""
	switch {
	case room.PricePerHour == nil:
	case *room.PricePerHour > 0:
		price = fmt.Sprintf(", for %s per hour, %s per month", figures.USD(*room.PricePerHour), figures.Monthly(*room.PricePerHour))
	default:
		price = ", which costs nothing more"
	}
	of := func(name corev1.ResourceName) int64 { return figures.Units(room.Requests, name) }
	t.to.line("Room kept free: %s cores and %s %s (%s)%s.", figures.Cores(of(corev1.ResourceCPU)), figures.GiB(of(corev1.ResourceMemory)), where, virtual, price)
}

// usage says where the CPU and memory that are bought go.
func (t *planText) usage() {
	var rows [][]string
	for _, u := range t.plan.Summary.Resources {
		bought := figures.GiB(u.Capacity)
		if u.Resource == string(corev1.ResourceCPU) {
			bought = figures.Cores(u.Capacity) + " cores"
		}
		if u.Resource == string(corev1.ResourceCPU) || u.Resource == string(corev1.ResourceMemory) {
			rows = append(rows, []string{u.Resource, bought, figures.Ratio(u.Pods, u.Capacity), figures.Ratio(u.Daemons, u.Capacity), figures.Ratio(u.Reserved, u.Capacity), figures.Ratio(u.Free, u.Capacity)})
		}
	}
	tabulate(t.to, "CAPACITY", []string{"", "TOTAL", "PODS", "DAEMONSETS", "RESERVED", "UNUSED"}, rows, asItIs)
}

// present lists the pods that are placed on existing nodes.
func (t *planText) present() {
	rows := lo.Map(t.plan.Existing, func(a scheduling.Assignment, _ int) []string {
		return []string{a.Node, t.p.byWorkload(a.Pods, t.to.view.most(4))}
	})
	if most := t.to.view.most(20); len(rows) > most+1 {
		rows = append(rows[:most], []string{fmt.Sprintf("and %d more", len(rows)-most), "(-o wide lists them all)"})
	}
	tabulate(t.to, "ON EXISTING NODES", []string{"NODE", "PODS"}, rows, asItIs)
}

// refused lists the pods that have no place, by workload, and the changes that would give them one.
func (t *planText) refused() {
	if len(t.plan.Unschedulable) == 0 {
		return
	}
	refusals := launches.Refusals(t.plan, t.p.Workload)
	gated := t.p.gated()
	for _, part := range []struct {
		title string
		gated bool
	}{{"NOT PLACED", false}, {"HELD BY SCHEDULING GATES", true}} {
		told := slices.DeleteFunc(slices.Clone(refusals), func(r *launches.Refusal) bool { return gated[r.First.Pod] != part.gated })
		if len(told) == 0 {
			continue
		}
		t.to.section(part.title)
		for _, r := range told {
			if lo.CountBy(told, func(o *launches.Refusal) bool { return o.Workload == r.Workload }) > 1 {
				t.to.line("  %s (%s, such as %s)", r.Workload, figures.Count(r.Pods, "pod"), r.First.Pod)
			} else {
				t.to.line("  %s (%s)", r.Workload, figures.Count(r.Pods, "pod"))
			}
			if len(r.First.Reasons) == 0 {
				t.to.line("    %s", r.First.Message)
			}
			writeReasons(t.to, "", r.First.Reasons, 5)
			for _, fix := range r.First.Fixes {
				t.to.line("    fix: %s", fix)
			}
		}
		t.to.offerings(lo.FlatMap(told, func(r *launches.Refusal, _ int) []scheduling.ReasonCount { return r.First.Reasons }))
	}
}

// gated are the pods that scheduling gates hold back.
func (p *problem) gated() map[string]bool {
	out := map[string]bool{}
	for _, pod := range p.Problem.Pods {
		if len(pod.Spec.SchedulingGates) > 0 {
			out[scheduling.PodName(pod)] = true
		}
	}
	return out
}

// unplaced is how many pods have no place that no scheduling gate holds back.
func (p *problem) unplaced(plan *scheduling.Plan) int {
	gated := p.gated()
	return lo.CountBy(plan.Unschedulable, func(u scheduling.Unschedulable) bool { return !gated[u.Pod] })
}

// datesOf states the dates of on-demand prices and of spot prices, where a sentence
// compares them and they differ.
func (t *planText) datesOf() (onDemand, spot string) {
	dates := map[offerings.CapacityType]string{}
	for _, o := range t.p.Problem.Catalog.Origin().Prices {
		dates[o.CapacityType] = max(dates[o.CapacityType], o.Date)
	}
	buys := false
	for _, share := range t.plan.Summary.CapacityTypes {
		buys = buys || share.Name == string(offerings.Spot)
	}
	onDemand, spot = dates[offerings.OnDemand], dates[offerings.Spot]
	if !buys || onDemand == spot || onDemand == "" || spot == "" {
		return "", ""
	}
	return fmt.Sprintf(" at prices as of %s", onDemand), fmt.Sprintf(", at spot prices as of %s,", spot)
}
