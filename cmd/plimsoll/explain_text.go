package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/explain"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
)

// answerText writes answers about the pods, launches and nodes of a plan for people.
type answerText struct {
	to   *table
	p    *problem
	plan *scheduling.Plan
	// reasons and options are all that were written, for notes about them at the end.
	reasons []scheduling.ReasonCount
	options []scheduling.LaunchOption
}

// answer writes one answer for people.
func (t *answerText) answer(answer any) {
	switch x := answer.(type) {
	case *explanation.PodExplanation:
		t.explainPod(x)
	case *explain.Workload:
		t.explainWorkload(x)
	case *explanation.LaunchExplanation:
		t.explainLaunch(x)
	case *explanation.NodeExplanation:
		t.explainNode(x)
	case *explain.JudgedNode:
		t.explainNode(x.NodeExplanation)
		t.verdict(x)
	}
}

// explainPod writes the placement of a pod and the reasons for it.
func (t *answerText) explainPod(x *explanation.PodExplanation) {
	switch x.Status {
	case explanation.PodLaunch:
		t.to.line("Pod %s is placed on new node %s: %s at %s.", x.Pod, x.Place, t.offering(x.Option), t.price(t.poolOf(x.Place), x.Option))
	case explanation.PodExisting:
		t.to.line("Pod %s is placed on existing node %s.", x.Pod, x.Place)
	case explanation.PodUnschedulable:
		t.to.line("Pod %s is pending: it fits on no node.", x.Pod)
	case explanation.PodRunning:
		t.to.line("Pod %s runs on node %s.", x.Pod, x.Place)
	default:
		t.to.line("Pod %s is not planned: it has ended, is being deleted, or belongs to a DaemonSet.", x.Pod)
	}
	asks := "It requests " + figures.Requests(x.Requests)
	if x.Priority != 0 {
		asks += fmt.Sprintf(", with priority %d", x.Priority)
	}
	t.to.line("%s.", asks)
	t.topologyTerms(x.TopologyTerms)
	tabulate(t.to, "ALTERNATIVES, WITH ALL OTHER PODS AS PLANNED", nil, x.Next, func(p explanation.Place, _ int) []string {
		switch {
		case p.Node != "":
			return []string{"node " + p.Node, "has room"}
		case p.Launch != "":
			return []string{"launch " + p.Launch, "has room"}
		}
		return []string{"a node of its own", fmt.Sprintf("%s at %s per hour (%s)", t.offering(p.Option), figures.USD(t.p.expected(p.NodePool, p.Option)), t.p.groups().Title(p.NodePool))}
	})
	t.binding(x)
	title := "RULED OUT, WITH ALL OTHER PODS AS PLANNED"
	if x.Status == explanation.PodUnschedulable {
		title = "WHY"
	}
	writeReasons(t.to, title, t.said(x.RuledOut), 12)
	tabulate(t.to, "HOW TO FIX", nil, x.Changes, func(c scheduling.Change, _ int) []string { return []string{c.Text} })
}

// change is the row of a change that is not part of the plan, because [pools.Groups.SayPlan] writes the plan's own changes in the
// words of node groups.
func (t *answerText) change(c scheduling.Change, _ int) []string {
	t.p.groups().SayChange(&c)
	return []string{c.Text}
}

// offering names an option.
func (t *answerText) offering(o *scheduling.LaunchOption) string {
	t.options = append(t.options, *o)
	return launches.Offering(o)
}

// said are reasons in the words of node groups, where NodePools stand for these.
func (t *answerText) said(reasons []scheduling.ReasonCount) []scheduling.ReasonCount {
	t.reasons = append(t.reasons, reasons...)
	return lo.Map(reasons, func(r scheduling.ReasonCount, _ int) scheduling.ReasonCount {
		r.Detail = t.p.groups().Say(r.Detail)
		return r
	})
}

// price writes the expected cost of a node of an option, and the price of its instance alone where they differ.
func (t *answerText) price(pool string, o *scheduling.LaunchOption) string {
	all := t.p.expected(pool, o)
	if all == o.Price {
		return figures.USD(all) + " per hour"
	}
	return fmt.Sprintf("%s per hour (instance alone %s)", figures.USD(all), figures.USD(o.Price))
}

// poolOf is the NodePool of a launch of the plan.
func (t *answerText) poolOf(launch string) string {
	l, _ := lo.Find(t.plan.Launches, func(l scheduling.Launch) bool { return l.Name == launch })
	return l.NodePool
}

