package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// state is the cluster as it stands once some steps are done. Two sessions hold it, for
// what-ifs that may buy and for those that may not. In both, nodes that may receive
// nobody are closed: they keep their pods, labels and capacity, and have no room.
type state struct {
	planner Planner
	problem *scheduling.Problem
	nodes   map[string]*nodeState
	// market may buy, free has no pools. Both hold the same otherwise, but that free does
	// not hold the pods that wait.
	market, free *provisioning.Session
	// pods are those that run and those that are expected, by name, as they were at first:
	// where they are now is for nodes to say.
	pods map[string]*corev1.Pod
	// waits are the pods that wait for a machine that somebody else has to buy, by name.
	waits    map[string]*corev1.Pod
	capacity *capacity
	topology *topologyIndex
	// lifted is, by running pod, the same pod without a node, ready to be placed.
	lifted map[*corev1.Pod]*corev1.Pod
	// bought counts the launches, by pool: their names go on from there.
	bought map[string]int
	// stock is what is on sale now: reservations have lost what steps bought from them.
	stock *availability
	// original are the names of the nodes that were there at first.
	original map[string]bool
	// held are changes that the sessions have not been told yet; nil while they are told at once.
	held *scheduling.Delta
}

// nodeState is a node that is there.
type nodeState struct {
	node *corev1.Node
	// pods are those that run there and have not ended, in the order of their names;
	// expected are those that wait and will go there.
	pods, expected []*corev1.Pod
	// shut counts the reasons to let nobody in.
	shut int
	// received says that pods of an earlier step went there.
	received bool
}

// newState reads the cluster. Pods that wait are given the places that they find without
// buying, on nodes that start up as well, and keep them; the others, and those of nodes
// that go already, stay as they are. Nodes that are not ready take nobody else in.
func newState(ctx context.Context, p Planner, c *Cluster) (*state, error) {
	problem, leaving, err := dividePods(c)
	if err != nil {
		return nil, err
	}
	market, err := provisioning.NewSession(p.Policy, problem)
	if err != nil {
		return nil, err
	}
	s := &state{
		planner: p, problem: &c.Problem, market: market, nodes: make(map[string]*nodeState, len(problem.Nodes)), waits: map[string]*corev1.Pod{},
		pods: make(map[string]*corev1.Pod, len(problem.Running)), lifted: map[*corev1.Pod]*corev1.Pod{}, bought: map[string]int{}, original: map[string]bool{}, stock: newAvailability(&c.Problem),
		topology: newTopologyIndex(&c.Problem),
	}
	for _, node := range problem.Nodes {
		s.nodes[node.Name], s.original[node.Name] = &nodeState{node: node}, true
	}
	for _, pod := range problem.Running {
		if at := s.nodes[pod.Spec.NodeName]; at != nil && !podspec.Terminal(pod) {
			at.pods = append(at.pods, pod)
		}
		s.pods[podspec.PodName(pod)] = pod
	}
	for _, at := range s.nodes {
		slices.SortFunc(at.pods, podspec.ComparePods)
	}
	if err := s.closeTo(leaving); err != nil {
		return nil, err
	}
	if err := s.expect(ctx, problem.Pods); err != nil {
		return nil, err
	}
	var unready []string
	for _, name := range s.names() {
		if !takesIn(s.nodes[name].node) {
			unready = append(unready, name)
		}
	}
	s.capacity = newCapacity(s.nodes)
	if err := s.closeTo(unready); err != nil {
		return nil, err
	}
	return s, nil
}

// dividePods is the problem with lists of its own: pods with a node run, and those of nodes
// that are going wait for another one. leaving are the nodes that will be taken away, and so
// take nobody in.
func dividePods(c *Cluster) (out scheduling.Problem, leaving []string, err error) {
	out = c.Problem
	out.Pods, out.Running, out.Nodes = nil, nil, slices.Clone(c.Nodes)
	terminating, vacated := map[string]bool{}, map[string]bool{}
	for i := range c.Machines {
		m := &c.Machines[i]
		terminating[m.Node] = terminating[m.Node] || m.Terminating
		if m.Interruption != nil {
			leaving = append(leaving, m.Node)
		}
	}
	for i, node := range c.Nodes {
		switch {
		case node == nil:
		case podspec.Going(node):
			vacated[node.Name] = true
		case terminating[node.Name]:
			vacated[node.Name] = true
			gone := *node
			gone.DeletionTimestamp = &metav1.Time{Time: c.Now}
			out.Nodes[i] = &gone
		}
	}
	for _, list := range [][]*corev1.Pod{c.Pods, c.Running} {
		for i, pod := range list {
			switch {
			case pod == nil:
				return out, nil, fmt.Errorf("%w: pods[%d]: is missing", scheduling.ErrInvalid, i)
			case pod.Spec.NodeName == "":
				out.Pods = append(out.Pods, pod)
			case vacated[pod.Spec.NodeName] && reschedulable(pod):
				out.Pods = append(out.Pods, unbound(pod))
			default:
				out.Running = append(out.Running, pod)
			}
		}
	}
	return out, leaving, nil
}

