package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// NewSchedulerForSteps starts a scheduler for a cluster whose pods will move: its fake API
// server also holds claims for the ephemeral volumes of pods that run, as if their
// controllers had created them anew.
func NewSchedulerForSteps(ctx context.Context, c *disruption.Cluster) (*Scheduler, error) {
	p := c.Problem
	p.Pods = slices.Concat(p.Pods, p.Running)
	return NewSchedulerFor(ctx, &p)
}

// CheckSteps carries a disruption plan out step by step and asks a scheduler about every
// pod that moves: once a step's launches have become nodes, the pods of each wave leave
// together, and each must pass every filter on the node where it is expected to land, with
// the other pods of its wave and of the waves before where they are expected. Nodes that were
// being removed before, and drained nodes until their last pod has left, may still count as
// domains of spread constraints. It returns the decisions in which the scheduler differs, up to
// the end of the first step that has any; nil if there are none. The scheduler is emptied first.
// Cluster and plan are not changed. An error means that the plan cannot be carried out at all,
// for example because it names an unknown pod.
func CheckSteps(ctx context.Context, s *Scheduler, c *disruption.Cluster, plan *disruption.ConsolidationPlan) ([]Disagreement, error) {
	m := &stepReplay{replay: &replay{world: newWorld(&c.Problem), scheduler: s, plan: &scheduling.Plan{}}, at: map[string]*corev1.Pod{}}
	if err := m.run(ctx, nil); err != nil {
		return nil, err
	}
	for _, pod := range m.running {
		m.at[scheduling.PodName(pod)] = pod
	}
	for i := range plan.Steps {
		if err := m.step(ctx, &plan.Steps[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if len(m.found) > 0 {
			break
		}
	}
	return m.found, nil
}

// stepReplay is a replay in which pods move.
type stepReplay struct {
	*replay
	at map[string]*corev1.Pod // the pods that run, as they are bound
	// left counts the pods that nodes which the step drains, and are there, still have to lose.
	left map[string]int
}

// step carries one step out.
func (m *stepReplay) step(ctx context.Context, step *disruption.Step) error {
	for i := range step.Launches {
		l := &step.Launches[i]
		node, err := m.bought(l.Name, l, 0)
		if err != nil {
			return err
		}
		m.cluster.Nodes = append(m.cluster.Nodes, node)
		if err := m.add(ctx, &node); err != nil {
			return err
		}
	}
	waves := map[int][]disruption.Eviction{}
	last := 0
	m.left = map[string]int{}
	for _, name := range step.Drain {
		m.left[name] = 0
	}
	for _, e := range step.Evictions {
		if _, drained := m.left[e.From]; drained {
			m.left[e.From]++
		}
		if e.Wave < 1 {
			return fmt.Errorf("pod %s leaves in wave %d", e.Pod, e.Wave)
		}
		waves[e.Wave] = append(waves[e.Wave], e)
		last = max(last, e.Wave)
	}
	for w := 1; w <= last; w++ {
		if err := m.wave(ctx, waves[w]); err != nil {
			return err
		}
	}
	for _, name := range step.Drain {
		if _, there := m.left[name]; !there {
			continue // it is gone already
		}
		if err := m.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// wave evicts pods together, and then asks the scheduler to admit them. Pods without an expected
// node stay pending.
func (m *stepReplay) wave(ctx context.Context, evictions []disruption.Eviction) error {
	var placements []Placement
	for _, e := range evictions {
		pod, ok := m.at[e.Pod]
		if !ok || pod.Spec.NodeName != e.From {
			return fmt.Errorf("pod %s is to leave %s and does not run there", e.Pod, e.From)
		}
		if err := m.scheduler.Unbind(pod); err != nil {
			return err
		}
		delete(m.at, e.Pod)
		if _, drained := m.left[e.From]; drained {
			m.left[e.From]--
		}
		if e.To == "" {
			continue
		}
		placements = append(placements, Placement{Pod: Recreated(pod), Node: e.To})
		m.at[e.Pod] = onNode(pod, e.To)
	}
	inTurn(placements)
	return m.admitAll(ctx, placements)
}

// admitAll lets the scheduler admit pods. Refused pods are tried again once the nodes that are being
// removed have gone with their pods, because kube-scheduler then no longer counts these.
func (m *stepReplay) admitAll(ctx context.Context, placements []Placement) error {
	if err := m.place(ctx, placements); err != nil || len(m.found) == 0 {
		return err
	}
	refused := map[string]bool{}
	for _, d := range m.found {
		refused[d.Pod] = true
	}
	removed, err := m.removeEmptied()
	if err != nil || !removed {
		return err
	}
	m.found = nil
	return m.place(ctx, slices.DeleteFunc(placements, func(p Placement) bool { return !refused[scheduling.PodName(p.Pod)] }))
}

// removeEmptied takes away the nodes that were being removed all along, and those of the step that have
// lost their last pod. It reports whether there are any.
func (m *stepReplay) removeEmptied() (removed bool, err error) {
	var going []string
	for _, name := range slices.Sorted(maps.Keys(m.left)) {
		if m.left[name] == 0 {
			going = append(going, name)
		}
	}
	for _, node := range m.nodes {
		if leaving(node) && !slices.Contains(going, node.Name) {
			going = append(going, node.Name)
		}
	}
	for _, name := range going {
		if !slices.ContainsFunc(m.cluster.Nodes, func(n Node) bool { return n.Name == name }) {
			continue
		}
		if err := m.remove(name); err != nil {
			return removed, err
		}
		delete(m.left, name)
		removed = true
	}
	return removed, nil
}

func (m *stepReplay) remove(node string) error {
	m.cluster.Nodes = slices.DeleteFunc(m.cluster.Nodes, func(n Node) bool { return n.Name == node })
	return m.scheduler.RemoveNode(node)
}

// Recreated is the pod that the controller of an evicted one creates in its place.
func Recreated(pod *corev1.Pod) *corev1.Pod {
	out := onNode(pod, "")
	out.DeletionTimestamp, out.DeletionGracePeriodSeconds, out.Finalizers = nil, nil, nil
	out.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return out
}

func onNode(pod *corev1.Pod, node string) *corev1.Pod {
	out := pod.DeepCopy()
	out.Spec.NodeName = node
	return out
}
