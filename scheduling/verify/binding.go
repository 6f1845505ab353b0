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

// resident is a pod that runs already.
type resident struct {
	face  *face
	apart []podTerm
	node  string
}

// bindings checks the rules between pods. They hold if the plan's pods can bind one
// by one: all nodes and machines stand and the running pods sit, then the pods come in
// order of priority and name, each binds if every rule allows it at that moment, and
// those that could not try again for as long as anybody binds.
func (j *judge) bindings() {
	if !j.anyTies() {
		return
	}
	s, waiting := j.play(j.booked)
	for _, g := range waiting {
		o, _ := s.obstacle(g.party, g.host)
		j.add(o.code, "pod/"+g.name, "cannot bind to %s: %s", g.host.object, o)
	}
	j.agreements(s)
}

// anyTies reports whether there are rules that could keep a pod off its host.
func (j *judge) anyTies() bool {
	return slices.ContainsFunc(j.booked, func(b booking) bool { return !b.ties.none() }) ||
		len(j.crowd.stances) > 0
}

// stand sets up all nodes, those that are being removed too, and the first options of
// the launches, and books the pods of the plan.
func (j *judge) stand() {
	if j.crowd == nil {
		j.crowd = j.gather()
	}
	for _, r := range j.launches {
		if m := r.first(); m != nil {
			r.host = newHost(m, r.promises, r.object)
			j.crowd.enter(r.host)
		}
	}
	j.book()
}

// gather sets up the nodes with the pods that run on them.
func (w *world) gather() *crowd {
	c := newCrowd()
	for _, s := range w.stations {
		c.enter(&host{place: &s.place, object: "node/" + s.name})
	}
	for _, r := range w.residents {
		c.flockOf(r.face, r.apart).sit(c.nodes[r.node])
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
		put(j.crowd.nodes[a.Node], a.Pods)
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

// guest is a pod that has not bound yet.
type guest struct {
	booking
	party *party
	// stuck is the state of the rules in which such a pod could not bind.
	stuck *int
}

// play lets the pods bind and returns those that cannot. The scene also counts what
// matters to pods that only watch.
func (j *judge) play(bookings []booking, watching ...booking) (*scene, []guest) {
	type seat struct {
		party *party
		host  *host
	}
	s := newScene(j.crowd)
	waiting := make([]guest, 0, len(bookings))
	stuck := make(map[seat]*int)
	for _, b := range bookings {
		at := seat{s.partyOf(b.face, b.ties), b.host}
		if stuck[at] == nil {
			never := -1
			stuck[at] = &never
		}
		waiting = append(waiting, guest{b, at.party, stuck[at]})
	}
	for _, b := range watching {
		s.partyOf(b.face, b.ties)
	}
	for bound := true; bound; {
		bound = false
		var rest []guest
		for _, g := range waiting {
			if now := s.state(g.party); now != *g.stuck {
				if _, found := s.obstacle(g.party, g.host); !found {
					s.sit(g.face, g.party.keeps, g.host)
					bound = true
					continue
				}
				*g.stuck = now
			}
			rest = append(rest, g)
		}
		waiting = rest
	}
	return s, waiting
}

// agreements checks that all options of a launch have what its first has of every
// label that matters to a rule between pods, its own or one that counts it. Host names
// are unique whatever is bought.
func (j *judge) agreements(s *scene) {
	for _, r := range j.launches {
		if r.host == nil {
			continue
		}
		keys := make(map[string]bool)
		for _, t := range r.pods {
			s.noteKeys(keys, t, r.host)
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
func (s *scene) noteKeys(keys map[string]bool, t *tenant, h *host) {
	p := s.partyOf(t.face, t.ties)
	for i, x := range p.spread {
		keys[x.key] = keys[x.key] || x.total > t.ties.spread[i].maxSkew
	}
	for _, x := range p.near {
		keys[x.key] = keys[x.key] || !s.aloof(p, x)
	}
	for _, x := range p.apart {
		if x.total > 1 || x.total == 1 && !x.means(p.face) {
			keys[x.key] = true
		}
	}
	for _, x := range s.shunners(t.face) {
		// If nobody who shuns them is anywhere with that label, it does not matter, nor if
		// that is the pod itself.
		if x.total > 1 || x.total == 1 && !slices.Contains(p.keeps, x) {
			keys[x.key] = true
		}
	}
	for _, x := range s.counters(t.face) {
		if x.wanted && x.looksAt(h) && (x.view == nil && !s.aloof(p, x) || x.view != nil && x.total > x.skew) {
			keys[x.key] = true
		}
	}
}

// aloof reports whether one pod alone is counted for an affinity, and nobody else asks
// for it.
func (s *scene) aloof(p *party, x *tally) bool {
	if x.total > 1 || !x.means(p.face) {
		return false
	}
	for _, other := range s.parties {
		if other != p && slices.Contains(other.near, x) {
			return false
		}
	}
	return slices.Contains(p.near, x)
}
