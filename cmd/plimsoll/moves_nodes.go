package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// stay is nodes that stay for the same cause.
type stay struct {
	code  disruption.CauseCode
	nodes []*disruption.Verdict
	price offerings.Price
}

// best returns the node of the group with the move that would have saved the most.
func (s *stay) best() *disruption.Verdict {
	var out *disruption.Verdict
	for _, v := range s.nodes {
		if v.Rejected != nil && (out == nil || v.Rejected.SavingPerHour > out.Rejected.SavingPerHour) {
			out = v
		}
	}
	return out
}

// drifted says how the nodes that go for having drifted are not what their pool asks for.
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
	m.section("HOW NODES HAVE DRIFTED")
	for _, drift := range slices.Sorted(maps.Keys(nodes)) {
		m.line("  %s: %s", names(nodes[drift], m.most(3)), drift)
	}
}

// staying lists the nodes that stay, by their first cause, the dearest group first.
func (m *moves) staying() {
	groups := m.stays()
	if len(groups) == 0 {
		return
	}
	m.section("NODES THAT STAY")
	rows := [][]string{{"COUNT", "$/HOUR", "CAUSE", "WHAT", "NODES"}}
	for _, g := range groups {
		list := make([]string, len(g.nodes))
		for i, v := range g.nodes {
			list[i] = v.Node
		}
		rows = append(rows, []string{strconv.Itoa(len(g.nodes)), plain(g.price), string(g.code), meaning(g.code), names(list, m.most(2))})
	}
	m.headed(rows, "CAUSE", "$/HOUR")
	m.examples(groups)
}

// stays groups the nodes that stay.
func (m *moves) stays() []*stay {
	index := map[disruption.CauseCode]*stay{}
	var groups []*stay
	for i := range m.plan.Nodes {
		v := &m.plan.Nodes[i]
		if v.Decision != disruption.Keep || len(v.Reasons) == 0 {
			continue
		}
		code := v.Reasons[0].Code
		if index[code] == nil {
			index[code] = &stay{code: code}
			groups = append(groups, index[code])
		}
		g := index[code]
		g.nodes = append(g.nodes, v)
		g.price, _ = g.price.Plus(v.PricePerHour)
	}
	slices.SortFunc(groups, func(a, b *stay) int {
		return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(len(b.nodes), len(a.nodes)), strings.Compare(string(a.code), string(b.code)))
	})
	return groups
}

// examples shows one node of each group: what stands in the way, and the best move that
// was found for any of its nodes and not taken.
func (m *moves) examples(groups []*stay) {
	m.section("FOR EXAMPLE")
	for _, g := range groups {
		v := g.best()
		if v == nil {
			v = g.nodes[0]
		}
		m.line("  %s: %s", v.Node, reason(&v.Reasons[0]))
		if v.Rejected != nil {
			m.line("    %s", rejected(v.Node, v.Rejected))
		}
	}
}

// reason writes a cause with the object that it is about.
func reason(c *disruption.Cause) string {
	if c.Object == "" || strings.Contains(c.Detail, c.Object) {
		return c.Detail
	}
	return c.Object + ": " + c.Detail
}

// rejected writes a move that was not taken.
func rejected(node string, r *disruption.Rejected) string {
	var b strings.Builder
	b.WriteString("best move: remove it")
	if others := slices.DeleteFunc(slices.Clone(r.Drain), func(n string) bool { return n == node }); len(others) > 0 {
		fmt.Fprintf(&b, " with %s", names(others, 3))
	}
	if len(r.Launches) > 0 {
		counts := map[string]int{}
		for i := range r.Launches {
			counts[offeringText(&r.Launches[i])]++
		}
		fmt.Fprintf(&b, " and buy %s for %s per hour", summarise(counts, 3), usd(r.PricePerHour))
	}
	if r.SavingPerHour < 0 {
		fmt.Fprintf(&b, "; that costs %s per hour more", usd(-r.SavingPerHour))
	} else {
		fmt.Fprintf(&b, "; that saves %s per hour", usd(r.SavingPerHour))
	}
	fmt.Fprintf(&b, ", disruption %s, but %s", decimal(r.DisruptionCost), reason(&r.Because))
	return b.String()
}

// meaning says in a few words what a cause is.
func meaning(code disruption.CauseCode) string {
	switch code {
	case disruption.CauseNoNodePool:
		return "no node pool owns it"
	case disruption.CauseNoTypes:
		return "its pool has nothing on sale"
	case disruption.CauseNotReady:
		return "not ready yet"
	case disruption.CauseGoing:
		return "being removed already"
	case disruption.CauseNominated:
		return "pods are expected there"
	case disruption.CauseDoNotDisrupt:
		return "asks not to be disrupted"
	case disruption.CauseBarePod:
		return "a pod without a controller would be gone for good"
	case disruption.CauseSearch:
		return "no cheaper move was found"
	case disruption.CauseBudget:
		return "a PodDisruptionBudget lets no pod go"
	case disruption.CausePoolBudget:
		return "the pool's budgets let no more nodes go"
	case disruption.CausePolicy:
		return "the pool's policy excludes it"
	case disruption.CauseTooSoon:
		return "too soon"
	case disruption.CauseStatic:
		return "the pool has a fixed size"
	case disruption.CauseUnknownPrice:
		return "its price is not known"
	case disruption.CauseReasonNotMeant:
		return "not among --reasons"
	case disruption.CauseNoPlace:
		return "a pod has nowhere else to go"
	case disruption.CauseNoSaving:
		return "nothing cheaper would do"
	case disruption.CauseSmallSaving:
		return "saves less than --min-saving"
	case disruption.CauseScore:
		return "not worth the disruption"
	case disruption.CauseSpotChoice:
		return "too few cheaper spot types"
	case disruption.CauseMinValues:
		return "minValues need its type"
	case disruption.CauseReceives:
		return "takes in pods of others"
	case disruption.CauseDeadline:
		return "not looked at in time"
	case disruption.CauseLater:
		return "the plan ends before"
	}
	return ""
}