// expect finds places for pods that wait, and makes the session that may not buy.
func (s *state) expect(ctx context.Context, pods []*corev1.Pod) error {
	// Also without pods: forks remember what their origin has worked out, such as the
	// order of all that is on sale.
	plan, err := s.market.Place(ctx, scheduling.EffortFast)
	if err != nil {
		return err
	}
	byName := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		byName[podspec.PodName(pod)] = pod
	}
	var come []*corev1.Pod
	for i := range plan.Existing {
		a := &plan.Existing[i]
		at := s.nodes[a.Node]
		for _, name := range a.Pods {
			pod := bound(byName[name], a.Node)
			come, at.expected = append(come, pod), append(at.expected, pod)
			s.pods[podspec.PodName(pod)] = pod
			delete(byName, name)
		}
	}
	if err := s.market.Apply(scheduling.Delta{Pods: come}); err != nil {
		return err
	}
	s.waits = byName
	s.free = s.market.Fork()
	var gone scheduling.Removed
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		gone.Pods = append(gone.Pods, keyOf(byName[name]))
	}
	for _, pool := range s.problem.NodePools {
		gone.NodePools = append(gone.NodePools, pool.Name)
	}
	return s.free.Apply(scheduling.Delta{Removed: gone})
}

// expects reports whether pods that wait, or those of a node that goes already, are
// planned onto a node.
func (s *state) expects(node string) bool {
	at := s.nodes[node]
	return at != nil && len(at.expected) > 0
}

// names are those of the nodes that are there, sorted.
func (s *state) names() []string { return slices.Sorted(maps.Keys(s.nodes)) }

// closeTo lets nodes receive nobody from now on; for each time it takes one readmit to undo
// it. Nodes that are not there are passed over.
func (s *state) closeTo(nodes []string) error { return s.shut(nodes, 1) }

// readmit undoes shun.
func (s *state) readmit(nodes []string) error { return s.shut(nodes, -1) }

