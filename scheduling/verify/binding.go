package verify

import (
	"cmp"
	"slices"
	"strings"
)

// booking is a pod with the node that it is to bind to.
type booking struct {
	*tenant
	node *node
}

// bindingOrder is by priority, highest first, then by namespace and name.
func bindingOrder(a, b booking) int {
	return cmp.Or(cmp.Compare(said(b.pod.Spec.Priority, 0), said(a.pod.Spec.Priority, 0)),
		strings.Compare(namespaceOf(a.pod), namespaceOf(b.pod)), strings.Compare(a.pod.Name, b.pod.Name))
}

// outcome is how things are when pods have bound, until it is undone.
type outcome struct {
	*topology
	// groups are those of the pods, counters what their rules count.
	groups   map[*podGroup]bool
	counters map[*counter]bool
	bound    []booking
	waiting  []unbound
}

// unbound is a pod that cannot bind, and what keeps it.
type unbound struct {
	booking
	by obstacle
}

// bind lets the pods bind, one by one, each if every rule allows it at that moment, and those
// that cannot try again for as long as anybody binds. What matters to the pods that only watch
// is counted, too.
func (t *topology) bind(bookings []booking, watching ...*tenant) *outcome {
	o := &outcome{topology: t, groups: make(map[*podGroup]bool), counters: make(map[*counter]bool)}
	for _, b := range bookings {
		o.watch(b.tenant)
	}
	for _, pod := range watching {
		o.watch(pod)
	}
	waiting := bookings
	for again := true; again; {
		again, o.waiting = false, nil
		var rest []booking
		for _, b := range waiting {
			g := o.groupOf(b.tenant)
			if by, found := g.obstacle(b.node); found {
				rest, o.waiting = append(rest, b), append(o.waiting, unbound{b, by})
				continue
			}
			o.sit(g, b.node, 1)
			o.bound, again = append(o.bound, b), true
		}
		waiting = rest
	}
	return o
}

func (t *topology) groupOf(pod *tenant) *podGroup { return t.group(pod.face, pod.ties) }

func (o *outcome) watch(t *tenant) {
	g := o.groupOf(t)
	o.prepare(g)
	o.groups[g] = true
	for _, c := range slices.Concat(g.spread, g.near, g.apart) {
		o.counters[c] = true
	}
}

// undo takes the pods off their nodes again, redo puts them back.
func (o *outcome) undo() { o.all(-1) }
func (o *outcome) redo() { o.all(1) }

func (o *outcome) all(pods int) {
	for _, b := range o.bound {
		o.sit(o.groupOf(b.tenant), b.node, pods)
	}
}

// gather sets up the nodes with the pods that run on them.
func gather(w *world) *topology {
	t := newTopology()
	for _, n := range w.nodes {
		t.enter(n)
	}
	for _, r := range w.residents {
		t.sit(t.group(r.face, r.ties), t.named[r.node], 1)
	}
	return t
}
