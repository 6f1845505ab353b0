package consolidation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Point is a cluster after some steps.
type Point struct {
	// Moved is the number of evictions so far: a pod that moved twice counts twice.
	Moved int
	Price offerings.Price
	Nodes int
}

// Course is how one planner consolidates a cluster.
type Course struct {
	Planner string
	// Points are the cluster as it was, and as it is after each step.
	Points []Point
	peer.Expense
	// First is the time to the first step.
	First time.Duration
}

// Steps is their number.
func (c Course) Steps() int { return len(c.Points) - 1 }

// Begin is the cluster before, End after all steps.
func (c Course) Begin() Point { return c.Points[0] }

// End is the cluster after all steps.
func (c Course) End() Point { return c.Points[len(c.Points)-1] }

// Reaches is the first point at which the cluster costs no more than the price.
func (c Course) Reaches(price offerings.Price) (Point, bool) {
	for _, p := range c.Points {
		if p.Price <= price {
			return p, true
		}
	}
	return Point{}, false
}

// Best is the course that ends cheapest, then with the fewest pods moved, then soonest.
func Best(courses []Course) Course {
	best := courses[0]
	for _, c := range courses[1:] {
		a, b := c.End(), best.End()
		if a.Price < b.Price || a.Price == b.Price && (a.Moved < b.Moved || a.Moved == b.Moved && c.Elapsed < best.Elapsed) {
			best = c
		}
	}
	return best
}

// anew is the problem of buying machines for the same pods from scratch.
func anew(c disruption.Cluster) scheduling.Problem {
	p := c.Problem
	p.Pods, p.Running, p.Nodes = nil, nil, nil
	for _, pod := range c.Running {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
		p.Pods = append(p.Pods, pod)
	}
	return p
}

// attempts is how often Karpenter consolidates each cluster. Its runs differ, because it
// goes through maps; the best one counts.
const attempts = 3

// Match is one cluster and the course of each planner on it.
type Match struct {
	// Kind names the kind of cluster, Seed the one of that kind.
	Kind string
	Seed uint64
	// Nodes and Pods are the cluster's numbers before consolidation.
	Nodes, Pods int
	// Bound is a price below which no machines can be that hold the pods.
	Bound   offerings.Price
	Courses []Course
}

// find is the course of a planner.
func (m Match) find(planner string) (Course, bool) {
	for _, c := range m.Courses {
		if c.Planner == planner {
			return c, true
		}
	}
	return Course{}, false
}

// Play lets Karpenter, and Plimsoll at the efforts, consolidate a cluster of n nodes.
func Play(ctx context.Context, k corpus.Clusters, n int, seed uint64, efforts map[string]scheduling.Effort) (Match, error) {
	m := Match{Kind: fmt.Sprintf("%d nodes, budget %s", n, k.Budget), Seed: seed, Nodes: n}
	c, err := k.Cluster(n, seed)
	if err != nil {
		return m, err
	}
	m.Pods = len(c.Running)
	bound, err := Bound(ctx, c)
	if err != nil {
		return m, err
	}
	m.Bound = bound.Price
	var tries []Course
	for range attempts {
		course, err := Karpenter(ctx, c)
		if err != nil {
			return m, err
		}
		tries = append(tries, course)
	}
	m.Courses = append(m.Courses, Best(tries))
	for _, name := range []string{"plimsoll fast", "plimsoll", "plimsoll thorough"} {
		effort, wanted := efforts[name]
		if !wanted {
			continue
		}
		course, err := Plimsoll(ctx, name, disruption.Planner{Policy: scheduling.Policy{Effort: effort}}, c)
		if err != nil {
			return m, err
		}
		m.Courses = append(m.Courses, course)
	}
	return m, nil
}

// settled checks a cluster that has been consolidated, as if its machines had been bought
// anew: they are on sale at their price, their pools allow them, their pods fit, and every
// pod of the cluster is on exactly one of them.
func settled(c disruption.Cluster, o peer.Outcome) error {
	if placed := o.Placed(); placed != len(c.Running) {
		return fmt.Errorf("%d of %d pods have a place in the end", placed, len(c.Running))
	}
	p := c.Problem
	p.Pods, p.Running, p.Nodes = c.Running, nil, nil
	o.Machines = slices.DeleteFunc(slices.Clone(o.Machines), func(m peer.Machine) bool { return len(m.Pods) == 0 })
	return peer.Check(p, o)
}
