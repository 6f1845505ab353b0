package steps

import (
	"math"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// budgetCheck judges a step's use of budgets, of pods and of nodes.
type budgetCheck struct {
	cluster *clusterState
	report  *rule.Report
	step    *disruption.Step
	going   []*clusterNode
	moves   []move
}

// podBudgets checks that no wave evicts more pods than a budget allows, and the step's own figures.
func (c *budgetCheck) podBudgets() {
	// Pods that draining does not evict, e.g. because they tolerate its taint, may use a budget or not.
	most, least := make(map[*podBudget]int), make(map[*podBudget]int)
	type budgetWave struct {
		budget *podBudget
		wave   int
	}
	evicted, leave := make(map[budgetWave]int), make(map[budgetWave]int)
	for _, m := range c.moves {
		if !snapshot.Live(m.pod) {
			continue // it is on its way out already
		}
		for _, b := range c.cluster.budgets.of(m.pod) {
			at := budgetWave{b, m.Wave}
			leave[at]++
			most[b] = max(most[b], leave[at])
			if c.cluster.rules.evictable(m.pod) {
				evicted[at]++
				least[b] = max(least[b], evicted[at])
			}
		}
	}
	for _, b := range c.cluster.budgets {
		// Nodes that are forced to go do so without regard to budgets.
		if n := least[b]; !forced(c.step.Reason) && (n > max(b.allowed, 1) || n > b.allowed && !c.byForce()) {
			c.report.Add(rule.PodBudget, "poddisruptionbudget/"+b.name, "%d pods are disrupted in one wave, disruptionsAllowed is %d", n, b.allowed)
		}
	}
	listed := make(map[string]bool)
	for _, u := range c.step.PodDisruptionBudgets {
		object := "poddisruptionbudget/" + u.Budget
		if listed[u.Budget] {
			c.report.Add(rule.BudgetUse, object, "is listed twice")
		}
		listed[u.Budget] = true
		b, found := lo.Find(c.cluster.budgets, func(b *podBudget) bool { return b.name == u.Budget })
		if !found {
			c.report.Add(rule.BudgetUse, object, "is not there")
		} else if u.Pods < least[b] || u.Pods > most[b] || u.Allowed != b.allowed {
			c.report.Add(rule.BudgetUse, object, "the step states %d disrupted pods of %d allowed, and has %d of %d", u.Pods, u.Allowed, most[b], b.allowed)
		}
	}
	for _, b := range c.cluster.budgets {
		if least[b] > 0 && !listed[b.name] {
			c.report.Add(rule.BudgetUse, "poddisruptionbudget/"+b.name, "%d pods are disrupted, and the step does not list the budget", least[b])
		}
	}
}

// byForce reports whether draining a node of the step ends by force, so that pods go, one
// after the other, even if a budget allows none.
func (c *budgetCheck) byForce() bool {
	return c.step.Reason == disruption.Drifted && slices.ContainsFunc(c.going, (*clusterNode).graceful)
}

// nodeBudgets checks that the pools let as many of their nodes go at once, and the step's own figures.
func (c *budgetCheck) nodeBudgets() {
	goes := make(map[*snapshot.Pool]int)
	for _, s := range c.going {
		if s.node.Pool != nil {
			goes[s.node.Pool]++
		}
	}
	binding := !forced(c.step.Reason)
	listed := make(map[string]bool)
	for _, u := range c.step.NodePools {
		object := "nodepool/" + u.NodePool
		pl := c.cluster.state.Pools[u.NodePool]
		switch {
		case listed[u.NodePool]:
			c.report.Add(rule.BudgetUse, object, "is listed twice")
		case pl == nil || goes[pl] == 0:
			c.report.Add(rule.BudgetUse, object, "the step drains no node of this NodePool")
		default:
			room, counted := c.allowance(pl)
			if u.Nodes != goes[pl] || binding && u.Allowed != min(room, counted) {
				c.report.Add(rule.BudgetUse, object, "the step states %d removed nodes of %d allowed, and has %d of %d", u.Nodes, u.Allowed, goes[pl], min(room, counted))
			}
		}
		listed[u.NodePool] = true
	}
	for _, pl := range c.cluster.state.SortedPools() {
		if !binding || goes[pl] == 0 {
			continue
		}
		if room, _ := c.allowance(pl); goes[pl] > room {
			c.report.Add(rule.NodeBudget, "nodepool/"+pl.Object.Name, "%d nodes are removed at once, the NodePool's budgets allow %d", goes[pl], room)
		}
		if !listed[pl.Object.Name] {
			c.report.Add(rule.BudgetUse, "nodepool/"+pl.Object.Name, "%d nodes are removed, and the step does not list the budget", goes[pl])
		}
	}
}

// allowance returns how many nodes of the pool may go now for the step's reason (room), and the nodes that the pool's
// budgets count: initialized ones whose machines are not shut down. Nodes that are not ready or are being removed use
// the allowance up.
func (c *budgetCheck) allowance(pl *snapshot.Pool) (room, counted int) {
	away := 0
	for _, s := range c.cluster.nodes {
		if s.node.Pool != pl || snapshot.InFlight(s.node.Running) || s.machine.Terminating {
			continue
		}
		if counted++; !readyNode(s.node.Running) || s.node.Leaves() {
			away++
		}
	}
	least := budgeted(pl.Object, c.step.Reason, counted, c.cluster.rules.now)
	if least == math.MaxInt {
		return least, counted
	}
	return max(0, least-away), counted
}
