package disruption

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// drainSimulation is the cluster while the waves of a step go on: what rules of the step's pods
// count, kept up as pods leave and land.
type drainSimulation struct {
	constraints *planConstraints
	book        *podRules
	// nodes are those of the step's launches; left counts the pods that a node which is
	// drained still has to lose, and it is gone when that is none.
	nodes map[string]*corev1.Node
	left  map[string]int
	// pods are those of the step, with the node that they are on, "" while they are away.
	pods  map[string]*movingPod
	apart bool // some of them keep others away
	rules map[string]*topologyCounts
	// index are the rules by a label that all pods have which they count, "" where that is not
	// known.
	index map[string][]*topologyCounts
	// domains are those that spread constraints look at, by which nodes count.
	domains map[string]*domains
	log     []func() // what undoes what was done since a mark, last first
}

// movingPod is a pod that moves, where it comes from, goes to and is, and the rules that it
// keeps.
type movingPod struct {
	name string
	pod  *corev1.Pod
	// anew is the pod as it lands: one that is being deleted has a successor.
	anew         *corev1.Pod
	from, to, on string
	rules        []podRule
	// seen are the rules that count it.
	seen []*topologyCounts
}

// podRule is a rule of a pod: an anti-affinity or affinity term, or a spread constraint.
type podRule struct {
	kind   ruleKind
	spread *corev1.TopologySpreadConstraint
	counts *topologyCounts
}

type ruleKind int

const (
	ruleApart ruleKind = iota
	ruleTogether
	ruleSpread
)

// newSimulation begins with a step that nobody has left for yet.
func newSimulation(f *planConstraints, step *Step) *drainSimulation {
	s := &drainSimulation{constraints: f, nodes: map[string]*corev1.Node{}, left: map[string]int{}, pods: map[string]*movingPod{}, rules: map[string]*topologyCounts{}, index: map[string][]*topologyCounts{}, domains: map[string]*domains{}}
	s.book = rulesOf(f.problem)
	for i := range step.Launches {
		l := &step.Launches[i]
		if node, err := l.Node(l.Name, &l.Options[0], catalogOf(f.problem, l.NodePool)); err == nil {
			s.nodes[l.Name] = node
		}
	}
	for _, name := range step.Drain {
		s.left[name] = 0
	}
	for i := range step.Evictions {
		e := &step.Evictions[i]
		if pod := f.pods[e.Pod]; pod != nil {
			anew := *pod
			anew.DeletionTimestamp = nil
			s.pods[e.Pod] = &movingPod{name: e.Pod, pod: pod, anew: &anew, from: e.From, to: e.To, on: e.From}
			s.left[e.From]++
		}
	}
	for i := range step.Evictions {
		if a := s.pods[step.Evictions[i].Pod]; a != nil {
			s.read(a)
		}
	}
	known := map[string][]*topologyCounts{}
	for i := range step.Evictions {
		if a := s.pods[step.Evictions[i].Pod]; a != nil {
			key := labelsKey(a.anew)
			if _, ok := known[key]; !ok {
				known[key] = s.look(a.anew)
			}
			a.seen = known[key]
		}
	}
	return s
}

// read notes which rules a pod keeps.
func (s *drainSimulation) read(a *movingPod) {
	away, near := awayFrom(a.pod), nearTo(a.pod)
	rule := func(kind ruleKind, term *corev1.PodAffinityTerm) *topologyCounts {
		match := s.book.term(a.pod, term)
		if match == nil {
			return nil
		}
		c := s.countsFor(a.pod, term, term.TopologyKey, hintOf(selectorOf(a.pod, term.LabelSelector, term.MatchLabelKeys)), match)
		a.rules = append(a.rules, podRule{kind: kind, counts: c})
		return c
	}
	for i := range away {
		if c := rule(ruleApart, &away[i]); c != nil {
			c.keepers = append(c.keepers, a)
			s.apart = true
		}
	}
	for i := range near {
		rule(ruleTogether, &near[i])
	}
	for i := range a.pod.Spec.TopologySpreadConstraints {
		c := &a.pod.Spec.TopologySpreadConstraints[i]
		if match := spreadMatch(a.pod, c); c.WhenUnsatisfiable == corev1.DoNotSchedule && match != nil {
			counts := s.countsFor(a.pod, spreadRule(a.pod, c), c.TopologyKey, hintOf(selectorOf(a.pod, c.LabelSelector, c.MatchLabelKeys)), match)
			a.rules = append(a.rules, podRule{kind: ruleSpread, spread: c, counts: counts})
		}
	}
}

