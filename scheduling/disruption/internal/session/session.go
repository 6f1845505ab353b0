package session

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Sessions hold the cluster as it is after some steps. Nodes that take in no pods are closed in both sessions ([Closed]):
// they keep their pods, labels and capacity, and have no room.
type Sessions struct {
	// Launch may launch machines. Place has no NodePools, and does not hold the pods that await a launch, because topology
	// spread and pod affinity would count them on no node; nil until [Sessions.Divide].
	Launch, Place *provisioning.Session
	// deferred are changes that the sessions have not been told yet; nil while they are told at once.
	deferred *scheduling.Delta
	// unbound caches copies of pods without a node, by name. Forks share it.
	unbound map[string]*corev1.Pod
}

// New begins with a session that may launch machines.
func New(launch *provisioning.Session) *Sessions {
	return &Sessions{Launch: launch, unbound: map[string]*corev1.Pod{}}
}

// Divide opens the session that may not launch machines, without the given pods.
func (s *Sessions) Divide(without []*corev1.Pod, pools []*scheduling.NodePool) error {
	s.Place = s.Launch.Fork()
	var gone scheduling.Removed
	for _, pod := range without {
		gone.Pods = append(gone.Pods, podspec.PodKey(pod))
	}
	for _, pool := range pools {
		gone.NodePools = append(gone.NodePools, pool.Name)
	}
	return s.Place.Apply(scheduling.Delta{Removed: gone})
}

// Fork is an independent copy of the sessions. The fork of nil is nil.
func (s *Sessions) Fork() *Sessions {
	if s == nil {
		return nil
	}
	return &Sessions{Launch: s.Launch.Fork(), Place: s.Place.Fork(), deferred: s.deferred, unbound: s.unbound}
}

// Defer lets the sessions wait for changes until [Sessions.ApplyDeferred], because a change takes time in proportion to
// the cluster, and no question is asked while steps are applied that are known to be possible. Until then only virtual pods
// may move twice, and no node may be added and removed.
func (s *Sessions) Defer() { s.deferred = &scheduling.Delta{} }

// ApplyDeferred tells the sessions the changes since [Sessions.Defer].
func (s *Sessions) ApplyDeferred() error {
	d := s.deferred
	s.deferred = nil
	return s.Apply(*d)
}

// Apply makes a change in both sessions, or defers it.
func (s *Sessions) Apply(d scheduling.Delta) error {
	if held := s.deferred; held != nil {
		held.Moved = slices.DeleteFunc(held.Moved, func(m scheduling.Move) bool { // the last move of a virtual pod counts
			return slices.Contains(d.Removed.Pods, m.Pod) || slices.ContainsFunc(d.Moved, func(again scheduling.Move) bool { return again.Pod == m.Pod })
		})
		held.Nodes, held.Pods, held.Moved = append(held.Nodes, d.Nodes...), append(held.Pods, d.Pods...), append(held.Moved, d.Moved...)
		held.Removed.Nodes, held.Removed.Pods = append(held.Removed.Nodes, d.Removed.Nodes...), append(held.Removed.Pods, d.Removed.Pods...)
		if d.Catalog != nil || d.PoolCatalogs != nil {
			held.Catalog, held.PoolCatalogs = d.Catalog, d.PoolCatalogs
		}
		return nil
	}
	if err := s.Launch.Apply(d); err != nil || s.Place == nil {
		return err
	}
	d.Catalog, d.PoolCatalogs = nil, nil // the session has no NodePools
	return s.Place.Apply(d)
}

// Question is a change of the cluster after which pending pods are placed.
type Question struct {
	Change scheduling.Delta
	// Launch allows launches, which are planned with the effort.
	Launch bool
	Effort scheduling.Effort
	// Explain asks why pods have no node. Sketch takes the first plan, without a search.
	Explain, Sketch bool
}

// Answer is where pending pods go: to existing nodes, to launches, or nowhere.
type Answer struct {
	Existing      []scheduling.Assignment
	Launches      []scheduling.Launch
	Unschedulable []scheduling.Unschedulable
}

// answerOf is the answer of a plan.
func answerOf(plan *scheduling.Plan, err error) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	return &Answer{plan.Existing, plan.Launches, plan.Unschedulable}, nil
}

// PlacePending places the pending pods by the session that may launch, which keeps the result: forks share it, e.g. the
// order of all offerings.
func (s *Sessions) PlacePending(ctx context.Context) (*Answer, error) {
	return answerOf(s.Launch.Place(ctx, scheduling.EffortFast))
}

