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

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// openState reads a cluster, with sessions for what-ifs. Pods that wait are given the places that
// they find without buying, on nodes that start up as well, and keep them; the others, and those of
// nodes that go already, stay as they are. Nodes that are not ready take nobody else in.
func openState(ctx context.Context, p Planner, c *Cluster, known *provisioning.Session) (*state, error) {
	problem, leaving, err := dividePods(c)
	if err != nil {
		return nil, err
	}
	market, err := known.Anew(p.Policy, problem)
	if err != nil {
		return nil, err
	}
	f := newState(p, c)
	f.market, f.over = market, func() bool { return over(ctx) }
	for _, node := range problem.Nodes {
		f.at[node.Name].node = node
	}
	if err := f.closeTo(leaving); err != nil {
		return nil, err
	}
	if err := f.expect(ctx, problem.Pods); err != nil {
		return nil, err
	}
	f.capacity = newCapacity(f)
	if f.landing, err = newLanding(f); err != nil {
		return nil, err
	}
	var unready []string
	for _, s := range f.nodes {
		if !takesIn(s.node) {
			unready = append(unready, s.name)
		}
	}
	err = f.closeTo(unready)
	return f, err
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
			case vacated[pod.Spec.NodeName] && eviction.Reschedulable(pod):
				out.Pods = append(out.Pods, unbound(pod))
			default:
				out.Running = append(out.Running, pod)
			}
		}
	}
	return out, leaving, nil
}

// expect finds places for pods that wait, and makes the session that may not buy.
func (f *state) expect(ctx context.Context, pods []*corev1.Pod) error {
	// Also without pods: forks remember what their origin has worked out, such as the
	// order of all that is on sale.
	plan, err := f.market.Place(ctx, scheduling.EffortFast)
	if err != nil {
		return err
	}
	f.pending = f.pendingPods(plan)
	for _, pod := range pods {
		f.waits[podspec.PodName(pod)] = pod
	}
	var come []*corev1.Pod
	for i := range plan.Existing {
		a := &plan.Existing[i]
		s := f.at[a.Node]
		for _, name := range a.Pods {
			pod := podspec.Anew(f.waits[name], a.Node)
			come, s.expected = append(come, pod), append(s.expected, pod)
			now := ""
			if runs := f.pods[name]; runs != nil {
				now = runs.Spec.NodeName
			}
			f.pods[name], f.whereabouts[name] = pod, now
			delete(f.waits, name)
		}
	}
	// Those that cannot be where they are nominated are not asked again.
	d := scheduling.Delta{Pods: come, Nominated: map[types.NamespacedName]string{}}
	for name, pod := range f.waits {
		if len(f.problem.Nominated) > 0 {
			d.Nominated[podspec.PodKey(pod)] = ""
		}
		if pod.Status.NominatedNodeName != "" {
			f.waits[name] = unbound(pod)
			d.Pods = append(d.Pods, f.waits[name])
		}
	}
	if err := f.market.Apply(d); err != nil {
		return err
	}
	f.free = f.market.Fork()
	var gone scheduling.Removed
	for _, name := range slices.Sorted(maps.Keys(f.waits)) {
		gone.Pods = append(gone.Pods, podspec.PodKey(f.waits[name]))
	}
	for _, pool := range f.problem.NodePools {
		gone.NodePools = append(gone.NodePools, pool.Name)
	}
	return f.free.Apply(scheduling.Delta{Removed: gone})
}

// closeTo lets nodes receive nobody from now on; for each time it takes one readmit to undo
// it. Nodes that are not there are passed over.
func (f *state) closeTo(nodes []string) error { return f.shut(nodes, 1) }

// readmit undoes closeTo.
func (f *state) readmit(nodes []string) error { return f.shut(nodes, -1) }

func (f *state) shut(nodes []string, by int) error {
	var changed []*corev1.Node
	for _, name := range nodes {
		s := f.standing(name)
		if s == nil {
			continue
		}
		was := s.shut > 0
		if s.shut += by; was != (s.shut > 0) {
			changed = append(changed, f.shown(s))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return f.apply(scheduling.Delta{Nodes: changed})
}

// shown is the node as the sessions see it: without room if it is closed.
func (f *state) shown(s *candidate) *corev1.Node {
	if s.shut == 0 {
		return s.node
	}
	node := *s.node
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
	node.Status.Capacity, node.Labels = instance.NodeCapacity(f.problem, &node), maps.Clone(node.Labels)
	node.Labels[scheduling.InitializedLabel], node.Labels[scheduling.RegisteredLabel] = "true", "true"
	return &node
}

// hold lets the sessions wait for changes until release: a change takes them as long as the
// cluster is large, and while steps are done that are known to be possible nobody asks them. No
// pod may move twice until then, and no node come and go.
func (f *state) hold() { f.held = &scheduling.Delta{} }

// release tells the sessions what has changed since hold.
func (f *state) release() error {
	d := f.held
	f.held = nil
	return f.apply(*d)
}

// apply makes a change in both sessions.
func (f *state) apply(d scheduling.Delta) error {
	if held := f.held; held != nil {
		held.Nodes, held.Pods, held.Moved = append(held.Nodes, d.Nodes...), append(held.Pods, d.Pods...), append(held.Moved, d.Moved...)
		held.Removed.Nodes, held.Removed.Pods = append(held.Removed.Nodes, d.Removed.Nodes...), append(held.Removed.Pods, d.Removed.Pods...)
		if d.Catalog != nil || d.PoolCatalogs != nil {
			held.Catalog, held.PoolCatalogs = d.Catalog, d.PoolCatalogs
		}
		return nil
	}
	if err := f.market.Apply(d); err != nil || f.free == nil {
		return err
	}
	d.Catalog, d.PoolCatalogs = nil, nil // nothing is for sale there
	return f.free.Apply(d)
}

// await lets pods wait again whose nodes went before they came. Rules go on counting them,
// so the session that may buy holds them, as it does all that wait.
func (f *state) await(pods []*corev1.Pod) error {
	d := scheduling.Delta{}
	for _, pod := range pods {
		pod = unbound(pod)
		f.waits[podspec.PodName(pod)], d.Pods = pod, append(d.Pods, pod)
	}
	if len(pods) == 0 {
		return nil
	}
	return f.market.Apply(d)
}

// takesIn reports whether pods that are evicted may land on a node: it is initialized, if a
// pool owns it, and does not say that it is not ready.
func takesIn(node *corev1.Node) bool {
	return (node.Labels[scheduling.NodePoolLabel] == "" || node.Labels[scheduling.InitializedLabel] == "true") && atWork(node)
}

// nodeOf is the node that a launch becomes, with its labels under all of their names.
func (f *state) nodeOf(l *scheduling.Launch) (*corev1.Node, error) {
	node, err := l.Node(l.Name, &l.Options[0], f.problem.CatalogOf(l.NodePool))
	if err == nil {
		requirements.AddAliases(node.Labels)
	}
	return node, err
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

// unbound is a pod that is made again and has no node yet.
func unbound(pod *corev1.Pod) *corev1.Pod { return podspec.Anew(pod, "") }
