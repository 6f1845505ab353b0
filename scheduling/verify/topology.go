package verify

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/selection"
)

// topology is nodes, running and planned, with the pods on them, and what the rules between
// pods count there. It is kept while nodes and pods come and go.
type topology struct {
	// nodes are those that are there, named those that have a name, by that.
	nodes map[*node]bool
	named map[string]*node
	// groups are all that there ever were, by what rules see of them, and by the labels of
	// their pods; those with the zero label are all.
	groups   map[groupKey]*podGroup
	labelled map[label][]*podGroup
	// counters are all that rules have asked for, by what they count, and by a label that
	// the pods must have which they are about, the zero label where there is none.
	counters map[string]*counter
	about    map[label][]*counter
	views    map[string]*view
	kept     bool // some pods keep others away
}

// podGroup is pods that every rule treats alike.
type podGroup struct {
	face *face
	ties *ties
	on   map[*node]int // how many of them
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

type groupKey struct {
	face  *face
	rules string
}

// counter counts pods by the value that their node has of a label: those that belong to
// every one of the sets, or of keepers those that have the anti-affinity term.
type counter struct {
	key    string
	sets   []*podSet
	keeper bool
	// view is the nodes at which a spread constraint looks; nil is all. skew is what the
	// constraint allows, lone set for anti-affinity, to which only those matter that have it.
	view   *view
	skew   int
	lone   bool
	counts map[string]int
	total  int
	// level is how many domains of a spread constraint have a number of pods, fewest at most
	// the least number that one of them has.
	level  map[int]int
	fewest int
}

// view is the nodes at which spread constraints look: how many, by their value of the key.
type view struct {
	filter   nodeFilter
	key      string
	nodes    map[string]int
	counters []*counter
}

func newTopology() *topology {
	return &topology{
		nodes: make(map[*node]bool), named: make(map[string]*node), groups: make(map[groupKey]*podGroup), labelled: make(map[label][]*podGroup),
		counters: make(map[string]*counter), about: make(map[label][]*counter), views: make(map[string]*view),
	}
}

// enter sets a node up, with the pods that sit on it.
func (t *topology) enter(n *node) {
	if n.name != "" {
		t.named[n.name] = n
	}
	t.nodes[n] = true
	t.countAll(n, 1)
}

// leave takes a node away; pods that still sit there count no more.
func (t *topology) leave(n *node) {
	if n.name != "" {
		delete(t.named, n.name)
	}
	t.countAll(n, -1)
	delete(t.nodes, n)
}

// countAll counts a node and the pods on it, or takes them off the counts.
func (t *topology) countAll(n *node, sign int) {
	for _, v := range t.views {
		v.count(n, sign)
	}
	for _, g := range t.groups {
		if pods := g.on[n]; pods > 0 {
			g.count(n, sign*pods)
		}
	}
}

// sit puts pods of the group onto a node, or takes them away; one without a node nobody
// meets.
func (t *topology) sit(g *podGroup, n *node, pods int) {
	if n == nil {
		return
	}
	if g.on[n] += pods; g.on[n] == 0 {
		delete(g.on, n)
	}
	if t.nodes[n] {
		g.count(n, pods)
	}
}

func (g *podGroup) count(n *node, pods int) {
	for _, c := range g.counted {
		c.add(n, pods)
	}
	for _, c := range g.keeps {
		c.add(n, pods)
	}
}

// group is the pods with that face and those rules.
func (t *topology) group(f *face, rules *ties) *podGroup {
	key := groupKey{f, rules.text}
	g := t.groups[key]
	if g != nil {
		return g
	}
	g = &podGroup{face: f, ties: rules, on: make(map[*node]int)}
	t.groups[key] = g
	labels := []label{{}}
	for key, value := range f.labels {
		labels = append(labels, label{key, value})
	}
	for _, l := range labels {
		t.labelled[l] = append(t.labelled[l], g)
		for _, c := range t.about[l] {
			g.join(c)
		}
	}
	for _, n := range rules.apart {
		g.keeps = append(g.keeps, t.counter("keep "+n.text, &counter{key: n.key, sets: []*podSet{n.pods}, keeper: true}))
		t.kept = true
	}
	return g
}

// join notes a counter if it is about the pods of the group, and reports whether it counts them.
func (g *podGroup) join(c *counter) bool {
	switch {
	case !c.means(g.face):
		return false
	case c.keeper:
		g.against = append(g.against, c)
		return false
	}
	g.counted = append(g.counted, c)
	return true
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
		c.level = map[int]int{0: len(c.view.nodes)}
	}
	l := labelOf(c.sets[0])
	t.about[l] = append(t.about[l], c)
	for _, g := range t.labelled[l] {
		if !g.join(c) {
			continue
		}
		for n, pods := range g.on {
			if t.nodes[n] {
				c.add(n, pods)
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
		g.spread = append(g.spread, t.counter(r.text, &counter{key: r.key, sets: []*podSet{r.pods}, view: t.view(r), skew: r.maxSkew}))
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
		g.apart = append(g.apart, t.counter("apart "+n.text, &counter{key: n.key, sets: []*podSet{n.pods}, lone: true}))
	}
}

// view is the nodes at which the constraint looks.
func (t *topology) view(r *spreadRule) *view {
	key := r.nodes.text + " " + r.key
	v := t.views[key]
	if v == nil {
		v = &view{filter: r.nodes, key: r.key, nodes: make(map[string]int)}
		t.views[key] = v
		for n := range t.nodes {
			v.count(n, 1)
		}
	}
	return v
}

// count notes so many nodes more such as this one, if the view has such.
func (v *view) count(n *node, nodes int) {
	if !v.filter.passes(n) {
		return
	}
	value, _ := n.value(v.key)
	before := v.nodes[value]
	if v.nodes[value] += nodes; v.nodes[value] == 0 {
		delete(v.nodes, value)
	}
	for _, c := range v.counters {
		if before == 0 {
			c.level[c.counts[value]]++
			c.fewest = min(c.fewest, c.counts[value])
		} else if before+nodes == 0 {
			c.level[c.counts[value]]--
		}
	}
}

// label is one that every pod of the set has; the zero label where none is certain.
func labelOf(s *podSet) label {
	asked, _ := s.labels.Requirements()
	for _, r := range asked {
		if values := r.Values(); r.Operator() == selection.In && values.Len() == 1 {
			return label{r.Key(), values.UnsortedList()[0]}
		}
	}
	return label{}
}

// means reports whether such pods belong to all of the sets.
func (c *counter) means(f *face) bool {
	return !slices.ContainsFunc(c.sets, func(s *podSet) bool { return !s.has(f) })
}

// looksAt reports whether pods on the node count.
func (c *counter) looksAt(n *node) bool { return c.view == nil || c.view.filter.passes(n) }

// add counts pods on a node.
func (c *counter) add(on *node, pods int) {
	value, ok := on.value(c.key)
	if !ok || !c.looksAt(on) {
		return
	}
	n := c.counts[value]
	c.counts[value] = n + pods
	c.total += pods
	if c.level != nil {
		c.level[n]--
		c.level[n+pods]++
		c.fewest = min(c.fewest, n+pods)
	}
}

// least is the smallest count of any domain, or 0 where there are too few domains.
func (c *counter) least(minDomains int) int {
	if len(c.view.nodes) == 0 || len(c.view.nodes) < minDomains {
		return 0
	}
	for c.level[c.fewest] == 0 {
		c.fewest++
	}
	return c.fewest
}

// The kinds of rules between pods.
const (
	spreading    = "topology-spread"
	affinity     = "pod-affinity"
	antiAffinity = "pod-anti-affinity"
)

// obstacle is a rule that keeps a pod off a node at a moment.
type obstacle struct {
	rule string  // one of those below
	pods *podSet // whom the rule is about
	// own is set for the pod's own rules, not for those of pods that are there.
	own bool
	key string
	// value is what the node has for the key, if it has it.
	value string
	has   bool
	// count is the number of pods there, for spread with this one among them. least is
	// the number where there are fewest, skew how many more there may be.
	count, least, skew int
}

func (o obstacle) String() string {
	rule := o.rule
	if !o.own {
		rule += " of others"
	}
	rule = fmt.Sprintf("%s over %s with pods of %s", rule, o.key, o.pods.text)
	value := strings.TrimPrefix(o.value, nobodys)
	switch {
	case !o.has:
		return rule + ": it does not have the label"
	case o.rule == spreading:
		return fmt.Sprintf("%s: %s would have %d, the least is %d, at most %d more are allowed", rule, value, o.count, o.least, o.skew)
	default:
		return fmt.Sprintf("%s: %s has %d of them", rule, value, o.count)
	}
}

// obstacle returns the first rule that keeps a pod of the group off the node as things are.
// Where there is no company for any term of pod affinity, a pod that is the company it asks
// for may go wherever all the labels are.
func (g *podGroup) obstacle(n *node) (obstacle, bool) {
	for i, c := range g.spread {
		r := &g.ties.spread[i]
		value, ok := n.value(r.key)
		count, least := c.counts[value], c.least(r.minDomains)
		if r.pods.has(g.face) {
			count++
		}
		if !ok || count-least > r.maxSkew {
			return obstacle{spreading, r.pods, true, r.key, value, ok, count, least, r.maxSkew}, true
		}
	}
	first := true
	for i, c := range g.near {
		first = first && c.total == 0 && g.ties.near[i].pods.has(g.face)
	}
	for i, c := range g.near {
		if value, ok := n.value(c.key); !ok || c.counts[value] == 0 && !first {
			return obstacle{rule: affinity, pods: g.ties.near[i].pods, own: true, key: c.key, value: value, has: ok}, true
		}
	}
	for i, c := range slices.Concat(g.apart, g.against) {
		if value, ok := n.value(c.key); ok && c.counts[value] > 0 {
			return obstacle{rule: antiAffinity, pods: c.sets[0], own: i < len(g.apart), key: c.key, value: value, has: true, count: c.counts[value]}, true
		}
	}
	return obstacle{}, false
}
