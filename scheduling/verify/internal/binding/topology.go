package binding

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Topology is nodes, running and planned, with the pods on them, and what the rules between
// pods count there. It is kept while nodes and pods come and go.
type Topology struct {
	// nodes are those that are there, named those that have a name, by that.
	Nodes map[*snapshot.Node]bool
	Named map[string]*snapshot.Node
	// groups are all that there ever were, by what rules see of them, and by the labels of
	// their pods; those with the zero label are all.
	groups   map[groupKey]*Group
	Labelled map[Label][]*Group
	// counters are all that rules have asked for, by what they count, and by a label that
	// the pods must have which they are about, the zero label where there is none.
	Counters map[string]*Counter
	about    map[Label][]*Counter
	views    map[string]*view
	Kept     bool // some pods keep others away
}

// Group is pods that every rule treats alike.
type Group struct {
	Face *snapshot.Identity
	ties *snapshot.TopologyTerms
	On   map[*snapshot.Node]int // how many of them
	// counted are the counters that count them by their labels, keeps those that count them
	// for one of their anti-affinity terms, against those of others' terms that keep them
	// away.
	Counted, Keeps, Against []*Counter
	// spread, near and apart are the counters of their own terms, one each, once they are to
	// bind.
	Spread, Near, Apart []*Counter
	ready               bool
}

// Label is a label with its value.
type Label struct{ key, value string }

type groupKey struct {
	face  *snapshot.Identity
	rules string
}

// Counter counts pods by the value that their node has of a label: those that belong to
// every one of the sets, or of keepers those that have the anti-affinity term.
type Counter struct {
	Key    string
	sets   []*snapshot.PodSelector
	keeper bool
	// view is the nodes at which a spread constraint looks; nil is all. skew is what the
	// constraint allows, lone set for anti-affinity, to which only those matter that have it.
	View   *view
	Skew   int
	Lone   bool
	Counts map[string]int
	Total  int
	// level is how many domains of a spread constraint have a number of pods, fewest at most
	// the least number that one of them has.
	level  map[int]int
	fewest int
}

// view is the nodes at which spread constraints look: how many, by their value of the key.
type view struct {
	filter   snapshot.NodeFilter
	key      string
	Nodes    map[string]int
	counters []*Counter
}

// NewTopology is a topology without nodes.
func NewTopology() *Topology {
	return &Topology{
		Nodes: make(map[*snapshot.Node]bool), Named: make(map[string]*snapshot.Node), groups: make(map[groupKey]*Group), Labelled: make(map[Label][]*Group),
		Counters: make(map[string]*Counter), about: make(map[Label][]*Counter), views: make(map[string]*view),
	}
}

// Enter sets a node up, with the pods that sit on it.
func (t *Topology) Enter(n *snapshot.Node) {
	if n.Name != "" {
		t.Named[n.Name] = n
	}
	t.Nodes[n] = true
	t.countAll(n, 1)
}

// Leave takes a node away; pods that still sit there count no more.
func (t *Topology) Leave(n *snapshot.Node) {
	if n.Name != "" {
		delete(t.Named, n.Name)
	}
	t.countAll(n, -1)
	delete(t.Nodes, n)
}

// countAll counts a node and the pods on it, or takes them off the counts.
func (t *Topology) countAll(n *snapshot.Node, sign int) {
	for _, v := range t.views {
		v.count(n, sign)
	}
	for _, g := range t.groups {
		if pods := g.On[n]; pods > 0 {
			g.count(n, sign*pods)
		}
	}
}

// Sit puts pods of the group onto a node, or takes them away; one without a node nobody
// meets.
func (t *Topology) Sit(g *Group, n *snapshot.Node, pods int) {
	if n == nil {
		return
	}
	if g.On[n] += pods; g.On[n] == 0 {
		delete(g.On, n)
	}
	if t.Nodes[n] {
		g.count(n, pods)
	}
}

func (g *Group) count(n *snapshot.Node, pods int) {
	for _, c := range g.Counted {
		c.add(n, pods)
	}
	for _, c := range g.Keeps {
		c.add(n, pods)
	}
}

// Group is the pods with that face and those rules.
func (t *Topology) Group(f *snapshot.Identity, rules *snapshot.TopologyTerms) *Group {
	key := groupKey{f, rules.Text}
	g := t.groups[key]
	if g != nil {
		return g
	}
	g = &Group{Face: f, ties: rules, On: make(map[*snapshot.Node]int)}
	t.groups[key] = g
	labels := []Label{{}}
	for key, value := range f.Labels {
		labels = append(labels, Label{key, value})
	}
	for _, l := range labels {
		t.Labelled[l] = append(t.Labelled[l], g)
		for _, c := range t.about[l] {
			g.join(c)
		}
	}
	for _, n := range rules.Apart {
		g.Keeps = append(g.Keeps, t.counter("keep "+n.Text, &Counter{Key: n.Key, sets: []*snapshot.PodSelector{n.Pods}, keeper: true}))
		t.Kept = true
	}
	return g
}

// join notes a counter if it is about the pods of the group, and reports whether it counts them.
func (g *Group) join(c *Counter) bool {
	switch {
	case !c.Means(g.Face):
		return false
	case c.keeper:
		g.Against = append(g.Against, c)
		return false
	}
	g.Counted = append(g.Counted, c)
	return true
}

