package nominated

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/volumes"
)

// Pods are the nominated pods of a problem. A pod that its node admits counts as running there for all other pods, as
// kube-scheduler counts nominated pods.
type Pods struct {
	facts *instance.Facts // in which all of them wait
	// Base is the problem in which all nominated pods are pending, compiled; nil if no pod is nominated.
	Base *instance.Instance
	// scheduler simulates kube-scheduler for Base, and queue has its pending pods.
	scheduler *binding.Scheduler
	queue     []binding.Pod
	// shared are the claims that several pods use.
	shared map[*podspec.Claim][]*corev1.Pod
	to     map[*corev1.Pod]string
	// Admitted are the pods that their node admits, with the node.
	Admitted map[*corev1.Pod]string
	// moving are running pods with the nodes on which their successors are expected.
	moving map[*corev1.Pod]string
	// admittedBefore are the pods that were admitted before pods of higher priority needed their room. level is the
	// priority of the last pods of higher priority that were planned without them; asked says that there were any.
	admittedBefore map[*corev1.Pod]string
	level          int32
	asked          bool // some were
	// GaveWay says that a pod of higher priority got the room of a nominated pod.
	GaveWay bool
}

// Read reads the nominations of a problem, and decides which pods their nodes admit.
func Read(f *instance.Facts) *Pods {
	n := &Pods{facts: f, to: map[*corev1.Pod]string{}, moving: map[*corev1.Pod]string{}}
	for _, pod := range f.Problem.Pods {
		if node := podspec.NominatedNode(f.Problem, pod); node != "" && podspec.Pending(pod) {
			n.to[pod] = node
		}
	}
	n.readMoving()
	if len(n.to)+len(n.moving) > 0 {
		n.Base = n.with(nil, nil).Compile(false)
		if x := n.Base.Classes.Volumes; x != nil {
			n.shared = volumes.Sharers(x, f.Problem.Pods)
		}
		n.scheduler = binding.New(n.Base)
		n.queue = n.scheduler.Queue()
		n.keep()
		n.admittedBefore = n.Admitted
	}
	return n
}

// readMoving finds the running pods that are to move.
func (n *Pods) readMoving() {
	p := n.facts.Problem
	if len(p.Nominated) == 0 {
		return
	}
	known := make(map[types.NamespacedName]bool, len(p.Pods))
	for _, pod := range p.Pods {
		known[podspec.PodKey(pod)] = true
	}
	if !lo.SomeBy(lo.Keys(p.Nominated), func(pod types.NamespacedName) bool { return !known[podspec.KeyOf(pod)] }) {
		return
	}
	for _, h := range n.facts.Cluster.Hosts {
		for _, pod := range h.Pods {
			if node, _ := podspec.Promised(p, pod); node != "" && node != h.Name {
				n.moving[pod] = node
			}
		}
	}
}

// keep fills Admitted: nominated pods are bound to their nodes in the order of kube-scheduler's queue, again and again
// until no further one can be.
func (n *Pods) keep() {
	n.Admitted = n.bound(n.scheduler.Model.Begin(), func(pod *corev1.Pod) bool { return n.to[pod] != "" })
}

// bound binds the nominated pods that some selects, as far as their nodes admit them from a state on, and returns them
// with their nodes.
func (n *Pods) bound(state *cluster.State, some func(*corev1.Pod) bool) map[*corev1.Pod]string {
	queue, to := make([]int32, len(n.queue)), make([]int32, len(n.queue))
	for i, p := range n.queue {
		queue[i], to[i] = p.Class, -1
		if at, ok := n.scheduler.Model.Node(n.to[p.Pod]); ok && some(p.Pod) && !n.unsettled(p.Pod) {
			to[i] = at
		}
	}
	out := map[*corev1.Pod]string{}
	for i, turn := range state.PlaceAll(queue, to) {
		if pod := n.queue[i].Pod; turn > 0 {
			out[pod] = n.to[pod]
		}
	}
	return out
}

// unsettled reports whether a plan has to choose a volume for the pod among the existing ones, or the zone of a volume
// that several pods wait for.
func (n *Pods) unsettled(pod *corev1.Pod) bool {
	x := n.Base.Classes.Volumes
	if x == nil {
		return false
	}
	return slices.ContainsFunc(x.ClaimsOf(pod), func(c *podspec.Claim) bool {
		return c.Object == nil && c.Class != nil && podspec.IsStatic(c.Class) || x.Zonal(c) && len(n.shared[c]) > 0
	})
}

