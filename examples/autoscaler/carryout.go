package main

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// queue is steps of plans, to be carried out one after the other.
type queue struct {
	steps []disruption.Step
	// names are the nodes that the plan's launches became.
	names map[string]string
	// begun says that the first step is under way, wave how far its evictions are.
	begun bool
	wave  int
}

// reserved is the taint that keeps pods of no step away from machines that a step waits for.
const reserved = "autoscaler.example.com/reserved"

// carryOut takes the first step of a queue as far as it gets now: launch, wait until the
// launches are ready, evict wave by wave, remove the nodes.
func (l *loop) carryOut(q *queue) error {
	if len(q.steps) == 0 {
		return nil
	}
	step := &q.steps[0]
	if !q.begun {
		err := l.begin(q, step)
		if errors.Is(err, errNoCapacity) || errors.Is(err, errStale) {
			l.abandon(q, step)
			return nil
		}
		if err != nil {
			return err
		}
	}
	for i := range step.Launches {
		switch name := q.names[step.Launches[i].Name]; {
		case l.cluster.nodes[name] == nil:
			l.abandon(q, step)
			return nil
		case !l.cluster.ready(name):
			return nil
		}
	}
	q.wave++
	for _, e := range step.Evictions {
		if e.Wave == q.wave {
			l.move(e.Pod, q.node(e.From), q.node(e.To))
		}
	}
	if slices.ContainsFunc(step.Evictions, func(e disruption.Eviction) bool { return e.Wave > q.wave }) {
		return nil
	}
	for _, name := range step.Drain {
		if l.cluster.nodes[q.node(name)] != nil {
			l.lose(q.node(name))
		}
	}
	for i := range step.Launches {
		l.cluster.taint(q.names[step.Launches[i].Name], reserved, false)
	}
	l.ledger.log = append(l.ledger.log, entry{l.now, *step})
	q.steps, q.begun, q.wave = q.steps[1:], false, 0
	return nil
}

// abandon leaves out a step that cannot be finished, because no offering is available or a
// machine that it waits for was interrupted. Its launches stay for all pods. Nodes with an
// interruption notice must go all the same, so the next plan drains them another way.
func (l *loop) abandon(q *queue, step *disruption.Step) {
	l.ledger.skipped++
	l.cordon(q, step, false)
	if q.begun {
		for i := range step.Launches {
			l.cluster.taint(q.names[step.Launches[i].Name], reserved, false)
		}
	}
	l.noticed = l.noticed || step.Reason == disruption.Interrupted
	q.steps, q.begun, q.wave = q.steps[1:], false, 0
}

// node returns the node for a name in the plan, which is that of a launch or of a node.
func (q *queue) node(name string) string {
	if node, ok := q.names[name]; ok {
		return node
	}
	return name
}

// underway are the steps of both queues, with node names in place of launch names. The first step of
// each has begun, and the nodes of all are closed to new pods.
func (l *loop) underway() []disruption.Step {
	var out []disruption.Step
	for _, q := range []*queue{&l.forced, &l.planned} {
		for _, step := range q.steps {
			step.Drain, step.Evictions = slices.Clone(step.Drain), slices.Clone(step.Evictions)
			for i := range step.Drain {
				step.Drain[i] = q.node(step.Drain[i])
			}
			for i := range step.Evictions {
				e := &step.Evictions[i]
				e.From, e.To = q.node(e.From), q.node(e.To)
			}
			out = append(out, step)
		}
	}
	return out
}

// errStale says that the cluster has moved on since a step was planned.
var errStale = errors.New("the cluster has moved on")

// current reports whether the step can still be taken: the nodes to remove are there and hold
// no newer pod, and the nodes that must take pods in are ready. Pods that have ended meanwhile
// need no other place.
func (l *loop) current(q *queue, step *disruption.Step) bool {
	evicted := map[string]bool{}
	for _, e := range step.Evictions {
		evicted[e.Pod] = true
		launched := slices.ContainsFunc(step.Launches, func(x scheduling.Launch) bool { return x.Name == e.To })
		if !launched && e.To != "" && !l.cluster.ready(q.node(e.To)) {
			return false
		}
	}
	for _, name := range step.Drain {
		if l.cluster.nodes[q.node(name)] == nil {
			return false
		}
		for _, pod := range l.cluster.on(q.node(name)) {
			if !evicted[pod] {
				return false
			}
		}
	}
	return true
}

// begin launches the replacements of the nodes that the step removes. A launch whose price
// leaves no saving is refused, but a node with another reason to go gets any machine.
func (l *loop) begin(q *queue, step *disruption.Step) error {
	if !l.current(q, step) {
		return errStale
	}
	limit := offerings.Price(0)
	if step.Reason == disruption.Underutilized {
		limit = step.SavingPerHour
	}
	var bought []string
	for i := range step.Launches {
		name, err := l.buy(&step.Launches[i], limit)
		if err != nil {
			for _, name := range bought {
				l.lose(name)
			}
			return err
		}
		l.cluster.taint(name, reserved, true)
		q.names[step.Launches[i].Name] = name
		bought = append(bought, name)
	}
	q.begun = true
	return nil
}

// cordon keeps new pods away from the nodes that a step removes, or lets them come again.
func (l *loop) cordon(q *queue, step *disruption.Step, on bool) {
	for _, name := range step.Drain {
		l.cluster.taint(q.node(name), scheduling.DisruptedTaint, on)
	}
}

// move evicts a pod. The pod lands on its expected node if there still is room, and otherwise
// becomes pending like any other pod.
func (l *loop) move(name, from, to string) {
	p := l.cluster.pods[name]
	if p == nil || p.Spec.NodeName != from {
		return // it has ended meanwhile, or was lost with its node
	}
	l.ledger.moved++
	l.ledger.moves[name]++
	if !l.cluster.ready(to) || !l.fits(p, to) {
		l.ledger.displaced++
		to = ""
	}
	l.cluster.bind(name, to, l.now)
}

// fits reports whether a node has room for a pod.
func (l *loop) fits(pod *corev1.Pod, node string) bool {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		free := l.cluster.nodes[node].Status.Allocatable[name].DeepCopy()
		for _, other := range append(l.cluster.on(node), scheduling.PodName(agentPod(node))) {
			free.Sub(asked(l.cluster.pods[other], name))
		}
		if free.Cmp(asked(pod, name)) < 0 {
			return false
		}
	}
	return true
}

// asked returns the pod's request of a resource. All pods here have one container.
func asked(pod *corev1.Pod, name corev1.ResourceName) resource.Quantity {
	return pod.Spec.Containers[0].Resources.Requests[name]
}