// binding writes to which nodes simulations of kube-scheduler bind a pod: each simulation is in one row.
func (t *answerText) binding(pod *explanation.PodExplanation) {
	x := pod.AfterScheduling
	switch {
	case x == nil:
		return
	case x.Simulations == 0 || x.Nominated && x.Planned == x.Simulations:
		t.to.section("BINDING")
		t.to.line("  It is nominated to its node, and kube-scheduler binds it there.")
		return
	}
	t.to.section(fmt.Sprintf("BINDING, IN %d SIMULATIONS OF KUBE-SCHEDULER", x.Simulations))
	home := lo.Ternary(pod.Status == explanation.PodLaunch, "launch ", "node ") + pod.Place
	rows := [][]string{{home, figures.Count(x.Planned, "simulation") + " (planned)"}}
	for _, o := range x.Others {
		chosen := figures.Count(o.Simulations, "simulation")
		if o.Simulations == 0 {
			chosen += ", though it fits"
		}
		rows = append(rows, []string{lo.Ternary(o.Node != "", "node "+o.Node, "launch "+o.Launch), chosen})
	}
	bound := x.Planned + lo.SumBy(x.Others, func(o explanation.OtherPlace) int { return o.Simulations })
	if n := x.Simulations - bound; n > 0 {
		rows = append(rows, []string{"pending", figures.Count(n, "simulation")})
	}
	t.to.columns(rows)
	if len(rows) == 1 {
		t.to.line("  No other node admits it when it is scheduled.")
	}
	if x.Replaced > 0 {
		t.to.line("  In %d of them an identical pod is bound to %s instead.", x.Replaced, home)
	}
	if len(x.Displaced) > 0 {
		t.to.line("  On another node it takes the capacity of pods that stay pending: %s.", figures.Names(x.Displaced, 3))
	}
	if r := t.plan.Summary.AfterScheduling; r != nil && r.PodsElsewhere > 0 && len(x.Force) > 0 {
		t.to.line("  Up to %d pods of the plan may be scheduled to other nodes.", r.PodsElsewhere)
	}
	tabulate(t.to, "HOW TO PIN IT TO THIS NODE", nil, x.Force, t.change)
}

// unforced writes which pods kube-scheduler may bind to other places.
func (t *answerText) unforced(pods []string) {
	if len(pods) > 0 {
		t.to.section("PODS THAT MAY BE SCHEDULED TO OTHER NODES")
		t.to.line("  %s", t.p.byWorkload(pods, 12))
	}
}

// topologyTerms writes the topology terms of a pod with the pods that they count by domain.
func (t *answerText) topologyTerms(terms []explanation.TopologyTerm) {
	if len(terms) == 0 {
		return
	}
	t.to.section("TOPOLOGY TERMS")
	for _, s := range terms {
		domains := lo.Map(s.Domains, func(d explanation.DomainCount, _ int) string { return fmt.Sprintf("%s %d", d.Value, d.Pods) })
		if len(domains) == 0 {
			t.to.line("  %s", s.Text)
		} else {
			t.to.line("  %s: %s", s.Text, figures.Names(domains, 12))
		}
	}
}

// explainLaunch writes why a machine is bought.
func (t *answerText) explainLaunch(x *explanation.LaunchExplanation) {
	t.to.line("New node %s of %s: %s at %s.", x.Launch, t.p.groups().Title(x.NodePool), t.offering(&x.Option), t.price(x.NodePool, &x.Option))
	if x.Options == 1 {
		t.to.line("The plan lists no alternative for it.")
	} else {
		t.to.line("The plan lists %s as alternatives; %s would hold these pods.", figures.Count(x.Options-1, "further offering"), figures.Count(x.Others, "other type"))
	}
	t.rooms(x.Rooms, "DAEMONSETS")
	t.shares("PODS", x.Pods, x.Rooms)
	t.unforced(x.Unforced)
	own := t.p.expected(x.NodePool, &x.Option)
	tabulate(t.to, "NEXT CHEAPEST", nil, x.RunnersUp, func(o scheduling.LaunchOption, _ int) []string {
		price := t.p.expected(x.NodePool, &o)
		return []string{t.offering(&o), figures.USD(price) + figures.Difference(price, own)}
	})
	tabulate(t.to, "CHEAPER BUT NOT ELIGIBLE", nil, x.Cheaper, func(r explanation.RejectedOption, _ int) []string {
		return []string{t.offering(&r.LaunchOption), figures.USD(t.p.expected(x.NodePool, &r.LaunchOption)), t.p.groups().Say(r.Reason.Detail)}
	})
	writeReasons(t.to, "RULED OUT", t.said(x.RuledOut), 12)
}

// explainNode writes the pods that a node receives.
func (t *answerText) explainNode(x *explanation.NodeExplanation) {
	pool := ""
	if x.NodePool != "" {
		pool = t.p.groups().Title(x.NodePool)
	}
	about := lo.Compact([]string{string(x.State), x.InstanceType, x.CapacityType, x.Zone, pool})
	t.to.line("Node %s (%s) receives %s; %s there.", x.Node, figures.Join(about), figures.Count(len(x.Planned), "pending pod"), figures.CountVerb(len(x.Running), "pod", "runs", "run"))
	for i := range x.Taints {
		t.to.line("It has the taint %s.", x.Taints[i].ToString())
	}
	t.rooms(x.Rooms, "DAEMONSETS TO COME") // running daemon pods are part of the running pods
	t.shares("PLANNED", x.Planned, x.Rooms)
	t.unforced(x.Unforced)
	t.shares("RUNNING", x.Running, x.Rooms)
	tabulate(t.to, "PODS IT CANNOT TAKE", nil, x.Refused, func(r explanation.Refusal, _ int) []string {
		return []string{t.p.byWorkload(r.Pods, 3), t.p.groups().Say(r.Reason.Detail)}
	})
}