// Ask places the pending pods after a change, of which the sessions are not told.
func (s *Sessions) Ask(ctx context.Context, q *Question) (*Answer, error) {
	from := s.Place
	if q.Launch {
		from = s.Launch
	}
	fork := from.Fork()
	if err := fork.Apply(q.Change); err != nil {
		return nil, err
	}
	switch {
	case q.Explain:
		return answerOf(fork.Plan(ctx))
	case q.Sketch:
		return answerOf(fork.Sketch(ctx))
	default:
		return answerOf(fork.Place(ctx, q.Effort))
	}
}

// DividePods is a problem with its pods divided again: pods on a node are running, pods of a node that is being removed
// or of the given terminating ones are pending. The error is that of a missing pod.
func DividePods(p *scheduling.Problem, terminating map[string]bool) (scheduling.Problem, error) {
	out, vacated := *p, map[string]bool{}
	out.Pods, out.Running, out.Nodes = nil, nil, slices.Clone(p.Nodes)
	for i, node := range p.Nodes {
		switch {
		case node == nil:
		case podspec.Going(node):
			vacated[node.Name] = true
		case terminating[node.Name]:
			vacated[node.Name] = true
			gone := *node
			gone.DeletionTimestamp = &metav1.Time{Time: p.Now}
			out.Nodes[i] = &gone
		}
	}
	for _, list := range [][]*corev1.Pod{p.Pods, p.Running} {
		for i, pod := range list {
			switch {
			case pod == nil:
				return out, fmt.Errorf("%w: pods[%d]: is missing", scheduling.ErrInvalid, i)
			case pod.Spec.NodeName == "":
				out.Pods = append(out.Pods, pod)
			case vacated[pod.Spec.NodeName] && eviction.Reschedulable(pod):
				out.Pods = append(out.Pods, scheduling.Successor(pod, ""))
			default:
				out.Running = append(out.Running, pod)
			}
		}
	}
	return out, nil
}

// mostUnbound bounds the cache of copies of pods.
const mostUnbound = 10_000

// Unbound is a copy of a pod as its controller would recreate it, without a node.
func (s *Sessions) Unbound(pod *corev1.Pod) *corev1.Pod {
	name := podspec.PodName(pod)
	out := s.unbound[name]
	if len(s.unbound) > mostUnbound {
		clear(s.unbound)
	}
	if out == nil {
		out = scheduling.Successor(pod, "")
		s.unbound[name] = out
	}
	return out
}

// Closed is a node without room for pods, as the sessions see it while it takes in none.
func Closed(p *scheduling.Problem, node *corev1.Node) *corev1.Node {
	out := *node
	out.Status.Allocatable = maps.Clone(out.Status.Allocatable)
	if out.Status.Allocatable == nil {
		out.Status.Allocatable = corev1.ResourceList{}
	}
	out.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(0, resource.DecimalSI)
	if out.Labels[scheduling.NodePoolLabel] == "" || out.Labels[scheduling.InitializedLabel] == "true" {
		return &out
	}
	// The node must count as initialized, because the sessions take missing capacity of a node that is not
	// initialized from the catalog. Its capacity must stay, because it counts for limits.
	out.Status.Capacity, out.Labels = instance.NodeCapacity(p, &out), maps.Clone(out.Labels)
	out.Labels[scheduling.InitializedLabel], out.Labels[scheduling.RegisteredLabel] = "true", "true"
	return &out
}

// RequestsWith are the requests of a launch after its list of pods has changed. Both lists are sorted; pods that are not
// known count nothing.
func (s *Sessions) RequestsWith(requests corev1.ResourceList, before, after []string, podOf func(name string) *corev1.Pod) corev1.ResourceList {
	if slices.Equal(before, after) {
		return requests
	}
	out := requests.DeepCopy()
	leave, come := lo.Difference(before, after)
	for _, name := range slices.Concat(leave, come) {
		pod := podOf(name)
		if pod == nil {
			continue
		}
		for key, q := range provisioning.PodRequests([]*corev1.Pod{s.Unbound(pod)})[0] {
			sum := out[key]
			if slices.Contains(leave, name) {
				q.Neg()
			}
			sum.Add(q)
			if out[key] = sum; sum.IsZero() {
				delete(out, key)
			}
		}
	}
	return out
}
