package binding

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Topology is nodes, running and planned, with the pods on them and the counts of topology terms. It is kept while
// nodes and pods come and go.
type Topology struct {
	// Nodes are the nodes that are there, Named those that have a name, by name.
	Nodes map[*snapshot.Node]bool
	Named map[string]*snapshot.Node
	// groups are all groups so far, by identity and terms. Labelled are the same by each label of their pods; the
	// zero label lists all.
	groups   map[groupKey]*Group
	Labelled map[Label][]*Group
	// Counters are all counters so far, by their text; about are the same by a label that the pods which they select
	// must have, the zero label where no label is certain.
	Counters        map[string]*Counter
	about           map[Label][]*Counter
	views           map[string]*view
	AnyAntiAffinity bool // some pods have required anti-affinity
}

// Group is pods with equal identity and terms, which topology terms cannot tell apart.
type Group struct {
	Identity *snapshot.Identity
	terms    *snapshot.TopologyTerms
	On       map[*snapshot.Node]int // number of them, by node
	// Counted are the counters that select the pods by label, KeepsOff those of their own anti-affinity, KeptOffBy
	// those of the anti-affinity of other pods that keeps them off.
	Counted, KeepsOff, KeptOffBy []*Counter
	// Spread, Affinity and AntiAffinity are the counters of their own terms, one for each term, once the group is prepared.
	Spread, Affinity, AntiAffinity []*Counter
	ready                          bool
}

// Label is a label with its value.
type Label struct{ key, value string }

type groupKey struct {
	identity *snapshot.Identity
	terms    string
}

// Counter counts pods by the value that their node has of a label: the pods that all of the sets select or, with
// holders, the pods that have the anti-affinity term.
type Counter struct {
	Key     string
	sets    []*snapshot.PodSelector
	holders bool
	// View is the nodes that a spread constraint counts; nil for all. Skew is its maxSkew. AntiAffinity is
	// set for a term of anti-affinity, which concerns only the pods that have the term.
	View         *view
	Skew         int
	AntiAffinity bool
	Counts       map[string]int
	Total        int
	// level is the number of domains of a spread constraint by their number of pods; fewest is a lower bound on the
	// least of these.
	level  map[int]int
	fewest int
}

// view is the number of nodes that spread constraints count, by their value of the key.
type view struct {
	filter   snapshot.NodeFilter
	key      string
	Nodes    map[string]int
	counters []*Counter
}

// NewTopology returns a topology without nodes.
func NewTopology() *Topology {
	return &Topology{
		Nodes: make(map[*snapshot.Node]bool), Named: make(map[string]*snapshot.Node), groups: make(map[groupKey]*Group), Labelled: make(map[Label][]*Group),
		Counters: make(map[string]*Counter), about: make(map[Label][]*Counter), views: make(map[string]*view),
	}
}

// AddNode adds a node, with the pods that are on it.
func (t *Topology) AddNode(n *snapshot.Node) {
	if n.Name != "" {
		t.Named[n.Name] = n
	}
	t.Nodes[n] = true
	t.countAll(n, 1)
}

// Name names a node that has been added without a name, unless another node has the name.
func (t *Topology) Name(n *snapshot.Node, name string) {
	if t.Named[name] == nil {
		n.Name, t.Named[name] = name, n
	}
}

// RemoveNode removes a node. Pods that are still on it do not count any more.
func (t *Topology) RemoveNode(n *snapshot.Node) {
	if n.Name != "" {
		delete(t.Named, n.Name)
	}
	t.countAll(n, -1)
	delete(t.Nodes, n)
}

// countAll adds a node and the pods on it to the counts, or takes them off with sign -1.
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

// Add adds pods of the group to a node, or removes them where pods is negative. It does nothing without a node,
// because no term meets pods that have none.
func (t *Topology) Add(g *Group, n *snapshot.Node, pods int) {
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
	for _, c := range g.KeepsOff {
		c.add(n, pods)
	}
}

