package verify

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// topology is nodes and planned machines with the pods on them, and what the rules between
// pods count there. It is kept while hosts and pods come and go.
type topology struct {
	// hosts are those that are there, nodes those that have a name, by that.
	hosts map[*host]bool
	nodes map[string]*host
	// groups are all that there ever were, by what rules see of them, and by the labels of
	// their pods; those with the zero label are all.
	groups   map[string]*podGroup
	labelled map[label][]*podGroup
	// counters are all that rules have asked for, by what they count, and by a label that
	// the pods must have which they are about, the zero label where there is none.
	counters map[string]*counter
	about    map[label][]*counter
	views    map[string]*view
	kept     bool // some pods keep others away
}

// host is a node or a planned machine.
type host struct {
	*place
	object string
}

// podGroup is pods that every rule treats alike.
type podGroup struct {
	face *face
	ties *ties
	on   map[*host]int // how many of them
	// counted are the counters that count them by their labels, keeps those that count them
	// for one of their anti-affinity terms, against those of others' terms that keep them
	// away.
	counted, keeps, against []*counter
	// spread, near and apart are the counters of their own terms, one each, once they are to
	// bind.
	spread, near, apart []*counter
	ready               bool
}

type label struct{ key, value string }

// counter counts pods by the value that their host has of a label: those that belong to
// every one of the sets, or of keepers those that have the anti-affinity term.
type counter struct {
	key    string
	sets   []*podSet
	keeper bool
	// view is the hosts at which a spread constraint looks; nil is all. skew is what the
	// constraint allows, lone set for anti-affinity, to which only those matter that have it.
	view   *view
	skew   int
	lone   bool
	counts map[string]int
	total  int
	// version changes with every pod that is counted.
	version int
	// level is how many domains of a spread constraint have a number of pods, fewest at most
	// the least number that one of them has.
	level  map[int]int
	fewest int
}

// view is the hosts at which spread constraints look: how many, by their value of the key.
type view struct {
	nodes    nodeFilter
	key      string
	hosts    map[string]int
	counters []*counter
}

func newTopology() *topology {
	return &topology{
		hosts: make(map[*host]bool), nodes: make(map[string]*host), groups: make(map[string]*podGroup), labelled: make(map[label][]*podGroup),
		counters: make(map[string]*counter), about: make(map[label][]*counter), views: make(map[string]*view),
	}
}

// enter sets a host up, with the pods that sit on it.
func (t *topology) enter(h *host) {
	if h.name != "" {
		t.nodes[h.name] = h
	}
	for _, v := range t.views {
		v.count(h, 1)
	}
	t.hosts[h] = true
	t.countAll(h, 1)
}

// leave takes a host away; pods that still sit there count no more.
func (t *topology) leave(h *host) {
	if h.name != "" {
		delete(t.nodes, h.name)
	}
	t.countAll(h, -1)
	delete(t.hosts, h)
	for _, v := range t.views {
		v.count(h, -1)
	}
}

// countAll counts the pods on a host, or takes them off the counts.
func (t *topology) countAll(h *host, sign int) {
	for _, g := range t.groups {
		if n := g.on[h]; n > 0 {
			g.count(h, sign*n)
		}
	}
}

// sit puts n pods of the group onto a host, or takes them away; one without a host nobody
// meets.
func (t *topology) sit(g *podGroup, h *host, n int) {
	if h == nil {
		return
	}
	if g.on[h] += n; g.on[h] == 0 {
		delete(g.on, h)
	}
	if t.hosts[h] {
		g.count(h, n)
	}
}

func (g *podGroup) count(h *host, n int) {
	for _, c := range g.counted {
		c.add(h, n)
	}
	for _, c := range g.keeps {
		c.add(h, n)
	}
}

