package provisioning

import (
	"context"
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
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/volumes"
)

// nominations are pods to be placed that are promised a node. Those that can keep it run there
// as far as all others are concerned, as kube-scheduler counts nominated pods.
type nominations struct {
	facts *compile.Facts    // in which all of them wait
	base  *compile.Compiler // the same, compiled
	// scheduler is kube-scheduler for these, queue all that wait.
	scheduler *binding.Scheduler
	queue     []binding.Pod
	// shared are the claims that several of them use.
	shared map[*podspec.Claim][]*corev1.Pod
	to     map[*corev1.Pod]string
	kept   map[*corev1.Pod]string
	// moving are running pods with the nodes on which their successors are expected.
	moving map[*corev1.Pod]string
	// could are those that were kept before pods of higher priority needed their room, level
	// is the priority of the last of these that were asked where they could be.
	could map[*corev1.Pod]string
	level int32
	asked bool // some were
	gave  bool // and found room
}

// readNominations reads who is nominated, and decides who stays so.
func readNominations(f *compile.Facts) *nominations {
	n := &nominations{facts: f, to: map[*corev1.Pod]string{}, moving: map[*corev1.Pod]string{}}
	for _, pod := range f.Problem.Pods {
		if node := nominatedNode(f.Problem, pod); node != "" && podspec.Pending(pod) {
			n.to[pod] = node
		}
	}
	n.readMoving()
	if len(n.to)+len(n.moving) > 0 {
		n.base = n.with(nil, nil).Compile(false)
		if x := n.base.Classes.Volumes; x != nil {
			n.shared = volumes.Sharers(x, f.Problem.Pods)
		}
		n.scheduler = binding.New(n.base)
		n.queue = n.scheduler.Queue()
		n.keep()
		n.could = n.kept
	}
	return n
}

// readMoving finds the running pods that are to move.
func (n *nominations) readMoving() {
	p := n.facts.Problem
	if len(p.Nominated) == 0 {
		return
	}
	known := make(map[types.NamespacedName]bool, len(p.Pods))
	for _, pod := range p.Pods {
		known[podspec.PodKey(pod)] = true
	}
	if !lo.SomeBy(lo.Keys(p.Nominated), func(pod types.NamespacedName) bool { return !known[keyOf(pod)] }) {
		return
	}
	for _, h := range n.facts.Cluster.Hosts {
		for _, pod := range h.Pods {
			if node, _ := promised(p, pod); node != "" && node != h.Name {
				n.moving[pod] = node
			}
		}
	}
}

// nominatedNode is the node that a pod which waits is promised, "" for none.
func nominatedNode(p *scheduling.Problem, pod *corev1.Pod) string {
	if node, ok := promised(p, pod); ok {
		return node
	}
	return pod.Status.NominatedNodeName
}

// promised is the node that the problem names for a pod.
func promised(p *scheduling.Problem, pod *corev1.Pod) (node string, ok bool) {
	if len(p.Nominated) == 0 {
		return "", false
	}
	key := podspec.PodKey(pod)
	if node, ok = p.Nominated[key]; !ok && key.Namespace == corev1.NamespaceDefault {
		key.Namespace = ""
		node, ok = p.Nominated[key]
	}
	return node, ok
}

// numbered are the nodes of a compiled problem, by name.
func numbered(c *compile.Compiler) map[string]int32 {
	at := make(map[string]int32, len(c.Nodes))
	for i, x := range c.Nodes {
		at[x.Node.Name] = int32(i)
	}
	return at
}

// keep lets the nominated pods bind where they are nominated, in the order of kube-scheduler's
// queue and again for as long as any of them does: those that do are kept.
func (n *nominations) keep() {
	n.kept = n.bound(n.scheduler.Begin(0), func(pod *corev1.Pod) bool { return n.to[pod] != "" })
}

