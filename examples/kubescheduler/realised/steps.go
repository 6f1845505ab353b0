package realised

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// StepsOutcome is how the steps of a plan of disruption ended. Prices are per hour, of all nodes
// whose price is known, as in [disruption.ConsolidationSummary].
type StepsOutcome struct {
	// Before is the price of the cluster, Planned that after the steps, Expected that after the
	// steps by the plan's model of kube-scheduler (0 where it gives none), and Realised that of all
	// nodes in the end, with nodes that had to be bought.
	Before   offerings.Price `json:"pricePerHourBefore"`
	Planned  offerings.Price `json:"plannedPerHour"`
	Expected offerings.Price `json:"expectedPerHour,omitempty"`
	Realised offerings.Price `json:"realisedPerHour"`
	// Nodes and Pods are the cluster's numbers before the steps, Steps the number of steps.
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	Steps int `json:"steps"`
	// Moved is the number of evictions; Elsewhere that of pods which landed on another node than the
	// step's, including pods evicted again from a node on which no step expected them.
	Moved     int `json:"podsMoved"`
	Elsewhere int `json:"podsElsewhere"`
	// Waited is the number of pods without a node at the end of their step, Later that of machines bought
	// for them beside the steps' launches, and Waiting that of pods without a node at the end.
	Waited  int `json:"podsWaited"`
	Later   int `json:"machinesLater"`
	Waiting int `json:"podsWaiting"`
}

// Over is the realised price over the expected one, or over the planned one where none is expected; 1 where that is 0.
func (o *StepsOutcome) Over() float64 {
	than := o.Planned
	if o.Expected > 0 {
		than = o.Expected
	}
	if than == 0 {
		return 1
	}
	return o.Realised.USD() / than.USD()
}

// add adds another outcome up.
func (o *StepsOutcome) add(x *StepsOutcome) {
	o.Before, o.Planned = offerings.Sum(o.Before, x.Before), offerings.Sum(o.Planned, x.Planned)
	o.Expected, o.Realised = offerings.Sum(o.Expected, x.Expected), offerings.Sum(o.Realised, x.Realised)
	o.Nodes, o.Pods, o.Steps, o.Moved = o.Nodes+x.Nodes, o.Pods+x.Pods, o.Steps+x.Steps, o.Moved+x.Moved
	o.Elsewhere, o.Waited, o.Later, o.Waiting = o.Elsewhere+x.Elsewhere, o.Waited+x.Waited, o.Later+x.Later, o.Waiting+x.Waiting
}

// Steps are the steps of a plan of disruption, to be carried out with kube-scheduler.
type Steps struct {
	Cluster *disruption.Cluster
	Plan    *disruption.ConsolidationPlan
	// Planner plans for pods that have no place after a step.
	Planner Planner
}