// group is the pods with that face and those rules.
func (t *topology) group(f *face, rules *ties) *podGroup {
	key := fmt.Sprintf("%p %s", f, rules.text)
	g := t.groups[key]
	if g != nil {
		return g
	}
	g = &podGroup{face: f, ties: rules, on: make(map[*host]int)}
	t.groups[key] = g
	labels := []label{{}}
	for key, value := range f.labels {
		labels = append(labels, label{key, value})
	}
	for _, l := range labels {
		t.labelled[l] = append(t.labelled[l], g)
		for _, c := range t.about[l] {
			if c.means(f) {
				g.join(c)
			}
		}
	}
	for _, n := range rules.apart {
		g.keeps = append(g.keeps, t.counter("keep "+n.text(), &counter{key: n.key, sets: []*podSet{n.pods}, keeper: true}))
		t.kept = true
	}
	return g
}

// join notes a counter that is about the pods of the group.
func (g *podGroup) join(c *counter) {
	if c.keeper {
		g.against = append(g.against, c)
	} else {
		g.counted = append(g.counted, c)
	}
}

// counter is the one of the text; a new one is about those who belong to its sets.
func (t *topology) counter(text string, c *counter) *counter {
	if known := t.counters[text]; known != nil {
		return known
	}
	t.counters[text] = c
	c.counts = make(map[string]int)
	if c.view != nil {
		c.view.counters = append(c.view.counters, c)
		c.level = map[int]int{0: len(c.view.hosts)}
	}
	l := c.sets[0].label()
	t.about[l] = append(t.about[l], c)
	for _, g := range t.labelled[l] {
		if !c.means(g.face) {
			continue
		}
		g.join(c)
		for h, n := range g.on {
			if t.hosts[h] && !c.keeper {
				c.add(h, n)
			}
		}
	}
	return c
}

// prepare sets up what the rules of the group count.
func (t *topology) prepare(g *podGroup) {
	if g.ready {
		return
	}
	g.ready = true
	for i := range g.ties.spread {
		r := &g.ties.spread[i]
		text := fmt.Sprintf("spread %q %d %q %s", r.key, r.maxSkew, r.pods.text, r.nodes.text)
		g.spread = append(g.spread, t.counter(text, &counter{key: r.key, sets: []*podSet{r.pods}, view: t.view(r), skew: r.maxSkew}))
	}
	var near []*podSet
	var texts []string
	for _, n := range g.ties.near {
		near, texts = append(near, n.pods), append(texts, n.pods.text)
	}
	for _, n := range g.ties.near {
		// A pod that meets one term only is no company.
		g.near = append(g.near, t.counter(fmt.Sprintf("near %q %q", n.key, texts), &counter{key: n.key, sets: near}))
	}
	for _, n := range g.ties.apart {
		g.apart = append(g.apart, t.counter("apart "+n.text(), &counter{key: n.key, sets: []*podSet{n.pods}, lone: true}))
	}
}

// view is the hosts at which the constraint looks.
func (t *topology) view(r *spreadRule) *view {
	key := r.nodes.text + " " + r.key
	v := t.views[key]
	if v == nil {
		v = &view{nodes: r.nodes, key: r.key, hosts: make(map[string]int)}
		t.views[key] = v
		for h := range t.hosts {
			v.count(h, 1)
		}
	}
	return v
}

// count notes n hosts more, if the view has such.
func (v *view) count(h *host, n int) {
	if !v.nodes.passes(h.place) {
		return
	}
	value, _ := h.value(v.key)
	before := v.hosts[value]
	if v.hosts[value] += n; v.hosts[value] == 0 {
		delete(v.hosts, value)
	}
	for _, c := range v.counters {
		if before == 0 {
			c.level[c.counts[value]]++
			c.fewest = min(c.fewest, c.counts[value])
		} else if before+n == 0 {
			c.level[c.counts[value]]--
		}
	}
}

// label is one that every pod of the set has; the zero label where none is certain.
func (s *podSet) label() label {
	for _, e := range s.labels {
		if e.op == corev1.NodeSelectorOpIn && len(e.values) == 1 {
			return label{e.key, e.values[0]}
		}
	}
	return label{}
}