func (s *state) shut(nodes []string, by int) error {
	var changed []*corev1.Node
	for _, name := range nodes {
		at := s.nodes[name]
		if at == nil {
			continue
		}
		was := at.shut > 0
		if at.shut += by; was != (at.shut > 0) {
			changed = append(changed, s.shown(at))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.apply(scheduling.Delta{Nodes: changed})
}

// shown is the node as the sessions see it: without room if it is closed.
func (s *state) shown(at *nodeState) *corev1.Node {
	if at.shut == 0 {
		return at.node
	}
	node := *at.node
	node.Status.Allocatable = maps.Clone(node.Status.Allocatable)
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = corev1.ResourceList{}
	}
	node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(0, resource.DecimalSI)
	if node.Labels[scheduling.NodePoolLabel] == "" || node.Labels[scheduling.InitializedLabel] == "true" {
		return &node
	}
	// What a node in flight does not report is taken from the catalog, so it must not be
	// one, and yet count for limits.
	node.Labels = maps.Clone(node.Labels)
	node.Labels[scheduling.InitializedLabel], node.Labels[scheduling.RegisteredLabel] = "true", "true"
	node.Status.Capacity = maps.Clone(node.Status.Capacity)
	if node.Status.Capacity == nil {
		node.Status.Capacity = corev1.ResourceList{}
	}
	if t, ok := catalogOf(s.problem, node.Labels[scheduling.NodePoolLabel]).Get(instancetypes.OfferingOf(&node).InstanceType); ok {
		for name, q := range t.Capacity {
			if have := node.Status.Capacity[name]; have.IsZero() {
				node.Status.Capacity[name] = q
			}
		}
	}
	return &node
}

// take moves the state on to where it is once the step is done.
func (s *state) take(step *Step) error {
	d := scheduling.Delta{}
	var astray []*corev1.Pod
	used := map[string]int{}
	for i := range step.Launches {
		l := &step.Launches[i]
		node, err := s.nodeOf(l)
		if err != nil {
			return err
		}
		s.nodes[node.Name] = &nodeState{node: node}
		s.bought[l.NodePool] = max(s.bought[l.NodePool], launchNumber(l))
		d.Nodes = append(d.Nodes, node)
		if id := l.Options[0].ReservationID; id != "" {
			used[id]++
		}
	}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		old, from, to := s.pods[e.Pod], s.nodes[e.From], s.nodes[e.To]
		if old == nil || from == nil {
			return fmt.Errorf("step: %s is not on node %q", e.Pod, e.From)
		}
		from.pods = slices.DeleteFunc(from.pods, func(p *corev1.Pod) bool { return p == old })
		delete(s.lifted, old)
		if to == nil {
			d.Removed.Pods = append(d.Removed.Pods, keyOf(old))
			delete(s.pods, e.Pod)
			continue
		}
		pod := old
		if old.DeletionTimestamp == nil {
			d.Moved = append(d.Moved, scheduling.Move{Pod: keyOf(old), Node: e.To})
		} else {
			pod = bound(old, e.To)
			d.Pods, s.pods[e.Pod] = append(d.Pods, pod), pod
		}
		at, _ := slices.BinarySearchFunc(to.pods, pod, podspec.ComparePods)
		to.pods, to.received = slices.Insert(to.pods, at, pod), true
	}
	for _, name := range step.Drain {
		at := s.nodes[name]
		if at == nil {
			return fmt.Errorf("step: there is no node %q", name)
		}
		for _, pod := range slices.Concat(at.pods, at.expected) {
			d.Removed.Pods = append(d.Removed.Pods, keyOf(pod))
			delete(s.pods, podspec.PodName(pod))
			delete(s.lifted, pod)
		}
		astray = append(astray, at.expected...)
		d.Removed.Nodes = append(d.Removed.Nodes, name)
		delete(s.nodes, name)
		if id := at.node.Labels[offerings.ReservationIDLabel]; id != "" {
			used[id]--
		}
	}
	s.capacity.took(step, s.nodes)
	if err := s.stock.reserve(used, &d); err != nil {
		return err
	}
	if err := s.apply(d); err != nil {
		return err
	}
	return s.await(astray)
}

// await lets pods wait again whose nodes went before they came. Rules go on counting them,
// so the session that may buy holds them, as it does all that wait.
func (s *state) await(pods []*corev1.Pod) error {
	d := scheduling.Delta{}
	for _, pod := range pods {
		pod = unbound(pod)
		s.waits[podspec.PodName(pod)], d.Pods = pod, append(d.Pods, pod)
	}
	if len(pods) == 0 {
		return nil
	}
	return s.market.Apply(d)
}

// takesIn reports whether pods that are evicted may land on a node: it is initialized, if a
// pool owns it, and does not say that it is not ready.
func takesIn(node *corev1.Node) bool {
	return (node.Labels[scheduling.NodePoolLabel] == "" || node.Labels[scheduling.InitializedLabel] == "true") && atWork(node)
}

// nodeOf is the node that a launch becomes.
func (s *state) nodeOf(l *scheduling.Launch) (*corev1.Node, error) {
	return l.Node(l.Name, &l.Options[0], catalogOf(s.problem, l.NodePool))
}

// launchNumber is the number at the end of a launch's name.
func launchNumber(l *scheduling.Launch) int {
	n := 0
	_, err := fmt.Sscanf(strings.TrimPrefix(l.Name, l.NodePool+"-"), "%d", &n)
	if err != nil {
		return 0
	}
	return n
}

// bound is a copy of a pod that runs on a node.
func bound(pod *corev1.Pod, node string) *corev1.Pod {
	out := *pod
	out.Spec.NodeName, out.DeletionTimestamp = node, nil
	return &out
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: podspec.OrDefault(pod.Namespace), Name: pod.Name}
}

// fork is a state of its own that stands where s does.
func (s *state) fork() *state {
	out := *s
	out.market, out.free = s.market.Fork(), s.free.Fork()
	out.nodes = make(map[string]*nodeState, len(s.nodes))
	for name, at := range s.nodes {
		own := *at
		own.pods = slices.Clone(at.pods)
		out.nodes[name] = &own
	}
	own := *s.stock
	out.capacity, out.stock = s.capacity.clone(), &own
	out.pods, out.waits, out.lifted, out.bought = maps.Clone(s.pods), maps.Clone(s.waits), maps.Clone(s.lifted), maps.Clone(s.bought)
	return &out
}
