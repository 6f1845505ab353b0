package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// queue is the steps of a plan that are not done, carried out one after the other.
type queue struct {
	steps []disruption.Step
	// machines are what the launches became, by the launch's name.
	machines map[string]*machine
	// begun says that the machines of the first step are ordered, wave is the wave of evictions under way and since when.
	begun bool
	wave  int
	since time.Duration
	// asked are the pods of the first step whose eviction was accepted, with their controllers.
	asked map[types.UID]types.UID
	// urgent steps remove interrupted nodes: their pods are evicted as soon as PodDisruptionBudgets allow it, without a wait
	// for the nodes that replace them.
	urgent bool
}

// at is the node for a name in the plan: the machine that a launch became, or a node.
func (q *queue) at(name string) string {
	if m := q.machines[name]; m != nil {
		return m.at()
	}
	return name
}

// closed reports whether a step will remove a node.
func (c *Controller) closed(node string) bool { return c.closing[node] }

// close notes whether a step will remove a node.
func (c *Controller) close(node string, on bool) {
	if c.closing[node] == on {
		return
	}
	c.refresh[node] = true
	if on {
		c.closing[node] = true
	} else {
		delete(c.closing, node)
	}
}

// underway are the steps that are not done, with the names of nodes and of machines in flight in place of launches.
func (c *Controller) underway() []disruption.Step {
	var out []disruption.Step
	for _, q := range c.queues {
		for _, step := range q.steps {
			step.Drain, step.Evictions = slices.Clone(step.Drain), slices.Clone(step.Evictions)
			for i := range step.Drain {
				step.Drain[i] = q.at(step.Drain[i])
			}
			for i := range step.Evictions {
				e := &step.Evictions[i]
				e.From, e.To = q.at(e.From), q.at(e.To)
			}
			out = append(out, step)
		}
	}
	return out
}

// disrupt plans disruptions when it is time to: at once for nodes that are about to be interrupted, for all other reasons when no
// pod waits for a plan and no step is under way.
func (c *Controller) disrupt(ctx context.Context) error {
	if nodes := c.interrupted(); len(nodes) > 0 {
		for _, q := range c.queues {
			if !q.urgent && q.uses(nodes) {
				c.abandon(q, fmt.Errorf("%w: a node is interrupted", errStale))
			}
		}
		for _, name := range nodes {
			c.close(name, false) // a plan has no step for a node that is being removed
		}
		return c.planSteps(ctx, disruption.Interrupted)
	}
	if c.opts.DisruptEvery < 0 || c.clock.elapsed < c.disruptAt || len(c.queues) > 0 || c.pods.unplanned(c.state) {
		return nil
	}
	c.disruptAt = c.clock.elapsed + c.opts.DisruptEvery
	return c.planSteps(ctx)
}

// interrupted are the nodes with a notice that have to be planned for: no urgent step removes them yet, and none was looked for in
// the last replanUrgent.
func (c *Controller) interrupted() []string {
	var out []string
	for _, m := range c.machines {
		if m.Facts.Interruption != nil && m.node != "" && !m.terminating && c.clock.elapsed >= m.replanAt && c.state.Nodes()[m.node] != nil && !c.leaves(m.node) {
			out = append(out, m.node)
		}
	}
	return out
}

// leaves reports whether an urgent step removes a node.
func (c *Controller) leaves(node string) bool {
	return slices.ContainsFunc(c.queues, func(q *queue) bool {
		return q.urgent && slices.ContainsFunc(q.steps, func(s disruption.Step) bool {
			return slices.ContainsFunc(s.Drain, func(name string) bool { return q.at(name) == node })
		})
	})
}

// replanUrgent is how long after a plan without a step for an interrupted node the next plan is made.
const replanUrgent = 5 * time.Second

// uses reports whether a step of the queue removes one of the nodes, or moves pods to one.
func (q *queue) uses(nodes []string) bool {
	uses := func(name string) bool { return slices.Contains(nodes, q.at(name)) }
	return slices.ContainsFunc(q.steps, func(s disruption.Step) bool {
		return slices.ContainsFunc(s.Drain, uses) || slices.ContainsFunc(s.Evictions, func(e disruption.Eviction) bool { return uses(e.To) })
	})
}

