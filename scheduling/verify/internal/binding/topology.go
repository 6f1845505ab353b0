package binding

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Topology has nodes, running and planned, with the pods on them and the counts of topology terms. The counts stay right while
// nodes and pods come and go.
type Topology struct {
	// Nodes are all nodes, Named the nodes that have a name, by name.
	Nodes map[*snapshot.Node]bool
	Named map[string]*snapshot.Node
	// groups are all groups so far, by identity and terms. Labelled has each group under each label of its pods, and under
	// the zero label.
	groups   map[groupKey]*Group
	Labelled map[Label][]*Group
	// Counters are all counters so far, by their text. about has each of them under one label that the pods must have
	// which it selects, or under the zero label if there is none.
	Counters        map[string]*Counter
	about           map[Label][]*Counter
	eligible        map[string]*eligibleDomains
	AnyAntiAffinity bool // some pods have required anti-affinity
}

// Group has the pods of equal identity and equal terms, which topology terms cannot tell apart.
type Group struct {
	Identity *snapshot.Identity
	terms    *snapshot.TopologyTerms
	On       map[*snapshot.Node]int // number of pods, by node
	// Counted are the counters that count the pods. KeepsOff count the pods that have an anti-affinity term of this group,
	// KeptOffBy the pods that have an anti-affinity term which selects this group.
	Counted, KeepsOff, KeptOffBy []*Counter
	// Spread, Affinity and AntiAffinity are the counters of the terms of the pods, one for each term; nil before prepare.
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
	// Eligible are the domains of a spread constraint, nil for other terms. Skew is its maxSkew. AntiAffinity is set for an
	// anti-affinity term of the pods that are to bind.
	Eligible     *eligibleDomains
	Skew         int
	AntiAffinity bool
	Counts       map[string]int
	Total        int
	// byCount is the number of eligible domains by their number of pods. No eligible domain has less than fewest pods.
	byCount map[int]int
	fewest  int
}

// eligibleDomains are the domains over which spread constraints take the minimum: the values of the key on the nodes that
// pass the filter, with the number of these nodes.
type eligibleDomains struct {
	filter   snapshot.NodeFilter
	key      string
	Nodes    map[string]int
	counters []*Counter
}

// NewTopology returns a topology without nodes.
func NewTopology() *Topology {
	return &Topology{
		Nodes: make(map[*snapshot.Node]bool), Named: make(map[string]*snapshot.Node), groups: make(map[groupKey]*Group), Labelled: make(map[Label][]*Group),
		Counters: make(map[string]*Counter), about: make(map[Label][]*Counter), eligible: make(map[string]*eligibleDomains),
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
	for _, v := range t.eligible {
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

// join adds a counter to the counters of the group if it selects the pods, and reports whether it counts them.
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

// counter returns the counter of the text; a new one counts the pods of all groups first.
func (t *Topology) counter(text string, c *Counter) *Counter {
	if known := t.Counters[text]; known != nil {
		return known
	}
	t.Counters[text] = c
	c.Counts = make(map[string]int)
	if c.Eligible != nil {
		c.Eligible.counters = append(c.Eligible.counters, c)
		c.byCount = map[int]int{0: len(c.Eligible.Nodes)}
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
		g.Spread = append(g.Spread, t.counter(r.Text, &Counter{Key: r.Key, sets: []*snapshot.PodSelector{r.Pods}, Eligible: t.eligibleFor(r), Skew: r.MaxSkew}))
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

// eligibleFor returns the eligible domains of the constraint.
func (t *Topology) eligibleFor(r *snapshot.SpreadConstraint) *eligibleDomains {
	key := r.Nodes.Text + " " + r.Key
	v := t.eligible[key]
	if v == nil {
		v = &eligibleDomains{filter: r.Nodes, key: r.Key, Nodes: make(map[string]int)}
		t.eligible[key] = v
		for n := range t.Nodes {
			v.count(n, 1)
		}
	}
	return v
}

// count adds a node, or removes it with nodes -1, if it passes the filter.
func (v *eligibleDomains) count(n *snapshot.Node, nodes int) {
	if !v.filter.Passes(n) {
		return
	}
	value, _ := n.Value(v.key)
	v.domain(value, nodes)
}

// domain adds nodes to a domain, or removes them.
func (v *eligibleDomains) domain(value string, nodes int) {
	before := v.Nodes[value]
	if v.Nodes[value] += nodes; v.Nodes[value] == 0 {
		delete(v.Nodes, value)
	}
	for _, c := range v.counters {
		if before == 0 {
			c.byCount[c.Counts[value]]++
			c.fewest = min(c.fewest, c.Counts[value])
		} else if before+nodes == 0 {
			c.byCount[c.Counts[value]]--
		}
	}
}

// Keep keeps the domains of a node that is gone eligible for the spread constraints of the group, as if a node were still
// there, if still reports true for key and domain. The function that it returns undoes this.
func (t *Topology) Keep(g *Group, n *snapshot.Node, still func(key, value string) bool) (end func()) {
	t.prepare(g)
	var eligible []*eligibleDomains
	for _, c := range g.Spread {
		value, ok := n.Value(c.Key)
		if ok && c.Key != corev1.LabelHostname && c.CountsOn(n) && c.Eligible.Nodes[value] == 0 && still(c.Key, value) {
			c.Eligible.domain(value, 1)
			eligible = append(eligible, c.Eligible)
		}
	}
	return func() {
		for _, v := range eligible {
			value, _ := n.Value(v.key)
			v.domain(value, -1)
		}
	}
}

// LabelOf returns a label that every selected pod must have, or the zero label if the selector demands none.
func LabelOf(s *snapshot.PodSelector) Label {
	asked, _ := s.Labels.Requirements()
	for _, r := range asked {
		if values := r.Values(); r.Operator() == selection.In && values.Len() == 1 {
			return Label{r.Key(), values.UnsortedList()[0]}
		}
	}
	return Label{}
}

// Selects reports whether all selectors of the counter select the pods.
func (c *Counter) Selects(f *snapshot.Identity) bool {
	return !slices.ContainsFunc(c.sets, func(s *snapshot.PodSelector) bool { return !s.Has(f) })
}

// CountsOn reports whether the counter counts pods on the node.
func (c *Counter) CountsOn(n *snapshot.Node) bool {
	return c.Eligible == nil || c.Eligible.filter.Passes(n)
}

// add adds pods on a node, or takes them off.
func (c *Counter) add(on *snapshot.Node, pods int) {
	value, ok := on.Value(c.Key)
	if !ok || !c.CountsOn(on) {
		return
	}
	n := c.Counts[value]
	c.Counts[value] = n + pods
	c.Total += pods
	if c.byCount != nil {
		c.byCount[n]--
		c.byCount[n+pods]++
		c.fewest = min(c.fewest, n+pods)
	}
}

// Least returns the number of pods in the emptiest domain, 0 where there are fewer domains than minDomains.
func (c *Counter) Least(minDomains int) int {
	if len(c.Eligible.Nodes) == 0 || len(c.Eligible.Nodes) < minDomains {
		return 0
	}
	for c.byCount[c.fewest] == 0 {
		c.fewest++
	}
	return c.fewest
}