// node is a node by name, of the cluster or of a launch.
func (s *drainSimulation) node(name string) *corev1.Node {
	if n := s.nodes[name]; n != nil {
		return n
	}
	if x := s.constraints.at[name]; x != nil {
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
	for i := range a.rules {
		if !a.rules[i].allows(a, node) {
			return false
		}
	}
	for _, c := range a.seen {
		here, ok := node.Labels[c.key]
		if ok && slices.ContainsFunc(c.keepers, func(b *movingPod) bool {
			on := s.node(b.on)
			if b == a || on == nil {
				return false
			}
			there, known := on.Labels[c.key]
			return known && here == there
		}) {
			return false
		}
	}
	return true
}

// allows reports whether a rule lets a pod, which is away, onto a node.
func (r *podRule) allows(a *movingPod, node *corev1.Node) bool {
	value, ok := node.Labels[r.counts.key]
	switch r.kind {
	case ruleApart:
		return !ok || r.counts.pods[value] == 0
	case ruleTogether:
		return ok && r.counts.pods[value] > 0 || ok && r.counts.total == 0 && r.counts.match(a.anew)
	default:
		return ok && r.even(a, value)
	}
}

// even reports whether a domain is not too full for one more.
func (r *podRule) even(a *movingPod, value string) bool {
	least, domains := -1, 0
	for domain, nodes := range r.counts.domains.nodes {
		if nodes <= 0 {
			continue
		}
		domains++
		if n := r.counts.pods[domain]; least < 0 || n < least {
			least = n
		}
	}
	if least < 0 || r.spread.MinDomains != nil && domains < int(*r.spread.MinDomains) {
		least = 0
	}
	with := r.counts.pods[value]
	if r.counts.match(a.anew) {
		with++
	}
	return with-least <= int(r.spread.MaxSkew)
}

// possible reports whether pods can leave at the same time and then all land, each as soon
// as it may. If so they have, unless only asked.
func (s *drainSimulation) possible(group []*movingPod, only bool) bool {
	mark := len(s.log)
	for _, a := range group {
		s.move(a, "")
	}
	waiting := slices.Clone(group)
	for len(waiting) > 0 {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(a *movingPod) bool {
			ok := s.fits(a)
			if ok {
				s.move(a, a.to)
			}
			return ok
		})
		if len(waiting) == before {
			break
		}
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

// move takes a pod from where it is to a node, or away from all. A node that is drained
// goes with its last pod.
func (s *drainSimulation) move(a *movingPod, to string) {
	was := a.on
	a.on = to
	s.tell(a, was, -1)
	s.tell(a, to, 1)
	gone := false
	if was == a.from && to == "" {
		s.left[was]--
		gone = s.left[was] == 0
	}
	if gone {
		s.stand(was, -1)
	}
	s.log = append(s.log, func() {
		a.on = was
		s.tell(a, to, -1)
		s.tell(a, was, 1)
		if was == a.from && to == "" {
			s.left[was]++
		}
		if gone {
			s.stand(was, 1)
		}
	})
}

// undo takes back what was done since a mark.
func (s *drainSimulation) undo(mark int) {
	for len(s.log) > mark {
		last := s.log[len(s.log)-1]
		s.log = s.log[:len(s.log)-1]
		last()
	}
}

// tell counts a pod on a node, or no longer.
func (s *drainSimulation) tell(a *movingPod, on string, by int) {
	node := s.node(on)
	if node == nil {
		return
	}
	for _, c := range a.seen {
		if on == a.from && a.pod.DeletionTimestamp != nil && !c.match(a.pod) {
			continue
		}
		if value, ok := node.Labels[c.key]; ok && c.holds(node) {
			c.pods[value] += by
			c.total += by
		}
	}
}

// stand counts a node, or no longer.
func (s *drainSimulation) stand(name string, by int) {
	node := s.node(name)
	if node == nil {
		return
	}
	for _, d := range s.domains {
		if value, ok := node.Labels[d.key]; ok && d.holds(node) {
			d.nodes[value] += by
		}
	}
}
