package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// drainSimulation is the cluster while pods move: what the topology terms about them count, kept up
// as pods leave and land. What is done can be undone.
type drainSimulation struct {
	state *state
	// launched are the nodes of the step's launches. drained counts the pods that a node which is
	// drained still has to lose: it is gone when that is none.
	launched map[string]*corev1.Node
	drained  map[string]int
	pods     map[string]*movingPod
	counts   map[countKey]*domainCounts
	domains  map[domainKey]*domainNodes
	filters  map[string]*nodeFilter
	log      []func() // what undoes what was done, last first
}

// movingPod is a pod that moves: where it comes from, goes to and is ("" while it is away).
type movingPod struct {
	name         string
	pod          *corev1.Pod
	topology     *podTopology
	from, to, on string
	terms        []podTerm
	// repelled count the pods that keep it away, counted is all that counts it.
	repelled, counted []*domainCounts
}

// podTerm is a topology term of a pod, with what it counts.
type podTerm struct {
	*podspec.Tie
	counts  *domainCounts
	domains *domainNodes // of a spread constraint
}

// newSimulation begins with a step that nobody has left for yet.
func newSimulation(f *state, step *Step) *drainSimulation {
	s := &drainSimulation{
		state: f, launched: map[string]*corev1.Node{}, drained: map[string]int{}, pods: map[string]*movingPod{},
		counts: map[countKey]*domainCounts{}, domains: map[domainKey]*domainNodes{}, filters: map[string]*nodeFilter{},
	}
	for i := range step.Launches {
		l := &step.Launches[i]
		if node, err := l.Node(l.Name, &l.Options[0], f.problem.CatalogOf(l.NodePool)); err == nil {
			s.launched[l.Name] = node
		}
	}
	for _, name := range step.Drain {
		s.drained[name] = 0
	}
	var moving []*movingPod
	for _, e := range step.Evictions {
		if pod := f.pods[e.Pod]; pod != nil {
			a := &movingPod{name: e.Pod, pod: pod, topology: f.topology.of(e.Pod), from: e.From, to: e.To, on: e.From}
			s.pods[e.Pod] = a
			moving = append(moving, a)
			if n, ok := s.drained[e.From]; ok {
				s.drained[e.From] = n + 1
			}
		}
	}
	for _, a := range moving {
		s.read(a)
	}
	for _, c := range s.counts {
		for _, a := range moving {
			if c.holders && slices.ContainsFunc(a.topology.terms.Ties, func(t podspec.Tie) bool { return t.Kind == podspec.AntiTie && t.Target == c.target && t.Key == c.key }) ||
				!c.holders && a.topology.isAmong(c.target) {
				a.counted = append(a.counted, c)
			}
		}
	}
	return s
}

// read resolves what a pod's topology terms, and those that keep it away, count.
func (s *drainSimulation) read(a *movingPod) {
	terms := a.topology.terms
	for i := range terms.Ties {
		tie := &terms.Ties[i]
		k := countKey{antiTerm: antiTerm{tie.Target, tie.Key}}
		t := podTerm{Tie: tie}
		if tie.Kind == podspec.SpreadTie {
			k.filter = filterKey(a.pod, terms, tie)
			if s.filters[k.filter] == nil {
				s.filters[k.filter] = newNodeFilter(a.pod, terms, tie)
			}
			t.domains = s.domainsOf(domainKey{tie.Key, k.filter})
		}
		t.counts = s.countsOf(k)
		a.terms = append(a.terms, t)
	}
	for _, target := range a.topology.among {
		for _, t := range s.state.topology.anti[int(target)] {
			a.repelled = append(a.repelled, s.countsOf(countKey{antiTerm: t, holders: true}))
		}
	}
}

// countsOf counts pods by domain, once for all terms that count the same.
func (s *drainSimulation) countsOf(k countKey) *domainCounts {
	if c := s.counts[k]; c != nil {
		return c
	}
	c := &domainCounts{countKey: k, filter: s.filters[k.filter], pods: map[string]int{}}
	s.counts[k] = c
	index := s.state.topology
	names := index.members[k.target]
	if k.holders {
		names = index.holders[k.antiTerm]
	}
	for _, name := range names {
		if pod := s.state.pods[name]; pod != nil {
			s.count(c, s.state.home(pod), pod.DeletionTimestamp != nil, 1)
		}
	}
	return c
}

// count counts a pod on a node, or no longer. Spread constraints look at no pod that is being deleted.
func (s *drainSimulation) count(c *domainCounts, on string, terminating bool, by int) {
	node := s.node(on)
	if node == nil || c.filter != nil && terminating || !c.filter.passes(node) {
		return
	}
	if value, ok := node.Labels[c.key]; ok {
		c.pods[value] += by
		c.total += by
	}
}