// counter is the one of the text; a new one is about those who belong to its sets.
func (t *Topology) counter(text string, c *Counter) *Counter {
	if known := t.Counters[text]; known != nil {
		return known
	}
	t.Counters[text] = c
	c.Counts = make(map[string]int)
	if c.View != nil {
		c.View.counters = append(c.View.counters, c)
		c.level = map[int]int{0: len(c.View.Nodes)}
	}
	l := LabelOf(c.sets[0])
	t.about[l] = append(t.about[l], c)
	for _, g := range t.Labelled[l] {
		if !g.join(c) {
			continue
		}
		for n, pods := range g.On {
			if t.Nodes[n] {
				c.add(n, pods)
			}
		}
	}
	return c
}

// prepare sets up what the rules of the group count.
func (t *Topology) prepare(g *Group) {
	if g.ready {
		return
	}
	g.ready = true
	for i := range g.ties.Spread {
		r := &g.ties.Spread[i]
		g.Spread = append(g.Spread, t.counter(r.Text, &Counter{Key: r.Key, sets: []*snapshot.PodSelector{r.Pods}, View: t.view(r), Skew: r.MaxSkew}))
	}
	var near []*snapshot.PodSelector
	var texts []string
	for _, n := range g.ties.Near {
		near, texts = append(near, n.Pods), append(texts, n.Pods.Text)
	}
	for _, n := range g.ties.Near {
		// A pod that meets one term only is no company.
		g.Near = append(g.Near, t.counter(fmt.Sprintf("near %q %q", n.Key, texts), &Counter{Key: n.Key, sets: near}))
	}
	for _, n := range g.ties.Apart {
		g.Apart = append(g.Apart, t.counter("apart "+n.Text, &Counter{Key: n.Key, sets: []*snapshot.PodSelector{n.Pods}, Lone: true}))
	}
}

// view is the nodes at which the constraint looks.
func (t *Topology) view(r *snapshot.SpreadConstraint) *view {
	key := r.Nodes.Text + " " + r.Key
	v := t.views[key]
	if v == nil {
		v = &view{filter: r.Nodes, key: r.Key, Nodes: make(map[string]int)}
		t.views[key] = v
		for n := range t.Nodes {
			v.count(n, 1)
		}
	}
	return v
}

// count notes so many nodes more such as this one, if the view has such.
func (v *view) count(n *snapshot.Node, nodes int) {
	if !v.filter.Passes(n) {
		return
	}
	value, _ := n.Value(v.key)
	v.domain(value, nodes)
}

// domain notes so many nodes more in a domain.
func (v *view) domain(value string, nodes int) {
	before := v.Nodes[value]
	if v.Nodes[value] += nodes; v.Nodes[value] == 0 {
		delete(v.Nodes, value)
	}
	for _, c := range v.counters {
		if before == 0 {
			c.level[c.Counts[value]]++
			c.fewest = min(c.fewest, c.Counts[value])
		} else if before+nodes == 0 {
			c.level[c.Counts[value]]--
		}
	}
}

// Keep lets a domain of a node that is gone count for the spread constraints of pods of the group, as if a node were
// still there, where still reports so of the domain. What it returns ends that.
func (t *Topology) Keep(g *Group, n *snapshot.Node, still func(key, value string) bool) (end func()) {
	t.prepare(g)
	var views []*view
	for _, c := range g.Spread {
		value, ok := n.Value(c.Key)
		if ok && c.Key != corev1.LabelHostname && c.LooksAt(n) && c.View.Nodes[value] == 0 && still(c.Key, value) {
			c.View.domain(value, 1)
			views = append(views, c.View)
		}
	}
	return func() {
		for _, v := range views {
			value, _ := n.Value(v.key)
			v.domain(value, -1)
		}
	}
}

// LabelOf is one that every pod of the set has; the zero label where none is certain.
func LabelOf(s *snapshot.PodSelector) Label {
	asked, _ := s.Labels.Requirements()
	for _, r := range asked {
		if values := r.Values(); r.Operator() == selection.In && values.Len() == 1 {
			return Label{r.Key(), values.UnsortedList()[0]}
		}
	}
	return Label{}
}

// Means reports whether such pods belong to all of the sets.
func (c *Counter) Means(f *snapshot.Identity) bool {
	return !slices.ContainsFunc(c.sets, func(s *snapshot.PodSelector) bool { return !s.Has(f) })
}

// LooksAt reports whether pods on the node count.
func (c *Counter) LooksAt(n *snapshot.Node) bool { return c.View == nil || c.View.filter.Passes(n) }

// add counts pods on a node.
func (c *Counter) add(on *snapshot.Node, pods int) {
	value, ok := on.Value(c.Key)
	if !ok || !c.LooksAt(on) {
		return
	}
	n := c.Counts[value]
	c.Counts[value] = n + pods
	c.Total += pods
	if c.level != nil {
		c.level[n]--
		c.level[n+pods]++
		c.fewest = min(c.fewest, n+pods)
	}
}

// Least is the smallest count of any domain, or 0 where there are too few domains.
func (c *Counter) Least(minDomains int) int {
	if len(c.View.Nodes) == 0 || len(c.View.Nodes) < minDomains {
		return 0
	}
	for c.level[c.fewest] == 0 {
		c.fewest++
	}
	return c.fewest
}