// Run carries the steps out one by one. The nodes that the plan cordons are closed before the first
// of them. A step's launches join and its nodes are closed; the pods on these are evicted wave by
// wave, each of which kube-scheduler binds as it likes when it has left, and then the nodes go. The loop
// plans for pods without a node until they have one. Pods that waited before the first step take no part.
//
// order 0 keeps the plan's order of the pods of a wave; any other number is the seed of a random order of
// pods. Nodes are listed in random order with either. Evictions and claims are handled as in [Loop.Run]. The
// cluster is not changed. An error means that the plan, or one after it, could not be carried out or made.
func (s Steps) Run(ctx context.Context, order uint64) (*StepsOutcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	scheduler, err := oracle.NewSchedulerForSteps(ctx, s.Cluster)
	if err != nil {
		return nil, err
	}
	r := &stepsRun{
		run: run{
			scheduler: scheduler, problem: s.Cluster.Problem,
			dice:    rand.New(rand.NewPCG(order, 2)), //nolint:gosec // an order, not a secret
			outcome: Outcome{Rounds: 1},
		},
		planner: s.Planner, ordered: order == 0, moved: map[string]bool{},
	}
	summary := &s.Plan.Summary
	r.out = StepsOutcome{
		Before: summary.PricePerHourBefore, Planned: summary.PricePerHourAfter,
		Nodes: len(s.Cluster.Nodes), Pods: len(s.Cluster.Running), Steps: len(s.Plan.Steps),
	}
	if summary.AfterScheduling != nil {
		r.out.Expected = summary.AfterScheduling.PricePerHourAfter
	}
	if err := r.begin(s.Plan.Cordon); err != nil {
		return nil, err
	}
	for i := range s.Plan.Steps {
		if err := r.step(ctx, &s.Plan.Steps[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	r.out.Elsewhere, r.out.Later, r.out.Waiting = r.outcome.Elsewhere, r.outcome.Later, r.outcome.Waiting
	r.out.Realised = offerings.Sum(r.out.Planned, r.outcome.Realised)
	return &r.out, nil
}

// stepsRun is the state of a [Steps.Run]. The embedded run counts only further purchases.
type stepsRun struct {
	run
	planner Planner
	ordered bool
	moved   map[string]bool // pods that have been evicted before
	out     StepsOutcome
}

// begin puts the cluster there as it is, and closes nodes.
func (r *stepsRun) begin(cordon []string) error {
	p := r.problem
	p.Pods = nil
	r.problem.Pods, r.problem.Nodes, r.problem.Running, r.problem.Nominated = nil, nil, nil, nil
	if err := r.joinAll(&p, nil, nil); err != nil {
		return err
	}
	return r.closeTo(cordon)
}

// joinAll lets nodes join, in an order drawn at random: those of a problem, or the launches that are given,
// whose names as nodes it notes.
func (r *stepsRun) joinAll(p *scheduling.Problem, launches []scheduling.Launch, named map[string]string) error {
	bought := slices.Clone(launches)
	for i := range bought {
		bought[i].Pods = nil
	}
	cluster, err := oracle.CarryOut(p, &scheduling.Plan{Launches: bought}, nil)
	if err != nil {
		return err
	}
	if launches != nil {
		cluster.Nodes = slices.DeleteFunc(cluster.Nodes, func(n oracle.Node) bool { return n.Launch == nil })
	}
	r.dice.Shuffle(len(cluster.Nodes), func(i, j int) { cluster.Nodes[i], cluster.Nodes[j] = cluster.Nodes[j], cluster.Nodes[i] })
	for i := range cluster.Nodes {
		node := &cluster.Nodes[i]
		if node.Launch != nil {
			named[node.Launch.Name] = node.Name
		}
		if err := r.join(node); err != nil {
			return err
		}
	}
	return nil
}

// closeTo keeps further pods off nodes that are there.
func (r *stepsRun) closeTo(names []string) error {
	for i, node := range r.problem.Nodes {
		if node.Spec.Unschedulable || !slices.Contains(names, node.Name) {
			continue
		}
		node = node.DeepCopy()
		node.Spec.Unschedulable = true
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		r.problem.Nodes[i] = node
		if err := r.scheduler.UpdateNode(node); err != nil {
			return err
		}
	}
	return nil
}

// step carries one step out, and buys for the pods that have no node after it.
func (r *stepsRun) step(ctx context.Context, step *disruption.Step) error {
	named := map[string]string{}
	if len(step.Launches) > 0 {
		if err := r.joinAll(&r.problem, step.Launches, named); err != nil {
			return err
		}
	}
	if err := r.closeTo(step.Drain); err != nil {
		return err
	}
	var waiting []oracle.Placement
	for _, wave := range r.waves(step) {
		if !r.ordered {
			r.dice.Shuffle(len(wave), func(i, j int) { wave[i], wave[j] = wave[j], wave[i] })
		}
		for _, w := range wave {
			pod, err := r.evict(w.Pod)
			if err != nil {
				return err
			}
			waiting = append(waiting, oracle.Placement{Pod: pod, Node: cmp.Or(named[w.Node], w.Node)})
		}
		r.queue(waiting)
		var err error
		if waiting, err = r.bind(ctx, waiting, true); err != nil {
			return err
		}
	}
	for _, name := range step.Drain {
		if err := r.remove(name); err != nil {
			return err
		}
	}
	waiting, err := r.bind(ctx, waiting, true)
	if err != nil {
		return err
	}
	r.out.Waited += len(waiting)
	for _, w := range waiting {
		r.problem.Pods = append(r.problem.Pods, w.Pod)
	}
	return r.buy(ctx, r.planner, 1)
}

// waves are the running pods that leave in a step, with their expected nodes: those that the step names, as far as they are
// on nodes that go, or where it says, and in the last wave those that have landed on its nodes without being expected there.
func (r *stepsRun) waves(step *disruption.Step) [][]oracle.Placement {
	running := map[string]*corev1.Pod{}
	for _, pod := range r.problem.Running {
		running[scheduling.PodName(pod)] = pod
	}
	waves := [][]oracle.Placement{nil}
	for _, e := range step.Evictions {
		for e.Wave > len(waves) {
			waves = append(waves, nil)
		}
		if pod := running[e.Pod]; pod != nil && (pod.Spec.NodeName == e.From || slices.Contains(step.Drain, pod.Spec.NodeName)) {
			waves[e.Wave-1] = append(waves[e.Wave-1], oracle.Placement{Pod: pod, Node: e.To})
		}
		delete(running, e.Pod)
	}
	last := len(waves) - 1
	for _, pod := range r.problem.Running {
		if name := scheduling.PodName(pod); r.moved[name] && running[name] != nil && slices.Contains(step.Drain, pod.Spec.NodeName) {
			waves[last] = append(waves[last], oracle.Placement{Pod: pod})
		}
	}
	return waves
}

// evict takes a running pod off its node, and returns the one that comes in its place.
func (r *stepsRun) evict(pod *corev1.Pod) (*corev1.Pod, error) {
	i := slices.Index(r.problem.Running, pod)
	r.problem.Running = slices.Delete(r.problem.Running, i, i+1)
	r.moved[scheduling.PodName(pod)] = true
	r.out.Moved++
	return oracle.Recreated(pod), r.scheduler.Unbind(pod)
}

// remove removes a node with its pods.
func (r *stepsRun) remove(name string) error {
	r.problem.Nodes = slices.DeleteFunc(r.problem.Nodes, func(node *corev1.Node) bool { return node.Name == name })
	r.problem.Running = slices.DeleteFunc(r.problem.Running, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == name })
	return r.scheduler.RemoveNode(name)
}