// planSteps plans disruptions for the given reasons, or for those of the options, and queues the steps.
func (c *Controller) planSteps(ctx context.Context, reasons ...disruption.Reason) error {
	if err := c.tell(); err != nil {
		return err
	}
	planner := c.opts.Disruption
	planner.Now = c.clock.now
	if len(reasons) > 0 {
		planner.Reasons = reasons
	}
	cluster := c.cluster()
	planCtx, cancel := c.planContext(ctx)
	defer cancel()
	plan, err := planner.Plan(planCtx, cluster)
	if err != nil {
		return err
	}
	c.count(func(s *Stats) { s.DisruptionPlans++ })
	c.disruptionWarned.Log(ctx, c.opts.Log, plan.Warnings)
	if c.opts.Consolidating != nil {
		if err := c.opts.Consolidating(planner, cluster, plan); err != nil {
			return err
		}
	}
	q := &queue{steps: plan.Steps, machines: map[string]*machine{}, urgent: len(reasons) > 0}
	for i := range plan.Steps {
		for _, name := range plan.Steps[i].Drain {
			c.close(name, true) // so that no pod is scheduled to a node that is removed later
		}
	}
	if q.urgent {
		for _, m := range c.machines {
			if m.Facts.Interruption != nil && m.node != "" {
				m.replanAt = c.clock.elapsed + replanUrgent
				c.close(m.node, true) // also where the plan has no step for it
			}
		}
	}
	if len(q.steps) > 0 {
		c.queues = append(c.queues, q)
	}
	return nil
}

// cluster is the input of a plan of disruption.
func (c *Controller) cluster() disruption.Cluster {
	out := disruption.Cluster{Problem: c.state.Session().Problem(), PodDisruptionBudgets: c.state.Budgets(), Underway: c.underway()}
	for _, id := range slices.Sorted(maps.Keys(c.machines)) {
		m := c.machines[id]
		if m.node == "" && m.shown == absent || m.node != "" && c.state.Nodes()[m.node] == nil {
			continue
		}
		facts := m.Facts
		facts.Node = m.at()
		if facts.Created.IsZero() {
			facts.Created = m.Created
		}
		facts.Terminating = facts.Terminating || m.terminating
		if node := c.state.Nodes()[m.node]; node != nil {
			if facts.Initialized.IsZero() && m.ready {
				facts.Initialized = readySince(node)
			}
			if facts.LastPodEvent.IsZero() {
				facts.LastPodEvent = c.state.LastPodEvent(node.Name, c.clock.now)
			}
		}
		out.Machines = append(out.Machines, facts)
	}
	for name, node := range c.state.Nodes() {
		if c.ofNode(node) == nil {
			out.Machines = append(out.Machines, disruption.Machine{Node: name, MustStay: "the provider does not list its machine"})
		}
	}
	return out
}

// readySince is since when a node is ready.
func readySince(node *corev1.Node) time.Time {
	if ready := lifecycle.Ready(node); ready != nil && ready.Status == corev1.ConditionTrue {
		return ready.LastTransitionTime.Time
	}
	return time.Time{}
}

// errStale says that the cluster has changed since a step was planned.
var errStale = errors.New("the cluster has changed since the step was planned")

// carryOut takes the steps of all queues as far as they get now.
func (c *Controller) carryOut(ctx context.Context) error {
	var errs []error
	for _, q := range slices.Clone(c.queues) {
		errs = append(errs, c.carryOutQueue(ctx, q))
	}
	return errors.Join(errs...)
}

// carryOutQueue takes the steps of a queue as far as they get now.
func (c *Controller) carryOutQueue(ctx context.Context, q *queue) error {
	for len(q.steps) > 0 {
		done, err := c.advance(ctx, q)
		if errors.Is(err, errStale) || errors.Is(err, ErrInsufficientCapacity) {
			c.abandon(q, err)
			return nil
		}
		if err != nil || !done {
			return err
		}
		step := q.steps[0]
		c.count(func(s *Stats) { s.Steps, s.Saved = s.Steps+1, s.Saved+step.SavingPerHour })
		c.opts.Log.Info("step done", "reason", step.Reason, "removed", len(step.Drain), "launched", len(step.Launches), "saving", step.SavingPerHour)
		if c.opts.StepDone != nil {
			c.opts.StepDone(step)
		}
		q.steps, q.begun, q.wave, q.asked = q.steps[1:], false, 0, nil
	}
	c.dequeue(q)
	return nil
}

