package controller

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/adapters/controller/state"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// bindTimeout is how long a pod may stay pending beside the ready node that it was promised, before it is planned anew: no plan
// knows why kube-scheduler does not bind it.
const bindTimeout = 30 * time.Second

// retryEvery is the least time between two plans for pods that the last plan had no node for.
const retryEvery = 10 * time.Second

// waiting are the nodes that pending pods wait for.
type waiting struct {
	promised map[string]*promise
	// taken are the nodes to which a pod has been bound that they were not promised to, since the last settle.
	taken map[string]bool
	// nominated are the nodes that Options.Nominator was told, by the UIDs of pending pods.
	nominated map[types.UID]nomination
	// told are the nominations that the session has.
	told map[types.NamespacedName]string
	// unplaced are the pods that the last plan had no node for, plannedAt its time.
	unplaced  map[string]bool
	plannedAt time.Duration
	// changed says that an object has changed since then, came when the last pod came or may have lost its room, and since from
	// when on pods wait for a plan.
	changed bool
	came    time.Duration
	since   time.Duration
}

// promise is the place of a pending pod: a machine on its way or a node.
type promise struct {
	machine *machine
	node    string
	// readySince is since when the node is ready; below 0 it is not.
	readySince time.Duration
}

func newWaiting() waiting {
	return waiting{promised: map[string]*promise{}, taken: map[string]bool{}, told: map[types.NamespacedName]string{}, unplaced: map[string]bool{}, since: -1, plannedAt: -retryEvery}
}

// unplanned reports whether there are pods for which no plan was tried.
func (w *waiting) unplanned(x *state.Cluster) bool {
	for pod := range x.Pending() {
		if w.promised[pod] == nil && !w.unplaced[pod] {
			return true
		}
	}
	return false
}

// at is the name of the promised node; "" until it has joined.
func (p *promise) at() string {
	if p.machine != nil {
		return p.machine.node
	}
	return p.node
}

// bound notes that a pod has been bound that is not of a DaemonSet and not static: plans leave room for these.
func (w *waiting) bound(pod *corev1.Pod) {
	if p := w.promised[scheduling.PodName(pod)]; p == nil || p.at() != pod.Spec.NodeName {
		w.taken[pod.Spec.NodeName] = true
	}
}

// settle ends the promises that are kept, and those that cannot be: the node goes, or another pod may have taken the room on it.
// The next plan promises the same node again if there is room.
func (c *Controller) settle() {
	for pod, p := range c.pods.promised {
		at := p.at()
		node := c.state.Nodes()[at]
		ready := node != nil && (p.machine == nil || p.machine.ready)
		switch {
		case c.state.Pending()[pod] == nil:
			delete(c.pods.promised, pod)
		case p.machine != nil && c.gone(p.machine), p.machine == nil && node == nil, node != nil && c.closed(at):
			delete(c.pods.promised, pod)
		case c.pods.taken[at]:
			// It waits for a plan as if it had just come: kube-scheduler may be about to bind others elsewhere than planned, too,
			// and so leave room.
			c.pods.came = c.clock.elapsed
			delete(c.pods.promised, pod)
			c.count(func(s *Stats) { s.Replanned++ })
		case !ready:
			p.readySince = -1
		case p.readySince < 0:
			p.readySince = c.clock.elapsed
		case c.clock.elapsed-p.readySince > bindTimeout:
			delete(c.pods.promised, pod)
			c.count(func(s *Stats) { s.Replanned++ })
		}
	}
	clear(c.pods.taken)
	for pod := range c.pods.unplaced {
		if c.state.Pending()[pod] == nil {
			delete(c.pods.unplaced, pod)
		}
	}
}

// due reports whether pods are to be planned now.
func (c *Controller) due() bool {
	w, now := &c.pods, c.clock.elapsed
	if !w.unplanned(c.state) {
		w.since = -1
		return len(w.unplaced) > 0 && w.changed && now-w.plannedAt >= retryEvery
	}
	if w.since < 0 {
		w.since = now
	}
	return now-w.came >= c.opts.BatchIdle || now-w.since >= c.opts.BatchMax
}