// bound are those of some nominated pods that bind where they are nominated as a run goes on.
func (n *nominations) bound(run *binding.Run, some func(*corev1.Pod) bool) map[*corev1.Pod]string {
	out, at := map[*corev1.Pod]string{}, numbered(n.base)
	waiting := slices.DeleteFunc(slices.Clone(n.queue), func(p binding.Pod) bool {
		node, ok := at[n.to[p.Pod]]
		return !ok || !some(p.Pod) || n.unsettled(p.Pod) || !n.base.Model.Open[n.base.Planned[p.Class].Group].Has(int(node))
	})
	for again := true; again; {
		again = false
		waiting = slices.DeleteFunc(waiting, func(p binding.Pod) bool {
			node := at[n.to[p.Pod]]
			if !run.Admits(p.Class, node) {
				return false
			}
			run.Place(p.Class, node)
			out[p.Pod], again = n.to[p.Pod], true
			return true
		})
	}
	return out
}

// unsettled reports whether a plan has to choose a volume for the pod among those that are there,
// or the zone of one that several pods wait for.
func (n *nominations) unsettled(pod *corev1.Pod) bool {
	x := n.base.Classes.Volumes
	if x == nil {
		return false
	}
	return slices.ContainsFunc(x.ClaimsOf(pod), func(c *podspec.Claim) bool {
		return c.Object == nil && c.Class != nil && podspec.IsStatic(c.Class) || x.Zonal(c) && len(n.shared[c]) > 0
	})
}

