package consolidation

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/corpus"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// standard is the planner that ours are compared with.
const standard = "karpenter"

// attempts is how often Karpenter consolidates each cluster. Its runs differ, because it
// goes through maps; the best one counts.
const attempts = 3

// Match is one cluster and what planners made of it.
type Match struct {
	// Kind says what clusters it is one of, Seed which.
	Kind string
	Seed uint64
	// Nodes and Pods are what the cluster had.
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
		course, err := Plimsoll(ctx, name, disruption.Planner{Solver: scheduling.Solver{Effort: effort}}, c)
		if err != nil {
			return m, err
		}
		m.Courses = append(m.Courses, course)
	}
	return m, nil
}