// provision plans the pending pods and orders machines for them.
func (c *Controller) provision(ctx context.Context) error {
	c.settle()
	if !c.due() {
		return nil
	}
	if err := c.tell(); err != nil {
		return err
	}
	planCtx, cancel := c.planContext(ctx)
	defer cancel()
	plan, err := c.state.Session().Plan(planCtx)
	if err != nil {
		return err
	}
	c.count(func(s *Stats) { s.Plans++ })
	c.warned.Log(ctx, c.opts.Log, plan.Warnings)
	if c.opts.Planned != nil {
		if err := c.opts.Planned(c.state.Session().Problem(), plan); err != nil {
			return err
		}
	}
	w := &c.pods
	w.plannedAt, w.changed, w.since = c.clock.elapsed, false, -1
	before := w.promised
	w.promised, w.unplaced = map[string]*promise{}, map[string]bool{}
	for i := range plan.Existing {
		a := &plan.Existing[i]
		p := c.promiseOf(a.Node)
		for _, pod := range a.Pods {
			w.promised[pod] = p
			if old := before[pod]; old != nil && old.machine == p.machine && old.node == p.node {
				w.promised[pod] = old
			}
		}
	}
	for i, m := range c.order(ctx, plan.Launches, 0) {
		if m == nil {
			continue // its pods are planned again, without the offerings that cannot be had
		}
		p := &promise{machine: m, readySince: -1}
		for _, pod := range plan.Launches[i].Pods {
			w.promised[pod] = p
		}
	}
	for i := range plan.Unschedulable {
		w.unplaced[plan.Unschedulable[i].Pod] = true
		c.opts.Log.Warn("no node for pod", "pod", plan.Unschedulable[i].Pod, "message", plan.Unschedulable[i].Message)
	}
	return c.tell()
}

// promiseOf is a promise of the node that the session names so: a node, or the order of a machine in flight.
func (c *Controller) promiseOf(name string) *promise {
	if m := c.byName[name]; m != nil && m.at() == name && m.node == "" {
		return &promise{machine: m, readySince: -1}
	}
	return &promise{node: name, readySince: -1}
}

// order orders a machine for each launch, several at a time, and returns them in the order of the launches: nil where none of
// the options can be had. With a saving, an option must not cost more than the launch's price by that much; 0 is any price.
func (c *Controller) order(ctx context.Context, launches []scheduling.Launch, saving offerings.Price) []*machine {
	out, ids := make([]*machine, len(launches)), make([]string, len(launches))
	for i := range ids {
		ids[i] = c.orderID()
	}
	c.inParallel(len(launches), func(i int) { out[i] = c.tryOrder(ctx, ids[i], &launches[i], saving) })
	for _, m := range out {
		if m != nil {
			c.keep(m)
		}
	}
	return out
}

// inParallel calls f for 0 to n-1, Options.Parallel of them at a time.
func (c *Controller) inParallel(n int, f func(int)) {
	free := make(chan struct{}, c.opts.Parallel)
	var all sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	all.Wait()
}

// tell tells the session what it does not get from events: the nodes of machines in flight, and the node that each
// pod is promised, by a plan or by a step under way. The session keeps these places for them.
func (c *Controller) tell() error {
	d := scheduling.Delta{Now: c.clock.now, Unavailable: c.unavailable, Nominated: map[types.NamespacedName]string{}}
	want := map[types.NamespacedName]string{}
	for pod, p := range c.pods.promised {
		if c.state.Pending()[pod] == nil {
			continue
		}
		if p.machine != nil {
			want[state.PodKey(pod)] = p.machine.at()
		} else {
			want[state.PodKey(pod)] = p.node
		}
	}
	for _, step := range c.underway() {
		for _, e := range step.Evictions {
			// A pod that is being deleted has a successor, which is planned by itself.
			if p := c.state.Pod(e.Pod); p != nil && !lifecycle.Leaving(p) && p.Spec.NodeName == e.From && e.To != "" {
				want[state.PodKey(e.Pod)] = e.To
			}
		}
	}
	for pod := range c.pods.told {
		if _, ok := want[pod]; !ok {
			d.Nominated[pod] = ""
		}
	}
	for pod, node := range want {
		if c.pods.told[pod] != node {
			d.Nominated[pod] = node
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.refresh)) {
		if node := c.state.Nodes()[name]; node != nil {
			d.Nodes = append(d.Nodes, c.asPlanned(node))
		}
	}
	problem := sync.OnceValue(c.state.Session().Problem)
	show := map[*machine]shown{}
	for _, id := range slices.Sorted(maps.Keys(c.machines)) {
		m := c.machines[id]
		want := m.show()
		if want == m.shown {
			continue
		}
		show[m] = want
		if want == absent {
			d.Removed.Nodes = append(d.Removed.Nodes, m.inFlightName())
			continue
		}
		p := problem()
		node, err := m.Order.Launch.Node(m.inFlightName(), &m.Order.Option, p.CatalogOf(m.Order.Launch.NodePool))
		if err != nil {
			c.opts.Log.Warn("machine in flight is not in the catalog", "order", m.id, "error", err)
			delete(show, m)
			continue
		}
		delete(node.Labels, scheduling.InitializedLabel)
		delete(node.Labels, scheduling.RegisteredLabel)
		if want == closing {
			ApplyTaint(node, Taint(), true)
		}
		d.Nodes = append(d.Nodes, node)
	}
	d.Removed.Nodes = append(d.Removed.Nodes, c.forgotten...)
	if err := c.state.Session().Apply(d); err != nil {
		return err
	}
	for m, now := range show {
		m.shown = now
	}
	c.forgotten, c.refresh = nil, map[string]bool{}
	c.pods.told = want
	return nil
}
