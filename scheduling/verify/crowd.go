package verify

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// crowd is nodes and planned machines with the pods that sit on them. It is kept while pods
// come and go: whom a rule means, and whom it keeps away, is found without a look at anybody
// else.
type crowd struct {
	// hosts are those that are there, nodes those that have a name, by that.
	hosts map[*host]bool
	nodes map[string]*host
	// flocks are all that there ever were, in order of their coming; known finds them, and
	// bearers those that have a label with a value.
	flocks  []*flock
	known   map[flockKey]*flock
	bearers map[label][]*flock
	// stances are the anti-affinity that some flock has, in order of their coming, and by text.
	stances []*stance
	taken   map[string]*stance
	// meant, shunned and views remember what has been asked: for sets of pods by text, for
	// faces, and for spread constraints by text.
	meant   map[string]*membership
	shunned map[*face]*shunning
	views   map[string]*view
}

// host is a node or a planned machine.
type host struct {
	*place
	object string
}

// flock is pods that sit somewhere and that every rule treats alike.
type flock struct {
	face  *face
	apart []podTerm
	on    map[*host]int // how many of them
}

type flockKey struct {
	face  *face
	apart string
}

type label struct{ key, value string }

// stance is a term of anti-affinity with the flocks that have it, as often as they have it.
type stance struct {
	podTerm
	flocks []*flock
}

// membership is the flocks that belong to a set, as far as it has been asked of them.
type membership struct {
	flocks []*flock
	asked  int
}

// shunning is the stances that keep pods with a face away, as far as it has been asked of them.
type shunning struct {
	stances []*stance
	asked   int
}

// view is the hosts at which a spread constraint looks: how many, by their value of its key.
type view struct {
	nodes nodeFilter
	key   string
	hosts map[string]int
}

func newCrowd() *crowd {
	return &crowd{
		hosts: make(map[*host]bool), nodes: make(map[string]*host), known: make(map[flockKey]*flock), taken: make(map[string]*stance),
		bearers: make(map[label][]*flock), meant: make(map[string]*membership), shunned: make(map[*face]*shunning), views: make(map[string]*view),
	}
}

// enter sets a host up.
func (c *crowd) enter(h *host) {
	if h.name != "" {
		c.nodes[h.name] = h
	}
	c.show(h)
}

// leave takes a host away on which nobody sits any more.
func (c *crowd) leave(h *host) {
	if h.name != "" {
		delete(c.nodes, h.name)
	}
	c.hide(h)
}

// hide looks at a host as gone, with everybody on it; show as there again.
func (c *crowd) hide(h *host) {
	delete(c.hosts, h)
	for _, v := range c.views {
		v.count(h, -1)
	}
}

func (c *crowd) show(h *host) {
	c.hosts[h] = true
	for _, v := range c.views {
		v.count(h, 1)
	}
}

// flockOf are the pods with that face and that anti-affinity.
func (c *crowd) flockOf(f *face, apart []podTerm) *flock {
	texts := make([]string, len(apart))
	for i, n := range apart {
		texts[i] = n.text()
	}
	key := flockKey{f, strings.Join(texts, "\n")}
	k := c.known[key]
	if k != nil {
		return k
	}
	k = &flock{face: f, apart: apart, on: make(map[*host]int)}
	c.known[key], c.flocks = k, append(c.flocks, k)
	for key, value := range f.labels {
		c.bearers[label{key, value}] = append(c.bearers[label{key, value}], k)
	}
	for i, n := range apart {
		s := c.taken[texts[i]]
		if s == nil {
			s = &stance{podTerm: n}
			c.taken[texts[i]], c.stances = s, append(c.stances, s)
		}
		s.flocks = append(s.flocks, k)
	}
	return k
}

// sit puts one of the flock onto a host; one without a host nobody meets.
func (k *flock) sit(h *host) {
	if h != nil {
		k.on[h]++
	}
}

// rise takes one of them away.
func (k *flock) rise(h *host) {
	if h == nil {
		return
	}
	if k.on[h]--; k.on[h] == 0 {
		delete(k.on, h)
	}
}

// members are the flocks that belong to every one of the sets.
func (c *crowd) members(sets []*podSet) []*flock {
	if len(sets) == 0 {
		return c.flocks
	}
	m := c.meant[sets[0].text]
	if m == nil {
		m = &membership{}
		c.meant[sets[0].text] = m
	}
	for may := c.candidates(sets[0]); m.asked < len(may); m.asked++ {
		if k := may[m.asked]; sets[0].has(k.face) {
			m.flocks = append(m.flocks, k)
		}
	}
	if len(sets) == 1 {
		return m.flocks
	}
	var all []*flock
	for _, k := range m.flocks {
		if belongs(k.face, sets[1:]) {
			all = append(all, k)
		}
	}
	return all
}

// candidates are the flocks that may belong to a set, in order of their coming.
func (c *crowd) candidates(s *podSet) []*flock {
	for _, e := range s.labels {
		if e.op == corev1.NodeSelectorOpIn && len(e.values) == 1 {
			return c.bearers[label{e.key, e.values[0]}]
		}
	}
	return c.flocks
}

// belongs reports whether such pods belong to every one of the sets.
func belongs(f *face, sets []*podSet) bool {
	for _, s := range sets {
		if !s.has(f) {
			return false
		}
	}
	return true
}

// against are the stances that keep pods with the face away.
func (c *crowd) against(f *face) []*stance {
	s := c.shunned[f]
	if s == nil {
		s = &shunning{}
		c.shunned[f] = s
	}
	for ; s.asked < len(c.stances); s.asked++ {
		if n := c.stances[s.asked]; n.pods.has(f) {
			s.stances = append(s.stances, n)
		}
	}
	return s.stances
}

// view is the hosts at which the constraint looks.
func (c *crowd) view(r *spreadRule) *view {
	key := r.nodes.text + " " + r.key
	v := c.views[key]
	if v == nil {
		v = &view{nodes: r.nodes, key: r.key, hosts: make(map[string]int)}
		c.views[key] = v
		for h := range c.hosts {
			v.count(h, 1)
		}
	}
	return v
}

// count notes n hosts more, if the constraint looks at such.
func (v *view) count(h *host, n int) {
	if !v.nodes.passes(h.place) {
		return
	}
	value, _ := h.value(v.key)
	if v.hosts[value] += n; v.hosts[value] == 0 {
		delete(v.hosts, value)
	}
}
