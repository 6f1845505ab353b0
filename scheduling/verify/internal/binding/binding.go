package binding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Pending is a pod with the node that it is to bind to.
type Pending struct {
	Pod  *snapshot.Pod
	Node *snapshot.Node
}

// ByBindingOrder compares by priority, highest first, then by namespace and name: the order in which pods bind.
func ByBindingOrder(a, b Pending) int {
	return cmp.Or(cmp.Compare(b.Pod.Priority(), a.Pod.Priority()),
		strings.Compare(snapshot.NamespaceOf(a.Pod.Object), snapshot.NamespaceOf(b.Pod.Object)), strings.Compare(a.Pod.Object.Name, b.Pod.Object.Name))
}

// Outcome is the state once pods have bound, until it is undone.
type Outcome struct {
	*Topology
	// Groups are the groups of the pods, Counters the counters of their topology terms.
	Groups   map[*Group]bool
	Counters map[*Counter]bool
	bound    []Pending
	Waiting  []Unbound
}

// Unbound is a pod that cannot bind, and the term that keeps it off its node.
type Unbound struct {
	Pending
	By Obstacle
}

// Bind binds the pods one by one, each if every term allows it at that moment. Those that cannot bind try again until
// a round in which none binds. Pods in watching do not bind; the outcome has counters for their terms, too.
func (t *Topology) Bind(bookings []Pending, watching ...*snapshot.Pod) *Outcome {
	o := &Outcome{Topology: t, Groups: make(map[*Group]bool), Counters: make(map[*Counter]bool)}
	for _, b := range bookings {
		o.watch(b.Pod)
	}
	for _, pod := range watching {
		o.watch(pod)
	}
	waiting := bookings
	for again := true; again; {
		again, o.Waiting = false, nil
		var rest []Pending
		for _, b := range waiting {
			g := o.GroupOf(b.Pod)
			if by, found := g.Obstacle(b.Node); found {
				rest, o.Waiting = append(rest, b), append(o.Waiting, Unbound{b, by})
				continue
			}
			o.Add(g, b.Node, 1)
			o.bound, again = append(o.bound, b), true
		}
		waiting = rest
	}
	return o
}

// GroupOf returns the group of a pod.
func (t *Topology) GroupOf(pod *snapshot.Pod) *Group { return t.Group(pod.Identity, pod.Terms) }

// watch sets up the counters of the terms of a pod.
func (o *Outcome) watch(t *snapshot.Pod) {
	g := o.GroupOf(t)
	o.prepare(g)
	o.Groups[g] = true
	for _, c := range slices.Concat(g.Spread, g.Affinity, g.AntiAffinity) {
		o.Counters[c] = true
	}
}

// Undo takes the pods off their nodes again.
func (o *Outcome) Undo() { o.all(-1) }

// Redo puts them back.
func (o *Outcome) Redo() { o.all(1) }

func (o *Outcome) all(pods int) {
	for _, b := range o.bound {
		o.Add(o.GroupOf(b.Pod), b.Node, pods)
	}
}

// NewTopologyOf returns the running nodes of a problem with their pods.
func NewTopologyOf(w *snapshot.State) *Topology {
	t := NewTopology()
	for _, n := range w.Nodes {
		t.AddNode(n)
	}
	for _, r := range w.Residents {
		t.Add(t.Group(r.Identity, r.Terms), t.Named[r.Node], 1)
	}
	return t
}