// rooms writes how full a machine is, with a title for the pods of DaemonSets that it will get.
func (t *answerText) rooms(rooms []explanation.Room, daemons string) {
	if len(rooms) == 0 {
		return
	}
	cell := func(r *explanation.Room, n int64) string {
		return figures.Amount(r.Resource, n) + " (" + figures.Ratio(n, r.Allocatable) + ")"
	}
	rows := [][]string{{"", "ALLOCATABLE", "RUNNING", "PLANNED", daemons, "UNUSED"}}
	for i := range rooms {
		r := &rooms[i]
		rows = append(rows, []string{r.Resource, figures.Amount(r.Resource, r.Allocatable), cell(r, r.Running), cell(r, r.Planned), cell(r, r.Daemons), cell(r, r.Free)})
	}
	if !lo.SomeBy(rooms, func(r explanation.Room) bool { return r.Running > 0 }) {
		rows = lo.Map(rows, func(row []string, _ int) []string { return slices.Concat(row[:2], row[3:]) })
	}
	t.to.section("CAPACITY")
	t.to.columns(rows)
}

// shares writes pods by workload, and their share of the fullest resource.
func (t *answerText) shares(title string, pods []explanation.PodShare, rooms []explanation.Room) {
	if len(pods) == 0 || len(rooms) == 0 {
		return
	}
	type key struct{ workload, asks string }
	of := func(p explanation.PodShare) key { return key{t.p.Workload(p.Pod), figures.Requests(p.Requests)} }
	rows := lo.Map(lo.PartitionBy(pods, of), func(alike []explanation.PodShare, _ int) []string {
		k, n := of(alike[0]), len(alike)
		share := figures.Percent(lo.SumBy(alike, func(p explanation.PodShare) float64 { return p.Share })) + " of " + rooms[0].Resource
		if n > 1 {
			return []string{fmt.Sprintf("%s ×%d", k.workload, n), k.asks + " each", share}
		}
		return []string{k.workload, k.asks, share}
	})
	tabulate(t.to, title, nil, cut(rows, 10), asItIs)
}

// verdict writes whether a node can be removed when no other node may be.
func (t *answerText) verdict(n *explain.JudgedNode) {
	t.to.section("CONSOLIDATION, IF NO OTHER NODE IS REMOVED")
	v := n.Verdict
	if s := n.Removal; s != nil {
		t.to.line("  Would be removed (%s): %s %s per hour, %s rescheduled.", s.Reason, lo.Ternary(s.SavingPerHour < 0, "costs", "saves"), figures.USD(max(s.SavingPerHour, -s.SavingPerHour)), figures.Count(s.PodsMoved(), "pod"))
	} else {
		t.to.line("  Not removed.")
	}
	if v.Drift != "" {
		t.to.line("  Drifted: %s.", v.Drift)
	}
	var rows [][]string
	for i := range v.Reasons {
		rows = append(rows, []string{string(v.Reasons[i].Code), t.p.cause(&v.Reasons[i])})
	}
	t.to.columns(rows)
	if text := t.p.rejected(v); text != "" {
		t.to.line("  %s.", strings.ToUpper(text[:1])+text[1:])
	}
}

// group says in a sentence how many pods have the same outcome, and on which nodes they are.
func (t *answerText) group(g *explain.Group) string {
	nodes := map[string]int{}
	for _, n := range g.Nodes {
		nodes[cmp.Or(n.Node, n.Launch)] = n.Pods
	}
	on := func(kind string) string {
		return fmt.Sprintf("%s: %s.", figures.Count(len(nodes), kind), figures.Summarise(nodes, 12))
	}
	switch pods := len(g.Pods); g.Example.Status {
	case explanation.PodLaunch:
		return figures.Are(pods, "pod") + " placed on " + on("new node")
	case explanation.PodExisting:
		return figures.Are(pods, "pod") + " placed on " + on("existing node")
	case explanation.PodRunning:
		return figures.CountVerb(pods, "pod", "runs", "run") + " on " + on("node")
	case explanation.PodUnschedulable:
		return figures.Are(pods, "pod") + " pending for the same reasons: " + figures.Names(g.Pods, 3) + "."
	default:
		return figures.Are(pods, "pod") + " not planned: " + figures.Names(g.Pods, 3) + "."
	}
}

// explainWorkload writes the placement of a workload's pods.
func (t *answerText) explainWorkload(x *explain.Workload) {
	total := 0
	for _, g := range x.Groups {
		total += len(g.Pods)
	}
	t.to.line("%s has %s.", strings.Replace(x.Workload, "/", " ", 1), figures.Count(total, "pod"))
	for _, g := range x.Groups {
		t.to.line("")
		if len(g.Pods) > 1 {
			t.to.line("%s One of them:", t.group(&g))
		}
		t.explainPod(g.Example)
	}
}