// search places the other pods beside those that are kept. Where a pod has no place, and one
// would be there without nominated pods of lower priority, these give way.
func (n *nominations) search(ctx context.Context) (*solved, *compile.Facts, error) {
	for {
		f := n.facts
		if len(n.kept)+len(n.moving) > 0 {
			f = n.with(n.kept, nil)
		}
		x, err := searched(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		if more, err := n.giveWay(ctx, x.Plan); err != nil || !more {
			return x, f, err
		}
	}
}

// giveWay nominates pods without a place for the room of less urgent ones that are kept, the
// most urgent first that have not been asked yet, and reports whether there are any.
func (n *nominations) giveWay(ctx context.Context, plan *scheduling.Plan) (bool, error) {
	if len(n.kept) == 0 || len(plan.Unschedulable) == 0 {
		return false, nil
	}
	refused := volumes.Left(plan)
	for {
		urgent, level := n.urgent(refused)
		beside := maps.Clone(n.kept)
		maps.DeleteFunc(beside, func(pod *corev1.Pod, _ string) bool { return podspec.PriorityOf(pod) < level })
		if len(urgent) == 0 || len(beside) == len(n.kept) {
			return false, nil
		}
		n.asked, n.level = true, level
		f := n.with(beside, urgent.Has)
		f.Terse = true
		x, err := settled(ctx, f)
		if err != nil {
			return false, err
		}
		if n.take(urgent, x.Plan) {
			n.gave = true
			return true, nil
		}
	}
}

// take nominates urgent pods to the nodes where a plan has them, and reports whether others give
// way to any of them: what keeps it from its place otherwise is not that these come before.
func (n *nominations) take(urgent sets.Set[*corev1.Pod], plan *scheduling.Plan) bool {
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
	before := n.kept
	n.keep()
	run, at := n.scheduler.Begin(0), numbered(n.base)
	for _, p := range n.queue {
		if node, ok := n.kept[p.Pod]; ok && !urgent.Has(p.Pod) {
			run.Place(p.Class, at[node])
		}
	}
	stay := map[*corev1.Pod]string{}
	if lo.SomeBy(lo.Keys(before), func(pod *corev1.Pod) bool { return n.kept[pod] == "" }) {
		stay = n.bound(run, urgent.Has)
	}
	for pod := range urgent {
		if n.facts.Solver.WorkloadShare > 0 { // which kube-scheduler does not know
			for other, node := range n.kept {
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

// urgent are those of the refused pods that have the highest priority below the last that were
// asked, and that priority.
func (n *nominations) urgent(refused map[string]int) (sets.Set[*corev1.Pod], int32) {
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

// with is what is known where some pods run on nodes, and of the others only those that do wait;
// nil is all. The successors of pods that are to move are there already.
func (n *nominations) with(running map[*corev1.Pod]string, waits func(*corev1.Pod) bool) *compile.Facts {
	f := n.facts
	p := *f.Problem
	p.Pods, p.Running = make([]*corev1.Pod, 0, len(p.Pods)), slices.Clip(p.Running)
	readings := &podspec.Readings{Table: f.Readings.Table, PodSpecKeys: make([]*podspec.SpecKey, len(f.Readings.PodSpecKeys))}
	b, spaces := hosts.NewChange(f.Cluster), maps.Clone(f.Spaces)
	enter := func(pod *corev1.Pod, node string) {
		bound := onNode(pod, node)
		p.Running = append(p.Running, bound)
		b.Enter(bound, node)
		if spaces != nil {
			spaces[podspec.NamespaceOf(pod)]++
		}
	}
	for pod, node := range n.moving {
		if h := f.Cluster.Host(node); h != nil && h.Node != nil {
			enter(pod, node)
		}
	}
	for i, pod := range f.Problem.Pods {
		node, runs := running[pod]
		switch {
		case runs:
			enter(pod, node)
		case waits == nil || waits(pod):
			key := f.Readings.Of[i]
			p.Pods, readings.Of = append(p.Pods, pod), append(readings.Of, key)
			if key >= 0 {
				readings.PodSpecKeys[key] = f.Readings.PodSpecKeys[key]
			}
		}
	}
	return &compile.Facts{
		Problem: &p, Solver: f.Solver, Readings: readings, Cluster: b.Cluster(nil), Spaces: spaces, Memory: f.Memory,
		Choice: f.Choice, Terse: f.Terse, Together: f.Together, Judged: f.Judged, Loose: f.Loose, Observer: f.Observer,
	}
}

// apart is what is known where those run whom a plan leaves where they are nominated, and the
// plan of the others.
func (n *nominations) apart(plan *scheduling.Plan) (*compile.Facts, *scheduling.Plan) {
	if plan == nil || len(n.kept)+len(n.moving) == 0 {
		return n.facts, plan
	}
	where := map[types.NamespacedName]string{}
	for pod, at := range plan.Placements() {
		where[pod] = at.Node
	}
	stay, names := map[*corev1.Pod]string{}, sets.New[string]()
	for pod, node := range n.kept {
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

// restore adds the pods that are kept to the plan of the others, and warns of those that are
// not.
func (n *nominations) restore(plan *scheduling.Plan) {
	if len(n.to)+len(n.moving) == 0 {
		return
	}
	more := map[string][]string{}
	for pod, node := range n.kept {
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
	s.Pods, s.Placed = s.Pods+len(n.kept), s.Placed+len(n.kept)
	if n.facts.Terse {
		return
	}
	if n.gave {
		// What was proven leaves pods where others had to give way to them.
		conclude(s, proof{}, offers.Objective(n.facts.Solver, s), s.Status == scheduling.StatusDeadline)
	}
	s.PodsWithoutRequests = n.base.Classes.Unrequested
	plan.Warnings = n.base.Warnings(n.lost()...)
}

// lost warns of the nominated pods that are not kept.
func (n *nominations) lost() []scheduling.Warning {
	var out []scheduling.Warning
	for i := range n.queue {
		pod := n.queue[i].Pod
		node := nominatedNode(n.facts.Problem, pod)
		if node == "" || n.kept[pod] == node {
			continue
		}
		why := "has no place for it beside what runs and the other nominated pods"
		switch h := n.facts.Cluster.Host(node); {
		case h == nil || h.Node == nil:
			why = "is not among the nodes"
		case podspec.Going(h.Node):
			why = "is being removed"
		case n.unsettled(pod):
			why = "is not kept for it, as a volume has to be chosen for it first"
		case n.could[pod] == node:
			why = "has room that pods of higher priority need"
		}
		out = append(out, scheduling.Warning{Object: validate.Workload(pod), Message: fmt.Sprintf("node %s, where it is nominated, %s: it was planned like any other pod", node, why)})
	}
	for pod, node := range n.moving {
		if h := n.facts.Cluster.Host(node); h == nil || h.Node == nil {
			out = append(out, scheduling.Warning{Object: validate.Workload(pod), Message: fmt.Sprintf("node %s, where it is to move, is not among the nodes", node)})
		}
	}
	return out
}
