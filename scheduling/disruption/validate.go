package disruption

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// faults are the faults of a cluster and of a planner's settings.
type faults struct{ list []*scheduling.FieldError }

func (f *faults) add(path, value, message string) {
	f.list = append(f.list, &scheduling.FieldError{Path: path, Value: value, Message: message})
}

// check finds the faults of the planner's settings and of a cluster, apart from those of its problem.
func check(p *Planner, c *Cluster) *faults {
	f := &faults{}
	f.checkPlanner(p)
	if p.Now.IsZero() && c.Now.IsZero() {
		f.add("planner.now", "", "is missing, and so is now of the problem")
	}
	f.checkMachines(c)
	f.checkBudgets(c.PodDisruptionBudgets)
	f.checkAlternative(c.Alternative)
	return f
}

// checkAlternative checks alternative NodePools as those of a problem.
func (f *faults) checkAlternative(pools []*scheduling.NodePool) {
	var found *scheduling.FieldErrors
	if errors.As(provisioning.Validate(&scheduling.Problem{NodePools: pools}), &found) {
		for _, x := range found.Errors {
			f.add(strings.Replace(x.Path, "nodepools", "alternative", 1), x.Value, x.Message)
		}
	}
}

// checkPlanner checks the planner's settings.
func (f *faults) checkPlanner(p *Planner) {
	for i, r := range p.Reasons {
		switch r {
		case Interrupted, Expired, Drifted, Empty, Underutilized, Misplaced:
		default:
			f.add("planner.reasons["+strconv.Itoa(i)+"]", string(r), "must be one of interrupted, expired, drifted, empty, underutilized, misplaced")
		}
	}
	checkNotNegative(f, "planner.minSaving.perHour", p.MinSaving.PerHour)
	checkNotNegative(f, "planner.minSaving.perMonth", p.MinSaving.PerMonth)
	if n := p.MinSaving.Share; !(n >= 0 && n <= 1) {
		f.add("planner.minSaving.share", formatNumber(n), "must lie between 0 and 1")
	}
	if n := p.BalancedK; !(n >= 0) || math.IsInf(n, 1) {
		f.add("planner.balancedK", formatNumber(n), "must be above 0, or 0 for the default of 2")
	}
	if n := p.NodeCost; !(n >= 0) || math.IsInf(n, 1) {
		f.add("planner.nodeCost", formatNumber(n), "must be above 0, or 0 for the default of 1")
	}
	if p.MaxSteps < 0 {
		f.add("planner.maxSteps", strconv.Itoa(p.MaxSteps), "is negative")
	}
	checkNotNegative(f, "planner.minLifetime", p.MinLifetime)
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// checkMachines checks that each machine is of a node, that no node has two, and that durations are not negative.
func (f *faults) checkMachines(c *Cluster) {
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
			f.add(at+".node", "", "is missing")
		} else {
			at = "machines[" + m.Node + "]"
			f.checkOnce(first, at, m.Node, i)
			if !nodes[m.Node] {
				f.add(at+".node", m.Node, "there is no node of this name")
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

// checkOnce checks that a name occurs once in a list. first has the index of its first occurrence.
func (f *faults) checkOnce(first map[string]int, at, name string, i int) {
	if j, again := first[name]; again {
		f.add(at, "", "is there twice, as entries "+strconv.Itoa(j)+" and "+strconv.Itoa(i))
		return
	}
	first[name] = i
}

// checkNotNegative checks that an amount is not negative.
func checkNotNegative[T interface {
	~int64
	String() string
}](f *faults, path string, n T) {
	if n < 0 {
		f.add(path, n.String(), "is negative")
	}
}

// checkBudgets checks PodDisruptionBudgets by the rules of the API server.
func (f *faults) checkBudgets(list []*policyv1.PodDisruptionBudget) {
	first := map[string]int{}
	for i, b := range list {
		at := "podDisruptionBudgets[" + strconv.Itoa(i) + "]"
		if b == nil {
			f.add(at, "", "is missing")
			continue
		}
		if b.Name == "" {
			f.add(at+".metadata.name", "", "is missing")
		} else {
			name := eviction.BudgetName(b)
			at = "podDisruptionBudgets[" + name + "]"
			f.checkOnce(first, at, name, i)
		}
		f.checkBudget(at+".spec", &b.Spec)
	}
}

// checkBudget checks the specification of a PodDisruptionBudget.
func (f *faults) checkBudget(at string, s *policyv1.PodDisruptionBudgetSpec) {
	if _, err := metav1.LabelSelectorAsSelector(s.Selector); err != nil {
		f.add(at+".selector", "", oneLine(err))
	}
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		f.add(at+".maxUnavailable", s.MaxUnavailable.String(), "must not be there together with minAvailable")
	}
	f.checkAmount(at+".minAvailable", s.MinAvailable)
	f.checkAmount(at+".maxUnavailable", s.MaxUnavailable)
	if p := s.UnhealthyPodEvictionPolicy; p != nil && *p != policyv1.IfHealthyBudget && *p != policyv1.AlwaysAllow {
		f.add(at+".unhealthyPodEvictionPolicy", string(*p), "must be one of IfHealthyBudget, AlwaysAllow")
	}
}

// checkAmount checks a number or percentage of pods.
func (f *faults) checkAmount(path string, v *intstr.IntOrString) {
	if v == nil {
		return
	}
	if _, ok := eviction.Scaled(v, 100); !ok {
		f.add(path, v.String(), "must be a number of pods or a percentage, and not negative")
		return
	}
	if n, _ := eviction.Scaled(v, 100); v.Type == intstr.String && n > 100 {
		f.add(path, v.String(), "must not be more than 100%")
	}
}

// oneLine is the text of an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// joined is the error of these faults and of those of the problem; nil if there are none.
func (f *faults) joined(problem error) error {
	var list *scheduling.FieldErrors
	var one *scheduling.FieldError
	switch {
	case problem == nil:
	case errors.As(problem, &list):
		f.list = append(f.list, list.Errors...)
	case errors.As(problem, &one):
		f.list = append(f.list, one)
	case len(f.list) == 0:
		return problem
	default:
		return errors.Join(problem, f.joined(nil))
	}
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b *scheduling.FieldError) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return &scheduling.FieldErrors{Errors: f.list}
}
