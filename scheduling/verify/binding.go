package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// booking is a pod of the plan with its host.
type booking struct {
	*tenant
	host *host
}

// runningPod is a pod that runs already.
type runningPod struct {
	face *face
	ties *ties
	node string
}

// bindings checks the rules between pods. They hold if the plan's pods can bind one
// by one: all nodes and machines stand and the running pods sit, then the pods come in
// order of priority and name, each binds if every rule allows it at that moment, and
// those that could not try again for as long as anybody binds.
func (j *judge) bindings() {
	if !j.anyTies() {
		return
	}
	o := j.bind(j.booked)
	for _, b := range o.waiting {
		j.add(b.by.code, "pod/"+b.name, "cannot bind to %s: %s", b.host.object, b.by)
	}
	j.agreements(o)
	o.undo()
}

// anyTies reports whether there are rules that could keep a pod off its host.
func (j *judge) anyTies() bool {
	return slices.ContainsFunc(j.booked, func(b booking) bool { return !b.ties.none() }) ||
		j.topology.kept
}

// stand sets up all nodes, those that are being removed too, and the first options of
// the launches, and books the pods of the plan.
func (j *judge) stand() {
	if j.topology == nil {
		j.topology = j.gather()
	}
	for _, r := range j.launches {
		if m := r.first(); m != nil {
			r.host = newHost(m, r.promises, r.object)
			j.topology.enter(r.host)
		}
	}
	j.book()
}

// gather sets up the nodes with the pods that run on them.
func (w *world) gather() *topology {
	c := newTopology()
	for _, s := range w.stations {
		c.enter(&host{place: &s.place, object: "node/" + s.name})
	}
	for _, r := range w.residents {
		c.sit(c.group(r.face, r.ties), c.nodes[r.node], 1)
	}
	return c
}

// nobodys begins host names that nobody can ask for.
const nobodys = "\x00"

// newHost is a machine that stands, with a host name that nobody else has.
func newHost(m *machine, open func(string) opening, object string) *host {
	p := m.place
	p.labels = maps.Clone(m.labels)
	p.labels[corev1.LabelHostname] = nobodys + object
	p.open = open
	return &host{place: &p, object: object}
}

// book lists the pods of the plan in the order in which they bind. A pod that stands
// twice comes once.
func (j *judge) book() {
	seen := make(map[string]bool)
	put := func(h *host, names []string) {
		for _, name := range names {
			if t := j.pods[name]; t != nil && h != nil && !seen[name] {
				seen[name] = true
				j.booked = append(j.booked, booking{t, h})
			}
		}
	}
	for _, r := range j.launches {
		put(r.host, r.Pods)
	}
	for _, a := range j.plan.Existing {
		put(j.topology.nodes[a.Node], a.Pods)
	}
	slices.SortFunc(j.booked, bindingOrder)
}

// bindingOrder is by priority, highest first, then by namespace and name.
func bindingOrder(a, b booking) int {
	return cmp.Or(b.priority()-a.priority(), strings.Compare(namespaceOf(a.pod), namespaceOf(b.pod)), strings.Compare(a.pod.Name, b.pod.Name))
}

func (t *tenant) priority() int {
	if p := t.pod.Spec.Priority; p != nil {
		return int(*p)
	}
	return 0
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

// bind lets the pods bind, one by one, and those that cannot try again for as long as
// anybody binds. What matters to the pods that only watch is counted, too.
func (j *judge) bind(bookings []booking, watching ...*tenant) *outcome {
	type seat struct {
		group *podGroup
		host  *host
	}
	o := &outcome{topology: j.topology, groups: make(map[*podGroup]bool), counters: make(map[*counter]bool)}
	for _, b := range bookings {
		o.watch(b.tenant)
	}
	for _, t := range watching {
		o.watch(t)
	}
	stuck := make(map[seat]int) // the state in which such a pod could not bind
	waiting := bookings
	for bound := true; bound; {
		bound = false
		var rest []booking
		for _, b := range waiting {
			at := seat{o.group(b.face, b.ties), b.host}
			now := at.group.state()
			if before, tried := stuck[at]; tried && before == now {
				rest = append(rest, b)
			} else if _, found := at.group.obstacle(b.host); found {
				stuck[at] = now
				rest = append(rest, b)
			} else {
				o.sit(at.group, b.host, 1)
				o.bound, bound = append(o.bound, b), true
			}
		}
		waiting = rest
	}
	for _, b := range waiting {
		by, _ := o.group(b.face, b.ties).obstacle(b.host)
		o.waiting = append(o.waiting, unbound{b, by})
	}
	return o
}

func (o *outcome) watch(t *tenant) {
	g := o.group(t.face, t.ties)
	o.prepare(g)
	if o.groups[g] {
		return
	}
	o.groups[g] = true
	for _, list := range [][]*counter{g.spread, g.near, g.apart} {
		for _, c := range list {
			o.counters[c] = true
		}
	}
}

// undo takes the pods off their hosts again, redo puts them back.
func (o *outcome) undo() { o.all(-1) }
func (o *outcome) redo() { o.all(1) }

func (o *outcome) all(n int) {
	for _, b := range o.bound {
		o.sit(o.group(b.face, b.ties), b.host, n)
	}
}

// agreements checks that all options of a launch have what its first has of every
// label that matters to a rule between pods, its own or one that counts it. Host names
// are unique whatever is bought.
func (j *judge) agreements(o *outcome) {
	for _, r := range j.launches {
		if r.host == nil {
			continue
		}
		keys := make(map[string]bool)
		for _, t := range r.pods {
			o.noteKeys(keys, t, r.host)
		}
		for i, m := range r.machines {
			if m == nil || i == 0 {
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				if requirements.NormalizeKey(key) == corev1.LabelHostname {
					continue
				}
				first, has := r.first().value(key)
				if value, ok := m.value(key); ok != has || keys[key] && value != first {
					j.add(OptionTopology, fmt.Sprintf("%s/options[%d]", r.object, i),
						"%s is %q, the first option has %q, and rules between pods depend on it", key, value, first)
				}
			}
		}
	}
}

// noteKeys notes the labels on which it depends what the pod may do on the host, or what
// it means to others: true where the value matters, false where only having it does.
// No value matters to a rule that would hold wherever all of its pods were.
func (o *outcome) noteKeys(keys map[string]bool, t *tenant, h *host) {
	g := o.group(t.face, t.ties)
	for i, c := range g.spread {
		keys[c.key] = keys[c.key] || c.total > t.ties.spread[i].maxSkew
	}
	for _, c := range g.near {
		keys[c.key] = keys[c.key] || !o.aloof(g, c)
	}
	for _, c := range g.apart {
		if c.total > 1 || c.total == 1 && !c.means(g.face) {
			keys[c.key] = true
		}
	}
	for _, c := range g.against {
		// If nobody who keeps them away is anywhere with that label, it does not matter, nor
		// if that is the pod itself.
		if c.total > 1 || c.total == 1 && !slices.Contains(g.keeps, c) {
			keys[c.key] = true
		}
	}
	for _, c := range g.counted {
		if o.counters[c] && !c.lone && c.looksAt(h) && (c.view == nil && !o.aloof(g, c) || c.view != nil && c.total > c.skew) {
			keys[c.key] = true
		}
	}
}

// aloof reports whether one pod alone is counted for an affinity, and nobody else asks
// for it.
func (o *outcome) aloof(g *podGroup, c *counter) bool {
	if c.total > 1 || !c.means(g.face) {
		return false
	}
	for other := range o.groups {
		if other != g && slices.Contains(other.near, c) {
			return false
		}
	}
	return slices.Contains(g.near, c)
}