// means reports whether such pods belong to all of the sets.
func (c *counter) means(f *face) bool {
	for _, s := range c.sets {
		if !s.has(f) {
			return false
		}
	}
	return true
}

// looksAt reports whether pods on the host count.
func (c *counter) looksAt(h *host) bool { return c.view == nil || c.view.nodes.passes(h.place) }

// add counts pods on a host.
func (c *counter) add(h *host, pods int) {
	value, ok := h.value(c.key)
	if !ok || !c.looksAt(h) {
		return
	}
	n := c.counts[value]
	c.counts[value] = n + pods
	c.total += pods
	c.version++
	if c.level != nil {
		c.level[n]--
		c.level[n+pods]++
		c.fewest = min(c.fewest, n+pods)
	}
}

// least is the smallest count of any domain, or 0 where there are too few domains.
func (c *counter) least(minDomains int) int {
	if len(c.view.hosts) == 0 || len(c.view.hosts) < minDomains {
		return 0
	}
	for c.level[c.fewest] == 0 {
		c.fewest++
	}
	return c.fewest
}

// obstacle is a rule that keeps a pod off a host at a moment.
type obstacle struct {
	code Code
	pods *podSet // whom the rule is about
	// own is set for the pod's own rules, not for those of pods that are there.
	own bool
	key string
	// value is what the host has for the key, if it has it.
	value string
	has   bool
	// count is the number of pods there, for spread with this one among them. least is
	// the number where there are fewest, skew how many more there may be.
	count, least, skew int
}

func (o obstacle) String() string {
	rule := string(o.code)
	if !o.own {
		rule += " of others"
	}
	rule = fmt.Sprintf("%s over %s with pods of %s", rule, o.key, o.pods.text)
	value := strings.TrimPrefix(o.value, nobodys)
	switch {
	case !o.has:
		return rule + ": it does not have the label"
	case o.code == TopologySpread:
		return fmt.Sprintf("%s: %s would have %d, the least is %d, at most %d more are allowed", rule, value, o.count, o.least, o.skew)
	default:
		return fmt.Sprintf("%s: %s has %d of them", rule, value, o.count)
	}
}

// obstacle returns the first rule that keeps a pod of the group off the host as things are.
// Where there is no company for any term of pod affinity, a pod that is the company it asks
// for may go wherever all the labels are.
func (g *podGroup) obstacle(h *host) (obstacle, bool) {
	for i, c := range g.spread {
		r := &g.ties.spread[i]
		value, ok := h.value(r.key)
		count, least := c.counts[value], c.least(r.minDomains)
		if r.pods.has(g.face) {
			count++
		}
		if !ok || count-least > r.maxSkew {
			return obstacle{TopologySpread, r.pods, true, r.key, value, ok, count, least, r.maxSkew}, true
		}
	}
	first := true
	for i, c := range g.near {
		first = first && c.total == 0 && g.ties.near[i].pods.has(g.face)
	}
	for i, c := range g.near {
		if value, ok := h.value(c.key); !ok || c.counts[value] == 0 && !first {
			return obstacle{code: PodAffinity, pods: g.ties.near[i].pods, own: true, key: c.key, value: value, has: ok}, true
		}
	}
	for i, c := range slices.Concat(g.apart, g.against) {
		if value, ok := h.value(c.key); ok && c.counts[value] > 0 {
			return obstacle{code: PodAntiAffinity, pods: c.sets[0], own: i < len(g.apart), key: c.key, value: value, has: true, count: c.counts[value]}, true
		}
	}
	return obstacle{}, false
}

// state changes whenever something happens that matters to the group.
func (g *podGroup) state() int {
	n := 0
	for _, list := range [][]*counter{g.spread, g.near, g.apart, g.against} {
		for _, c := range list {
			n += c.version
		}
	}
	return n
}
