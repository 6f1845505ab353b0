package nodegroups

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ScaleUp is the plan for pending pods.
type ScaleUp struct {
	// Resizes are the groups that grow, in the order of [Cluster.Groups].
	Resizes []Resize
	// PricePerHour is the price of all new nodes, in USD per hour.
	PricePerHour offerings.Price
	// Waiting are the pods that fit on existing nodes, and on nodes that are under way.
	Waiting []string
	// Unschedulable are the pods that fit nowhere, with reasons that name NodePools for groups (see the package).
	Unschedulable []scheduling.Unschedulable
	// Warnings are findings that did not prevent the plan.
	Warnings []scheduling.Warning
	// Problem and Plan are the groups as NodePools, with their plan. New nodes of atomic groups and of balanced groups are
	// nodes of Problem, others are launches of Plan.
	Problem scheduling.Problem
	Plan    *scheduling.Plan
}

// trial is a plan in which some groups have grown already.
type trial struct {
	// grown are the numbers of these new nodes by group.
	grown   []int
	problem scheduling.Problem
	plan    *scheduling.Plan
	// sizes are the numbers of new nodes by group, with those that the plan launches, and price is their expected price.
	sizes []int
	price offerings.Price
}

// ScaleUp plans the sizes of groups for the pending pods of a cluster, at the lowest price that is found. The same cluster
// gives the same plan. An error means a malformed cluster, with all its faults, or a cancelled context.
func (p Planner) ScaleUp(ctx context.Context, c Cluster) (*ScaleUp, error) {
	p.Policy = p.policy()
	m, err := p.model(c, true)
	if err != nil {
		return nil, err
	}
	best, err := p.try(ctx, m, make([]int, len(c.Groups)))
	if err == nil {
		best, err = p.growAtomic(ctx, m, best)
	}
	balanced := make([]bool, len(c.Groups))
	if err == nil && p.Balance {
		best, balanced, err = p.balance(ctx, m, best)
	}
	if err != nil {
		return nil, err
	}
	if err := (verify.Checker{Policy: p.Policy}).Plan(best.problem, best.plan); err != nil {
		return nil, fmt.Errorf("the plan breaks a rule: %w", err)
	}
	return m.scaleUp(best, balanced), nil
}

// try plans the cluster with so many more nodes of the groups.
func (p *Planner) try(ctx context.Context, m *model, grown []int) (*trial, error) {
	t := &trial{grown: grown, problem: m.problem, sizes: slices.Clone(grown)}
	t.problem.Nodes = slices.Clone(m.problem.Nodes)
	taken := map[string]bool{}
	for _, node := range t.problem.Nodes {
		taken[node.Name] = true
	}
	for g := range m.Groups {
		for i := range m.underway(g) + grown[g] {
			t.problem.Nodes = append(t.problem.Nodes, m.promised(g, newName(m.pools[g], i, taken)))
		}
		each := offerings.Sum(m.prices[g], p.Policy.NodeOverhead)
		price, _ := each.Times(int64(grown[g]))
		t.price = offerings.Sum(t.price, price)
	}
	plan, err := provisioning.Planner{Policy: p.Policy}.Plan(ctx, t.problem)
	if err != nil {
		return nil, err
	}
	t.plan = plan
	for i := range plan.Launches {
		g := m.group[plan.Launches[i].NodePool]
		t.sizes[g]++
		t.price = offerings.Sum(t.price, offerings.Sum(m.prices[g], p.Policy.NodeOverhead))
	}
	return t, nil
}

// newName is the name of the i-th new node of a NodePool, which no node has.
func newName(pool string, i int, taken map[string]bool) string {
	name := fmt.Sprintf("%s-new-%d", pool, i)
	for taken[name] {
		name += "-x"
	}
	taken[name] = true
	return name
}

// betterThan reports whether more pods have a place, or as many on cheaper nodes, or on fewer nodes of the same price.
func (t *trial) betterThan(other *trial) bool {
	nodes := func(t *trial) (sum int) {
		for _, n := range t.sizes {
			sum += n
		}
		return sum
	}
	return cmp.Or(cmp.Compare(len(t.plan.Unschedulable), len(other.plan.Unschedulable)), cmp.Compare(t.price, other.price), cmp.Compare(nodes(t), nodes(other))) < 0
}

// growAtomic grows atomic groups to their maximum, and takes that back, one by one, as long as the plan becomes better.
func (p *Planner) growAtomic(ctx context.Context, m *model, best *trial) (*trial, error) {
	for improved := true; improved; {
		improved = false
		from := best.grown
		for g := range m.Groups {
			if !m.Groups[g].Atomic || m.room(g) == 0 {
				continue
			}
			grown := slices.Clone(from)
			grown[g] = m.room(g) - grown[g] // all of them or none
			t, err := p.try(ctx, m, grown)
			if err != nil {
				return nil, err
			}
			if t.betterThan(best) {
				best, improved = t, true
			}
		}
	}
	return best, nil
}

// scaleUp is the result of a trial. balanced are the groups whose share was balanced.
func (m *model) scaleUp(t *trial, balanced []bool) *ScaleUp {
	out := &ScaleUp{Unschedulable: t.plan.Unschedulable, Warnings: t.plan.Warnings, Problem: t.problem, Plan: t.plan}
	pods := make([][]string, len(m.Groups))
	for i := range t.plan.Launches {
		g := m.group[t.plan.Launches[i].NodePool]
		pods[g] = append(pods[g], t.plan.Launches[i].Pods...)
	}
	grown := m.newNodes(t)
	for _, a := range t.plan.Existing {
		if g, ok := grown[a.Node]; ok {
			pods[g] = append(pods[g], a.Pods...)
		} else {
			out.Waiting = append(out.Waiting, a.Pods...)
		}
	}
	slices.Sort(out.Waiting)
	for g, n := range t.sizes {
		if n == 0 {
			continue
		}
		slices.Sort(pods[g])
		price, _ := m.prices[g].Times(int64(n))
		r := Resize{Group: m.Groups[g].ID, From: m.Groups[g].Target, To: m.Groups[g].Target + n, Pods: pods[g], PricePerHour: price}
		switch r.Reason = fmt.Sprintf("adds %s for %s", count(n, "node"), count(len(pods[g]), "pod")); {
		case m.Groups[g].Atomic:
			r.Reason += "; the group grows to its maximum at once"
		case balanced[g]:
			r.Reason += "; balanced with similar groups"
		}
		out.Resizes = append(out.Resizes, r)
		out.PricePerHour = offerings.Sum(out.PricePerHour, price)
	}
	return out
}

// newNodes are the nodes of a trial's problem by which its groups have grown. Nodes that were under way come first.
func (m *model) newNodes(t *trial) map[string]int {
	out := map[string]int{}
	nodes := t.problem.Nodes[len(m.problem.Nodes):]
	for g := range m.Groups {
		n := m.underway(g) + t.grown[g]
		for _, node := range nodes[m.underway(g):n] {
			out[node.Name] = g
		}
		nodes = nodes[n:]
	}
	return out
}

// count is a number of objects in words, e.g. "2 nodes".
func count(n int, object string) string {
	if n == 1 {
		return "1 " + object
	}
	return fmt.Sprintf("%d %ss", n, object)
}