// Facts returns the problem in which the admitted pods run on their nodes.
func (n *Pods) Facts() *instance.Facts {
	if len(n.Admitted)+len(n.moving) == 0 {
		return n.facts
	}
	return n.with(n.Admitted, nil)
}

// GiveWay nominates pods without a place in a plan to the room of admitted pods of lower priority, the highest priority
// first that was not tried yet, and reports whether any got a place so. place makes plans.
func (n *Pods) GiveWay(plan *scheduling.Plan, place func(*instance.Facts) (*scheduling.Plan, error)) (bool, error) {
	if len(n.Admitted) == 0 || len(plan.Unschedulable) == 0 {
		return false, nil
	}
	refused := volumes.Left(plan)
	for {
		urgent, level := n.urgent(refused)
		beside := maps.Clone(n.Admitted)
		maps.DeleteFunc(beside, func(pod *corev1.Pod, _ string) bool { return podspec.PriorityOf(pod) < level })
		if len(urgent) == 0 || len(beside) == len(n.Admitted) {
			return false, nil
		}
		n.asked, n.level = true, level
		f := n.with(beside, urgent.Has)
		f.Terse = true
		plan, err := place(f)
		if err != nil {
			return false, err
		}
		if n.take(urgent, plan) {
			n.GaveWay = true
			return true, nil
		}
	}
}

// take nominates urgent pods to the nodes where a plan has them, and reports whether admitted pods must lose their
// nomination for any of them. Otherwise an urgent pod has another reason why it has no place.
func (n *Pods) take(urgent sets.Set[*corev1.Pod], plan *scheduling.Plan) bool {
	where := map[string]string{}
	for i := range plan.Existing {
		for _, pod := range plan.Existing[i].Pods {
			where[pod] = plan.Existing[i].Node
		}
	}
	for pod := range urgent {
		if node := where[podspec.PodName(pod)]; node != "" {
			n.to[pod] = node
		}
	}
	before := n.Admitted
	n.keep()
	state := n.scheduler.Model.Begin()
	for _, p := range n.queue {
		if at, ok := n.scheduler.Model.Node(n.Admitted[p.Pod]); ok && !urgent.Has(p.Pod) {
			state.Place(p.Class, at, false)
		}
	}
	stay := map[*corev1.Pod]string{}
	if lo.SomeBy(lo.Keys(before), func(pod *corev1.Pod) bool { return n.Admitted[pod] == "" }) {
		stay = n.bound(state, urgent.Has)
	}
	for pod := range urgent {
		if n.facts.Solver.WorkloadShare > 0 { // which kube-scheduler does not know
			for other, node := range n.Admitted {
				if !urgent.Has(other) && node == n.to[pod] && validate.Workload(other) == validate.Workload(pod) {
					delete(stay, pod)
				}
			}
		}
		if stay[pod] == "" {
			delete(n.to, pod)
		}
	}
	n.keep()
	return len(stay) > 0
}

// urgent returns the refused pods of the highest priority that was not tried yet, and that priority.
func (n *Pods) urgent(refused map[string]int) (sets.Set[*corev1.Pod], int32) {
	out, level := sets.New[*corev1.Pod](), int32(math.MinInt32)
	for _, pod := range n.facts.Problem.Pods {
		priority := podspec.PriorityOf(pod)
		if _, ok := refused[podspec.PodName(pod)]; !ok || n.asked && priority >= n.level || priority < level {
			continue
		}
		if priority > level {
			level = priority
			clear(out)
		}
		out.Insert(pod)
	}
	return out, level
}

