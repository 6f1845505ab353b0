package disruption

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// check finds the faults of the planner's settings and of a cluster, apart from those of its problem.
func check(p *Planner, c *Cluster) *faults.Collector {
	f := &faults.Collector{}
	checkPlanner(f, p)
	if p.Now.IsZero() && c.Now.IsZero() {
		f.Add("", "is missing, and so is now of the problem", "planner.now")
	}
	checkMachines(f, c)
	eviction.CheckBudgets(f, c.PodDisruptionBudgets)
	checkAlternative(f, c.Alternative)
	checkSpotPolicies(f, c.SpotPolicies)
	return f
}

// checkAlternative checks alternative NodePools as those of a problem.
func checkAlternative(f *faults.Collector, pools []*scheduling.NodePool) {
	var found *scheduling.FieldErrors
	if errors.As(provisioning.Validate(&scheduling.Problem{NodePools: pools}), &found) {
		for _, x := range found.Errors {
			f.Add(x.Value, x.Message, strings.Replace(x.Path, "nodepools", "alternative", 1))
		}
	}
}

// checkPlanner checks the planner's settings.
func checkPlanner(f *faults.Collector, p *Planner) {
	for i, r := range p.Reasons {
		switch r {
		case Interrupted, Expired, Drifted, Empty, Underutilized, Misplaced:
		default:
			f.Add(string(r), "must be one of interrupted, expired, drifted, empty, underutilized, misplaced", "planner.reasons["+strconv.Itoa(i)+"]")
		}
	}
	checkNotNegative(f, "planner.minSaving.perHour", p.MinSaving.PerHour)
	checkNotNegative(f, "planner.minSaving.perMonth", p.MinSaving.PerMonth)
	if n := p.MinSaving.Share; !(n >= 0 && n <= 1) {
		f.Add(formatNumber(n), "must lie between 0 and 1", "planner.minSaving.share")
	}
	if n := p.BalancedK; !(n >= 0) || math.IsInf(n, 1) {
		f.Add(formatNumber(n), "must be above 0, or 0 for the default of 2", "planner.balancedK")
	}
	if n := p.NodeCost; !(n >= 0) || math.IsInf(n, 1) {
		f.Add(formatNumber(n), "must be above 0, or 0 for the default of 1", "planner.nodeCost")
	}
	if p.MaxSteps < 0 {
		f.Add(strconv.Itoa(p.MaxSteps), "is negative", "planner.maxSteps")
	}
	checkNotNegative(f, "planner.minLifetime", p.MinLifetime)
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// checkMachines checks that each machine is of a node, that no node has two, and that durations are not negative.
func checkMachines(f *faults.Collector, c *Cluster) {
	nodes := make(map[string]bool, len(c.Nodes))
	for _, n := range c.Nodes {
		if n != nil {
			nodes[n.Name] = true
		}
	}
	first := make(map[string]int, len(c.Machines))
	for i := range c.Machines {
		m := &c.Machines[i]
		at := "machines[" + strconv.Itoa(i) + "]"
		if m.Node == "" {
			f.Add("", "is missing", at+".node")
		} else {
			at = "machines[" + m.Node + "]"
			f.Once(first, m.Node, i, at)
			if !nodes[m.Node] {
				f.Add(m.Node, "there is no node of this name", at+".node")
			}
		}
		if d := m.ExpireAfter; d != nil && d.Duration != nil {
			checkNotNegative(f, at+".expireAfter", *d.Duration)
		}
		if d := m.TerminationGracePeriod; d != nil {
			checkNotNegative(f, at+".terminationGracePeriod", d.Duration)
		}
	}
}

// checkNotNegative checks that an amount is not negative.
func checkNotNegative[T interface {
	~int64
	String() string
}](f *faults.Collector, path string, n T) {
	if n < 0 {
		f.Add(n.String(), "is negative", path)
	}
}

// joined is the error of the faults of planner and cluster and of those of the problem; nil if there are none.
func joined(f *faults.Collector, problem error) error {
	var list *scheduling.FieldErrors
	var one *scheduling.FieldError
	switch {
	case errors.As(problem, &list):
		f.List = append(f.List, list.Errors...)
	case errors.As(problem, &one):
		f.List = append(f.List, one)
	case problem != nil && len(f.List) == 0:
		return problem
	case problem != nil:
		return errors.Join(problem, f.Err())
	}
	return f.Err()
}

// checkSpotPolicies checks the policies as those of a problem.
func checkSpotPolicies(f *faults.Collector, policies []*scheduling.SpotPolicy) {
	var found *scheduling.FieldErrors
	if errors.As(provisioning.Validate(&scheduling.Problem{SpotPolicies: policies}), &found) {
		f.List = append(f.List, found.Errors...)
	}
}