// Group returns the group of pods with that identity and those terms.
func (t *Topology) Group(f *snapshot.Identity, rules *snapshot.TopologyTerms) *Group {
	key := groupKey{f, rules.Text}
	g := t.groups[key]
	if g != nil {
		return g
	}
	g = &Group{Identity: f, terms: rules, On: make(map[*snapshot.Node]int)}
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
	for _, n := range rules.AntiAffinity {
		g.KeepsOff = append(g.KeepsOff, t.counter("keep "+n.Text, &Counter{Key: n.Key, sets: []*snapshot.PodSelector{n.Pods}, holders: true}))
		t.AnyAntiAffinity = true
	}
	return g
}

// join notes a counter if it selects the pods of the group, and reports whether it counts them.
func (g *Group) join(c *Counter) bool {
	switch {
	case !c.Selects(g.Identity):
		return false
	case c.holders:
		g.KeptOffBy = append(g.KeptOffBy, c)
		return false
	}
	g.Counted = append(g.Counted, c)
	return true
}

// counter returns the counter of the text, set up with the pods that are there if it is new.
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

// prepare sets up the counters of the group's own terms.
func (t *Topology) prepare(g *Group) {
	if g.ready {
		return
	}
	g.ready = true
	for i := range g.terms.Spread {
		r := &g.terms.Spread[i]
		g.Spread = append(g.Spread, t.counter(r.Text, &Counter{Key: r.Key, sets: []*snapshot.PodSelector{r.Pods}, View: t.view(r), Skew: r.MaxSkew}))
	}
	var near []*snapshot.PodSelector
	var texts []string
	for _, n := range g.terms.Affinity {
		near, texts = append(near, n.Pods), append(texts, n.Pods.Text)
	}
	for _, n := range g.terms.Affinity {
		// Pod affinity counts pods that all of its terms select, because kube-scheduler does.
		g.Affinity = append(g.Affinity, t.counter(fmt.Sprintf("near %q %q", n.Key, texts), &Counter{Key: n.Key, sets: near}))
	}
	for _, n := range g.terms.AntiAffinity {
		g.AntiAffinity = append(g.AntiAffinity, t.counter("apart "+n.Text, &Counter{Key: n.Key, sets: []*snapshot.PodSelector{n.Pods}, AntiAffinity: true}))
	}
}

// view returns the nodes that the constraint counts.
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

// count adds a node, or takes it off with nodes -1, if the view counts it.
func (v *view) count(n *snapshot.Node, nodes int) {
	if !v.filter.Passes(n) {
		return
	}
	value, _ := n.Value(v.key)
	v.domain(value, nodes)
}

// domain adds nodes to a domain, or takes them off.
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

// Keep lets a domain of a node that is gone count for the spread constraints of the group, as if a node were still
// there, where still reports so of the domain. The function that it returns ends that.
func (t *Topology) Keep(g *Group, n *snapshot.Node, still func(key, value string) bool) (end func()) {
	t.prepare(g)
	var views []*view
	for _, c := range g.Spread {
		value, ok := n.Value(c.Key)
		if ok && c.Key != corev1.LabelHostname && c.CountsOn(n) && c.View.Nodes[value] == 0 && still(c.Key, value) {
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

// LabelOf returns a label that every pod of the set must have; the zero label where none is certain.
func LabelOf(s *snapshot.PodSelector) Label {
	asked, _ := s.Labels.Requirements()
	for _, r := range asked {
		if values := r.Values(); r.Operator() == selection.In && values.Len() == 1 {
			return Label{r.Key(), values.UnsortedList()[0]}
		}
	}
	return Label{}
}

// Selects reports whether all of the sets select the pods.
func (c *Counter) Selects(f *snapshot.Identity) bool {
	return !slices.ContainsFunc(c.sets, func(s *snapshot.PodSelector) bool { return !s.Has(f) })
}

// CountsOn reports whether pods on the node count.
func (c *Counter) CountsOn(n *snapshot.Node) bool { return c.View == nil || c.View.filter.Passes(n) }

// add adds pods on a node, or takes them off.
func (c *Counter) add(on *snapshot.Node, pods int) {
	value, ok := on.Value(c.Key)
	if !ok || !c.CountsOn(on) {
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

// Least returns the number of pods in the emptiest domain, 0 where there are fewer domains than minDomains.
func (c *Counter) Least(minDomains int) int {
	if len(c.View.Nodes) == 0 || len(c.View.Nodes) < minDomains {
		return 0
	}
	for c.level[c.fewest] == 0 {
		c.fewest++
	}
	return c.fewest
}