// with returns the problem in which the pods of running run on the nodes given, and of the other pods only the ones
// that waits selects are pending; nil selects all. Successors of pods that are to move run on their new nodes already.
func (n *Pods) with(running map[*corev1.Pod]string, waits func(*corev1.Pod) bool) *instance.Facts {
	out := n.facts.Keep(func(pod *corev1.Pod) bool {
		_, runs := running[pod]
		return !runs && (waits == nil || waits(pod))
	})
	p := out.Problem
	p.Running = slices.Clip(p.Running)
	b, spaces := hosts.NewChange(out.Cluster), maps.Clone(out.Spaces)
	enter := func(pod *corev1.Pod, node string) {
		bound := podspec.OnNode(pod, node)
		p.Running = append(p.Running, bound)
		b.Enter(bound, node)
		if spaces != nil {
			spaces[podspec.NamespaceOf(pod)]++
		}
	}
	for pod, node := range n.moving {
		if h := n.facts.Cluster.Host(node); h != nil && h.Node != nil {
			enter(pod, node)
		}
	}
	for _, pod := range n.facts.Problem.Pods {
		if node, runs := running[pod]; runs {
			enter(pod, node)
		}
	}
	out.Cluster, out.Spaces = b.Cluster(nil), spaces
	return out
}

// Separate splits a plan: it returns the problem in which the pods run that the plan leaves on the nodes of their
// nominations, and the plan of all other pods.
func (n *Pods) Separate(plan *scheduling.Plan) (*instance.Facts, *scheduling.Plan) {
	if plan == nil || len(n.Admitted)+len(n.moving) == 0 {
		return n.facts, plan
	}
	where := map[types.NamespacedName]string{}
	for pod, at := range plan.Placements() {
		where[pod] = at.Node
	}
	stay, names := map[*corev1.Pod]string{}, sets.New[string]()
	for pod, node := range n.Admitted {
		if where[podspec.PodKey(pod)] == node {
			stay[pod] = node
			names.Insert(podspec.PodName(pod))
		}
	}
	others := *plan
	others.Existing = nil
	for _, a := range plan.Existing {
		a.Pods = slices.DeleteFunc(slices.Clone(a.Pods), names.Has)
		if len(a.Pods) > 0 {
			others.Existing = append(others.Existing, a)
		}
	}
	return n.with(stay, nil), &others
}

// Restore adds the admitted pods to the plan of the other pods, and warns of nominated pods that are not admitted.
func (n *Pods) Restore(plan *scheduling.Plan) {
	if len(n.to)+len(n.moving) == 0 {
		return
	}
	more := map[string][]string{}
	for pod, node := range n.Admitted {
		more[node] = append(more[node], podspec.PodName(pod))
	}
	for i := range plan.Existing {
		a := &plan.Existing[i]
		a.Pods = append(a.Pods, more[a.Node]...)
		slices.Sort(a.Pods)
		delete(more, a.Node)
	}
	for node, pods := range more {
		slices.Sort(pods)
		plan.Existing = append(plan.Existing, scheduling.Assignment{Node: node, Pods: pods})
	}
	slices.SortFunc(plan.Existing, func(a, b scheduling.Assignment) int { return strings.Compare(a.Node, b.Node) })
	s := &plan.Summary
	s.Pods, s.Placed = s.Pods+len(n.Admitted), s.Placed+len(n.Admitted)
	if n.facts.Terse {
		return
	}
	s.PodsWithoutRequests = n.Base.Classes.Unrequested
	plan.Warnings = instance.Warnings(n.Base, n.lost()...)
}

// lost returns warnings of the nominated pods that are not admitted.
func (n *Pods) lost() []scheduling.Warning {
	var out []scheduling.Warning
	for i := range n.queue {
		pod := n.queue[i].Pod
		node := podspec.NominatedNode(n.facts.Problem, pod)
		if node == "" || n.Admitted[pod] == node {
			continue
		}
		why := "has no place for it beside the running and the other nominated pods"
		switch h := n.facts.Cluster.Host(node); {
		case h == nil || h.Node == nil:
			why = "is not among the nodes"
		case podspec.Going(h.Node):
			why = "is being removed"
		case n.unsettled(pod):
			why = "is not kept for it, as a volume has to be chosen for it first"
		case n.admittedBefore[pod] == node:
			why = "has room that pods of higher priority need"
		}
		out = append(out, scheduling.Warning{Object: validate.Workload(pod), Message: fmt.Sprintf("node %s, where it is nominated, %s: it was planned like any other pod", node, why), Note: true})
	}
	for pod, node := range n.moving {
		if h := n.facts.Cluster.Host(node); h == nil || h.Node == nil {
			out = append(out, scheduling.Warning{Object: validate.Workload(pod), Message: fmt.Sprintf("node %s, where it is to move, is not among the nodes", node)})
		}
	}
	return out
}