// dequeue leaves out a queue.
func (c *Controller) dequeue(q *queue) {
	c.queues = slices.DeleteFunc(slices.Clone(c.queues), func(x *queue) bool { return x == q })
}

// abandon leaves out a queue, because a step needs those before it. Machines that were launched for it stay for all pods, and
// nodes that it would have removed take in pods again; for nodes that are about to be interrupted the next round plans again.
func (c *Controller) abandon(q *queue, reason error) {
	c.opts.Log.Warn("steps abandoned", "reason", reason, "steps", len(q.steps))
	c.count(func(s *Stats) { s.AbandonedSteps += len(q.steps) })
	for i := range q.steps {
		for _, name := range q.steps[i].Drain {
			c.close(q.at(name), false)
			if m := c.byName[q.at(name)]; m != nil {
				m.replanAt = 0
			}
		}
	}
	c.dequeue(q)
}

// advance takes the first step of a queue as far as it gets now, and reports whether it is done.
func (c *Controller) advance(ctx context.Context, q *queue) (done bool, err error) {
	step := &q.steps[0]
	if !q.begun {
		if !c.current(q, step) {
			return false, errStale
		}
		if err := c.launchFor(ctx, q, step); err != nil {
			return false, err
		}
		q.begun, q.wave, q.since, q.asked = true, 1, c.clock.elapsed, map[types.UID]types.UID{}
	}
	ready := true
	for i := range step.Launches {
		m := q.machines[step.Launches[i].Name]
		if c.gone(m) {
			return false, errStale
		}
		ready = ready && m.ready
	}
	if q.urgent {
		return c.remove(ctx, q, step)
	}
	if !ready {
		q.since = c.clock.elapsed
		return false, nil // RegistrationTimeout bounds the time
	}
	if c.clock.elapsed-q.since > c.opts.DrainTimeout {
		return false, fmt.Errorf("%w: evictions took longer than %s", errStale, c.opts.DrainTimeout)
	}
	last := 1
	for _, e := range step.Evictions {
		last = max(last, e.Wave)
	}
	for ; q.wave <= last; q.wave++ {
		moved, err := c.evictWave(ctx, q, step)
		if err != nil || !moved {
			return false, err
		}
		q.since = c.clock.elapsed
	}
	return c.remove(ctx, q, step)
}

// current reports whether a step can still be taken: the nodes to remove are there and have no pod that the step does not
// know, and the nodes that take in pods are there.
func (c *Controller) current(q *queue, step *disruption.Step) bool {
	evicted := map[string]bool{}
	for _, e := range step.Evictions {
		evicted[e.Pod] = true
		launched := slices.ContainsFunc(step.Launches, func(x scheduling.Launch) bool { return x.Name == e.To })
		if !launched && e.To != "" && c.state.Nodes()[q.at(e.To)] == nil && c.byName[q.at(e.To)] == nil {
			return false
		}
	}
	for _, name := range step.Drain {
		if c.state.Nodes()[q.at(name)] == nil {
			return q.urgent
		}
		for pod, p := range c.state.PodsOn(q.at(name)) {
			if !evicted[pod] && lifecycle.Evictable(p) && !lifecycle.Leaving(p) && !q.urgent {
				return false
			}
		}
	}
	return true
}

// launchFor orders the machines of a step. A machine of a step that saves must not cost the saving; for all other reasons any
// option will do. Where one cannot be had, the others are terminated.
func (c *Controller) launchFor(ctx context.Context, q *queue, step *disruption.Step) error {
	saving := offerings.Price(0)
	if step.Reason == disruption.Underutilized {
		saving = step.SavingPerHour
	}
	machines := c.order(ctx, step.Launches, saving)
	if i := slices.Index(machines, nil); i >= 0 {
		for _, m := range machines {
			if m != nil {
				m.terminating = true
			}
		}
		return fmt.Errorf("none of the %d options of launch %s can be had: %w", len(step.Launches[i].Options), step.Launches[i].Name, ErrInsufficientCapacity)
	}
	for i, m := range machines {
		q.machines[step.Launches[i].Name] = m
	}
	return nil
}

