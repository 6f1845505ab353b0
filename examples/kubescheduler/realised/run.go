package realised

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// run is a loop that is carried out in one way.
type run struct {
	later     map[string]bool // see Loop
	way       Way
	scheduler *oracle.Scheduler
	// problem is the input of the next plan: pods without a node, the nodes there are, and
	// their pods.
	problem scheduling.Problem
	rank    map[string]int // of pods, by namespace/name
	dice    *rand.Rand
	outcome Outcome
}

// untilBound carries out the first plan, and buys until no further pod gets a node.
func (r *run) untilBound(ctx context.Context, l *Loop) (*Outcome, error) {
	bound, err := r.round(ctx, l.problem, l.first)
	if err != nil {
		return nil, err
	}
	return &r.outcome, r.buy(ctx, l.planner, bound)
}

// buy plans for the pods that have no node, again and again as long as the round before got a
// node for any, or until bound rounds are done. The pods left then are planned for no more.
func (r *run) buy(ctx context.Context, planner Planner, bound int) error {
	for len(r.problem.Pods) > 0 && bound > 0 {
		plan, err := planner.Plan(ctx, r.problem)
		if err != nil {
			return fmt.Errorf("planning round %d: %w", r.outcome.Rounds+1, err)
		}
		r.outcome.Waiting += len(plan.Unschedulable)
		if bound, err = r.round(ctx, &r.problem, plan); err != nil {
			return err
		}
	}
	r.outcome.Waiting += len(r.problem.Pods)
	r.problem.Pods = nil
	return nil
}

// round lets the machines of a plan join and pods be bound. It returns the number of bound pods.
func (r *run) round(ctx context.Context, p *scheduling.Problem, plan *scheduling.Plan) (bound int, err error) {
	first := r.outcome.Rounds == 0
	r.outcome.Rounds++
	cluster, err := oracle.CarryOut(p, plan, nil)
	if err != nil {
		return 0, fmt.Errorf("round %d: %w", r.outcome.Rounds, err)
	}
	r.outcome.Realised += price(&plan.Summary)
	if !first {
		r.outcome.Later += plan.Summary.Nodes
	}
	var joining []*oracle.Node
	for i := range cluster.Nodes {
		node := &cluster.Nodes[i]
		if node.Launch != nil {
			joining = append(joining, node)
		} else if first {
			if err := r.join(node); err != nil {
				return 0, err
			}
		}
	}
	r.dice.Shuffle(len(joining), func(i, j int) { joining[i], joining[j] = joining[j], joining[i] })
	waiting := cluster.Placements
	for _, pod := range cluster.Left {
		if first && r.later[scheduling.PodName(pod)] {
			waiting = append(waiting, oracle.Placement{Pod: pod})
		}
	}
	r.queue(waiting)
	if r.way.Nominated == All {
		for _, w := range waiting {
			if err := r.scheduler.Nominate(w.Pod, w.Node); err != nil {
				return 0, err
			}
		}
	}
	planned := len(waiting)
	batches := max(r.way.Batches, 1)
	for b := range batches {
		for _, node := range joining[len(joining)*b/batches : len(joining)*(b+1)/batches] {
			if err := r.join(node); err != nil {
				return 0, err
			}
		}
		if waiting, err = r.bind(ctx, waiting, first); err != nil {
			return 0, err
		}
	}
	r.problem.Pods = r.problem.Pods[:0:0]
	for _, w := range waiting {
		r.problem.Pods = append(r.problem.Pods, w.Pod)
	}
	if first {
		r.outcome.Elsewhere += len(waiting)
	}
	return planned - len(waiting), nil
}

// queue puts pods into the order in which kube-scheduler takes them.
func (r *run) queue(pods []oracle.Placement) {
	slices.SortStableFunc(pods, func(a, b oracle.Placement) int {
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b.Pod), corev1helpers.PodPriority(a.Pod)), cmp.Compare(r.rank[scheduling.PodName(a.Pod)], r.rank[scheduling.PodName(b.Pod)]))
	})
}

// join adds a node with its pods.
func (r *run) join(node *oracle.Node) error {
	if err := r.scheduler.AddNode(node.Node); err != nil {
		return err
	}
	r.problem.Nodes = append(r.problem.Nodes, node.Node)
	for _, pod := range slices.Concat(node.Running, node.Daemons) {
		if err := r.scheduler.Bind(pod, node.Name); err != nil {
			return err
		}
		r.problem.Running = append(r.problem.Running, pod)
	}
	return nil
}

// bind has kube-scheduler try pods until no more of them get a node. It returns the pods
// without a node.
func (r *run) bind(ctx context.Context, pods []oracle.Placement, first bool) ([]oracle.Placement, error) {
	again := pods // to be tried, of those without a node
	left := map[*corev1.Pod]bool{}
	for _, p := range pods {
		left[p.Pod] = true
	}
	for len(again) > 0 {
		var refused []oracle.Placement
		for _, p := range again {
			if r.way.Nominated == InTurn {
				if err := r.scheduler.Nominate(p.Pod, p.Node); err != nil {
					return nil, err
				}
			}
			node, refusal, err := r.scheduler.Schedule(ctx, p.Pod)
			if err != nil {
				return nil, err
			}
			if refusal != nil {
				if r.dependent(p.Pod) {
					refused = append(refused, p)
				}
				continue
			}
			delete(left, p.Pod)
			if first && node != p.Node {
				r.outcome.Elsewhere++
			}
			running := p.Pod.DeepCopy()
			running.Spec.NodeName = node
			r.problem.Running = append(r.problem.Running, running)
		}
		if len(refused) == len(again) {
			break
		}
		again = refused
	}
	return slices.DeleteFunc(slices.Clone(pods), func(p oracle.Placement) bool { return !left[p.Pod] }), nil
}

// dependent reports whether a pod that no node admits may be admitted once other pods
// have a node.
func (r *run) dependent(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return len(pod.Spec.TopologySpreadConstraints)+len(r.problem.DefaultSpread) > 0 || a != nil && a.PodAffinity != nil
}