// domainsOf counts the nodes that are there by domain.
func (s *drainSimulation) domainsOf(k domainKey) *domainNodes {
	if d := s.domains[k]; d != nil {
		return d
	}
	d := &domainNodes{domainKey: k, filter: s.filters[k.filter], nodes: map[string]int{}}
	s.domains[k] = d
	for _, x := range s.state.nodes {
		if !x.gone && x.node != nil {
			d.count(x.node, 1)
		}
	}
	for _, node := range s.launched {
		d.count(node, 1)
	}
	return d
}

// node is a node by name, of the cluster or of a launch; nil if it is not there.
func (s *drainSimulation) node(name string) *corev1.Node {
	if n := s.launched[name]; n != nil {
		return n
	}
	if x := s.state.at[name]; x != nil && !x.gone {
		return x.node
	}
	return nil
}

// fits reports whether a pod that is away may land where it goes, as things stand.
func (s *drainSimulation) fits(a *movingPod) bool {
	node := s.node(a.to)
	if node == nil {
		return true // it goes nowhere
	}
	for i := range a.terms {
		if !a.terms[i].allows(a.topology, node) {
			return false
		}
	}
	return !slices.ContainsFunc(a.repelled, func(c *domainCounts) bool {
		value, ok := node.Labels[c.key]
		return ok && c.pods[value] > 0
	})
}

// allows reports whether a term lets its pod, which is away, onto a node.
func (t *podTerm) allows(own *podTopology, node *corev1.Node) bool {
	value, ok := node.Labels[t.Key]
	here := t.counts.pods[value]
	switch t.Kind {
	case podspec.AntiTie:
		return !ok || here == 0
	case podspec.AffinityTie:
		return ok && (here > 0 || t.counts.total == 0 && own.isAmong(t.Target))
	default:
		if own.isAmong(t.Target) {
			here++
		}
		return ok && here-t.least() <= int(t.MaxSkew)
	}
}

// least is the number of pods in the domain of a spread constraint that has fewest.
func (t *podTerm) least() int {
	least, domains := -1, int64(0)
	for domain, nodes := range t.domains.nodes {
		if nodes <= 0 {
			continue
		}
		domains++
		if n := t.counts.pods[domain]; least < 0 || n < least {
			least = n
		}
	}
	if domains < t.MinDomains {
		return 0
	}
	return max(least, 0)
}

// possible reports whether pods can leave at the same time and then all land, each as soon
// as it may. If so they have, unless only asked.
func (s *drainSimulation) possible(group []*movingPod, only bool) bool {
	mark := len(s.log)
	for _, a := range group {
		s.move(a, "")
	}
	waiting := slices.Clone(group)
	for landed := true; landed && len(waiting) > 0; {
		landed = false
		waiting = slices.DeleteFunc(waiting, func(a *movingPod) bool {
			ok := s.fits(a)
			if ok {
				s.move(a, a.to)
				landed = true
			}
			return ok
		})
	}
	if only || len(waiting) > 0 {
		s.undo(mark)
	}
	return len(waiting) == 0
}

// force lets pods land whether or not they may.
func (s *drainSimulation) force(group []*movingPod) {
	for _, a := range group {
		s.move(a, "")
	}
	for _, a := range group {
		s.move(a, a.to)
	}
}

// move takes a pod from where it is to a node, or away from all. A node that is drained is gone once
// its last pod has left.
func (s *drainSimulation) move(a *movingPod, to string) {
	was := a.on
	s.set(a, to)
	_, drained := s.drained[was]
	drained = drained && was == a.from && to == ""
	gone := false
	if drained {
		s.drained[was]--
		gone = s.drained[was] == 0
	}
	if gone {
		s.stand(was, -1)
	}
	s.log = append(s.log, func() {
		s.set(a, was)
		if drained {
			s.drained[was]++
		}
		if gone {
			s.stand(was, 1)
		}
	})
}

// set notes where a pod is.
func (s *drainSimulation) set(a *movingPod, on string) {
	for _, c := range a.counted {
		s.count(c, a.on, a.pod.DeletionTimestamp != nil && a.on == a.from, -1)
		s.count(c, on, a.pod.DeletionTimestamp != nil && on == a.from, 1)
	}
	a.on = on
}

// undo takes back what was done since a mark.
func (s *drainSimulation) undo(mark int) {
	for len(s.log) > mark {
		last := s.log[len(s.log)-1]
		s.log = s.log[:len(s.log)-1]
		last()
	}
}

// stand counts a node, or no longer.
func (s *drainSimulation) stand(name string, by int) {
	if node := s.node(name); node != nil {
		for _, d := range s.domains {
			d.count(node, by)
		}
	}
}
