package provisioning

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/podtable"
)

// Session holds a problem from one plan to the next: the caller applies changes as they happen, and the time of a plan
// depends on the changes since the last one, not on the size of the cluster. Its plans are those that [Planner.Plan]
// would make of the same problem, byte for byte.
//
// A Session is not safe for concurrent use. Several forks may be used at the same time, each by one goroutine.
//
// The session keeps the objects that it is given, and copies none of them: the caller must not change them any more.
// The zero Session has an empty problem, and plans by the zero policy.
type Session struct {
	solver scheduling.Policy
	// problem is the problem without pods and nodes, every list sorted by name.
	problem scheduling.Problem
	running *podtable.Table
	waiting waiting
	cluster *hosts.Cluster
	memory  *instance.Memory
	// observer gets the progress of Plan; forks have none.
	observer scheduling.Observer
}

// NewSession starts a session with a problem, to be planned by policy s. It refuses the problems that [Validate]
// refuses, with the same error, but leaves it to Plan to report that no offering is available for any pod, because later
// changes may add one. Pods of p.Pods that have a node count as running.
func NewSession(s scheduling.Policy, p scheduling.Problem) (*Session, error) {
	return checkedSession(s, p, instance.NewMemory())
}

// ForProblem starts a session with another problem and policy, as [NewSession] does. The offers of catalogs that
// both problems have are not read again, unless the policies differ in more than the effort.
func (x *Session) ForProblem(s scheduling.Policy, p scheduling.Problem) (*Session, error) {
	x.ready()
	was := x.solver
	was.Effort, was.NoReasons = s.Effort, s.NoReasons
	if !reflect.DeepEqual(was, s) { // so do filters
		return NewSession(s, p)
	}
	return checkedSession(s, p, x.memory.Fork())
}

// checkedSession starts a session with a problem that may have faults.
func checkedSession(s scheduling.Policy, p scheduling.Problem, m *instance.Memory) (*Session, error) {
	c := validate.NewChecker()
	c.Faults.List = validate.Faults(&s)
	c.AllPods(&p, nil)
	c.Objects(&p)
	c.PoolCatalogs(&p)
	if err := c.Faults.Err(); err != nil {
		return nil, err
	}
	return newSession(s, p, m), nil
}

// ready gives the zero Session its empty problem.
func (x *Session) ready() {
	if x.memory == nil {
		observer := x.observer
		*x = *newSession(x.solver, x.problem, instance.NewMemory())
		x.observer = observer
	}
}

// newSession starts a session with a problem without faults.
func newSession(s scheduling.Policy, p scheduling.Problem, m *instance.Memory) *Session {
	x := &Session{solver: s, memory: m}
	pods, running := []*corev1.Pod{}, p.Running[:len(p.Running):len(p.Running)]
	for _, pod := range p.Pods {
		if pod.Spec.NodeName != "" {
			running = append(running, pod)
		} else {
			pods = append(pods, pod)
		}
	}
	x.running = podtable.New(len(running))
	for _, pod := range running {
		x.running.Put(pod, pod.Spec.NodeName)
	}
	x.problem = sortedProblem(p)
	x.waiting = newWaiting(&s, &x.problem, pods)
	x.nominate(p.Nominated, nil)
	x.problem.Running = running
	x.cluster = hosts.NewCluster(&x.problem)
	x.problem.Running = nil
	return x
}

// Observe sets the observer of [Session.Plan] from now on; nil for none. Forks begin without one.
func (x *Session) Observe(o scheduling.Observer) { x.observer = o }

// Plan plans as [Planner.Plan] does for the session's problem.
func (x *Session) Plan(ctx context.Context) (*scheduling.Plan, error) {
	facts, err := x.facts()
	if err != nil {
		return nil, err
	}
	facts.Observer = x.observer
	plan, err := solve(ctx, facts)
	if err != nil || len(x.problem.SpotPolicies) == 0 {
		return plan, err
	}
	p := x.Problem()
	if err := stateShares(ctx, &p, facts, plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// facts is the session's problem, ready to be compiled. With SpotPolicies it is read anew, because one more pod may change
// which pods they choose.
func (x *Session) facts() (*instance.Facts, error) {
	x.ready()
	if len(x.problem.SpotPolicies) > 0 {
		p := x.Problem()
		return instance.NewFacts(&p, &x.solver)
	}
	problem := x.problem
	problem.Pods = x.waiting.pods
	c := validate.NewChecker()
	if c.Choice(&problem); len(c.Faults.List) > 0 {
		return nil, c.Faults.Err()
	}
	return &instance.Facts{
		Problem: &problem, Solver: &x.solver, Readings: x.waiting.readings(), Cluster: x.cluster, Spaces: x.running.Spaces, Memory: x.memory,
	}, nil
}

// Problem returns the session's problem, with every list in the order of names. The caller owns the lists; the session
// owns the objects, but for copies of pods that have moved. A controller that also disrupts makes its
// disruption.Cluster of the result; reading that costs 3 to 6 % of the time of a plan for 1,000 or 5,000 nodes.
func (x *Session) Problem() scheduling.Problem {
	x.ready()
	p := cloned(x.problem)
	p.Pods = slices.Clone(x.waiting.pods)
	p.Running = make([]*corev1.Pod, 0, x.running.Count)
	for pod, node := range x.running.All() {
		p.Running = append(p.Running, podspec.OnNode(pod, node))
	}
	slices.SortFunc(p.Running, podspec.ComparePods)
	return p
}

// Explain returns an [Explainer] for a plan of the session's problem.
func (x *Session) Explain(plan *scheduling.Plan) (*Explainer, error) {
	return Planner{Policy: x.solver}.Explain(x.Problem(), plan)
}

// ignorePreferences leaves preferences of pods out of further plans, so that none costs a pod its place.
func (x *Session) ignorePreferences() {
	x.solver.Preferences = scheduling.PreferencesIgnore
	x.memory, x.waiting = x.memory.OffersOnly(), newWaiting(&x.solver, &x.problem, nil)
}

// Fork returns a session with the same problem: later changes of one do not show in the other. It costs little,
// whatever the size of the cluster. The two share the record of unavailable offerings until a Delta brings another one.
func (x *Session) Fork() *Session {
	x.ready()
	return &Session{
		solver: x.solver, problem: x.problem, running: x.running.Fork(), waiting: x.waiting.fork(),
		cluster: x.cluster, memory: x.memory.Fork(),
	}
}