// evictWave evicts the pods of the current wave, and reports whether they have all left and pods of the same controllers
// have nodes again.
func (c *Controller) evictWave(ctx context.Context, q *queue, step *disruption.Step) (moved bool, err error) {
	moved = true
	for _, e := range step.Evictions {
		if e.Wave != q.wave {
			continue
		}
		pod := c.state.Pod(e.Pod)
		if pod == nil || pod.Spec.NodeName != q.at(e.From) || lifecycle.Ended(pod) {
			continue
		}
		moved = false
		if err := c.evict(ctx, q, pod); err != nil {
			return false, err
		}
	}
	if !moved {
		return false, nil
	}
	owners := map[types.UID]bool{}
	for _, owner := range q.asked {
		owners[owner] = owner != ""
	}
	for _, pod := range c.state.Pending() {
		if owners[controllerUID(pod)] {
			return false, nil
		}
	}
	return true, nil
}

// evict evicts a pod once.
func (c *Controller) evict(ctx context.Context, q *queue, pod *corev1.Pod) error {
	if _, asked := q.asked[pod.UID]; asked || pod.DeletionTimestamp != nil {
		return nil
	}
	err := c.evictor.Evict(ctx, pod)
	switch {
	case errors.Is(err, ErrEvictionBlocked):
		c.count(func(s *Stats) { s.BlockedEvictions++ })
		return nil
	case err != nil:
		return fmt.Errorf("evict pod %s: %w", scheduling.PodName(pod), err)
	}
	q.asked[pod.UID] = controllerUID(pod)
	c.count(func(s *Stats) { s.Evictions++ })
	return nil
}

// controllerUID is the UID of a pod's controller; "" without one.
func controllerUID(pod *corev1.Pod) types.UID {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.UID
	}
	return ""
}

// remove terminates the machines of a step's nodes once they are empty. Pods on them are evicted, also those that came before
// the taint: first those that are expected on a node that is there, because they are away for the shortest time, and
// PodDisruptionBudgets then allow the next ones.
func (c *Controller) remove(ctx context.Context, q *queue, step *disruption.Step) (done bool, err error) {
	there := map[string]bool{}
	for _, e := range step.Evictions {
		there[e.Pod] = c.state.Nodes()[q.at(e.To)] != nil
	}
	var first, then []*corev1.Pod
	for _, name := range step.Drain {
		on := c.state.PodsOn(q.at(name))
		for _, pod := range slices.Sorted(maps.Keys(on)) {
			switch {
			case !lifecycle.Evictable(on[pod]):
			case there[pod]:
				first = append(first, on[pod])
			default:
				then = append(then, on[pod])
			}
		}
	}
	for _, pod := range slices.Concat(first, then) {
		if err := c.evict(ctx, q, pod); err != nil {
			return false, err
		}
	}
	if len(first)+len(then) > 0 {
		return false, nil
	}
	for _, name := range step.Drain {
		node := c.state.Nodes()[q.at(name)]
		if node == nil {
			continue
		}
		m := c.ofNode(node)
		if m == nil {
			return false, fmt.Errorf("%w: node %s has no machine", errStale, node.Name)
		}
		if m.terminating {
			continue
		}
		if err := c.terminate(ctx, m); err != nil {
			return false, err
		}
	}
	return true, nil
}

// setTaints makes the nodes that steps will remove have [Taint], and no others.
func (c *Controller) setTaints(ctx context.Context) error {
	underway := c.underway()
	for name := range c.closing {
		if c.state.Nodes()[name] == nil && !slices.ContainsFunc(underway, func(s disruption.Step) bool { return slices.Contains(s.Drain, name) }) {
			delete(c.closing, name)
		}
	}
	var errs []error
	for name, node := range c.state.Nodes() {
		if HasTaint(node, Taint()) == c.closed(name) {
			continue
		}
		if err := c.evictor.SetTaint(ctx, name, Taint(), c.closed(name)); err != nil {
			errs = append(errs, fmt.Errorf("taint node %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
