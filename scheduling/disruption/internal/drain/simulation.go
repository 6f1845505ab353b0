package drain

import (
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Cluster is what a simulation sees of a cluster. It is read each time: what has changed since a
// simulation began shows in it.
type Cluster struct {
	Topology *Topology
	// Pods are those that have a node, by name; Home is the name of that node.
	Pods map[string]*corev1.Pod
	Home func(*corev1.Pod) string
	// Node is a node that is there by its name, nil for others; Nodes are all of them.
	Node  func(name string) *corev1.Node
	Nodes iter.Seq[*corev1.Node]
	// Offered reports whether NodePools may have nodes with a value of a label.
	Offered func(key, value string) bool
}

// Move takes a pod, named as namespace/name, from a node to another one or to that of a launch;
// where To is "" it goes nowhere.
type Move struct{ Pod, From, To string }

// Simulation is the cluster while pods move: what the topology terms about them count, kept up
// as pods leave and land. What is done can be undone.
type Simulation struct {
	// Pods are those that move, by name.
	Pods    map[string]*Pod
	cluster Cluster
	// launched are the nodes of the step's launches. drained counts the pods that a node which is
	// drained still has to lose: it is gone when that is none.
	launched map[string]*corev1.Node
	drained  map[string]int
	counts   map[countKey]*domainCounts
	domains  map[domainKey]*domainNodes
	filters  map[string]*nodeFilter
	log      []func() // what undoes what was done, last first
}

// Pod is a pod that moves: where it goes to and is ("" while it is away), and where it comes from.
type Pod struct {
	Pod      *corev1.Pod
	Topology *PodTopology
	To, On   string
	from     string
	terms    []podTerm
	// repelled count the pods that keep it away, counted is all that counts it.
	repelled, counted []*domainCounts
}

// Independent reports whether no topology term has to do with a pod.
func (a *Pod) Independent() bool { return len(a.terms)+len(a.repelled)+len(a.counted) == 0 }

// podTerm is a topology term of a pod, with what it counts.
type podTerm struct {
	*podspec.Tie
	counts  *domainCounts
	domains *domainNodes // of a spread constraint
}

// New begins with a step that nobody has left for yet: the nodes that it drains, those that its
// launches become, by name, and the pods that move. Pods that do not run are passed over.
func New(c Cluster, drained []string, launched map[string]*corev1.Node, moves []Move) *Simulation {
	s := &Simulation{
		cluster: c, launched: launched, drained: map[string]int{}, Pods: map[string]*Pod{},
		counts: map[countKey]*domainCounts{}, domains: map[domainKey]*domainNodes{}, filters: map[string]*nodeFilter{},
	}
	for _, name := range drained {
		s.drained[name] = 0
	}
	var moving []*Pod
	for _, m := range moves {
		if pod := c.Pods[m.Pod]; pod != nil {
			a := &Pod{Pod: pod, Topology: c.Topology.Of(m.Pod), from: m.From, To: m.To, On: m.From}
			s.Pods[m.Pod] = a
			moving = append(moving, a)
			if n, ok := s.drained[m.From]; ok {
				s.drained[m.From] = n + 1
			}
		}
	}
	for _, a := range moving {
		s.read(a)
	}
	for _, c := range s.counts {
		for _, a := range moving {
			if c.holders && slices.ContainsFunc(a.Topology.Terms.Ties, func(t podspec.Tie) bool { return t.Kind == podspec.AntiTie && t.Target == c.target && t.Key == c.key }) ||
				!c.holders && a.Topology.isAmong(c.target) {
				a.counted = append(a.counted, c)
			}
		}
	}
	return s
}

// read resolves what a pod's topology terms, and those that keep it away, count.
func (s *Simulation) read(a *Pod) {
	terms := a.Topology.Terms
	for i := range terms.Ties {
		tie := &terms.Ties[i]
		k := countKey{antiTerm: antiTerm{tie.Target, tie.Key}}
		t := podTerm{Tie: tie}
		if tie.Kind == podspec.SpreadTie {
			k.filter = filterKey(a.Pod, terms, tie)
			if s.filters[k.filter] == nil {
				s.filters[k.filter] = newNodeFilter(a.Pod, terms, tie)
			}
			t.domains = s.domainsOf(domainKey{tie.Key, k.filter})
		}
		t.counts = s.countsOf(k)
		a.terms = append(a.terms, t)
	}
	for _, target := range a.Topology.Among {
		for _, t := range s.cluster.Topology.anti[int(target)] {
			a.repelled = append(a.repelled, s.countsOf(countKey{antiTerm: t, holders: true}))
		}
	}
}

// countsOf counts pods by domain, once for all terms that count the same.
func (s *Simulation) countsOf(k countKey) *domainCounts {
	if c := s.counts[k]; c != nil {
		return c
	}
	c := &domainCounts{countKey: k, filter: s.filters[k.filter], pods: map[string]int{}}
	s.counts[k] = c
	index := s.cluster.Topology
	names := index.members[k.target]
	if k.holders {
		names = index.holders[k.antiTerm]
	}
	for _, name := range names {
		if pod := s.cluster.Pods[name]; pod != nil {
			s.count(c, s.cluster.Home(pod), pod.DeletionTimestamp != nil, 1)
		}
	}
	return c
}

// count counts a pod on a node, or no longer. Spread constraints look at no pod that is being deleted.
func (s *Simulation) count(c *domainCounts, on string, terminating bool, by int) {
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
func (s *Simulation) domainsOf(k domainKey) *domainNodes {
	if d := s.domains[k]; d != nil {
		return d
	}
	d := &domainNodes{domainKey: k, filter: s.filters[k.filter], nodes: map[string]int{}}
	s.domains[k] = d
	for node := range s.cluster.Nodes {
		d.count(node, 1)
	}
	for _, node := range s.launched {
		d.count(node, 1)
	}
	return d
}

// node is a node by name, of the cluster or of a launch; nil if it is not there.
func (s *Simulation) node(name string) *corev1.Node {
	if n := s.launched[name]; n != nil {
		return n
	}
	return s.cluster.Node(name)
}

// Fits reports whether a pod that is away may land where it goes, as things stand.
func (s *Simulation) Fits(a *Pod) bool {
	node := s.node(a.To)
	if node == nil {
		return true // it goes nowhere
	}
	for i := range a.terms {
		if !a.terms[i].allows(a.Topology, node) {
			return false
		}
	}
	return !slices.ContainsFunc(a.repelled, func(c *domainCounts) bool {
		value, ok := node.Labels[c.key]
		return ok && c.pods[value] > 0
	})
}

// allows reports whether a term lets its pod, which is away, onto a node.
func (t *podTerm) allows(own *PodTopology, node *corev1.Node) bool {
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

// Possible reports whether pods can leave at the same time and then all land, each as soon
// as it may. If so they have, unless only asked.
func (s *Simulation) Possible(group []*Pod, only bool) bool {
	mark := len(s.log)
	for _, a := range group {
		s.Move(a, "")
	}
	waiting := slices.Clone(group)
	for landed := true; landed && len(waiting) > 0; {
		landed = false
		waiting = slices.DeleteFunc(waiting, func(a *Pod) bool {
			ok := s.Fits(a)
			if ok {
				s.Move(a, a.To)
				landed = true
			}
			return ok
		})
	}
	if only || len(waiting) > 0 {
		s.Undo(mark)
	}
	return len(waiting) == 0
}

// Move takes a pod from where it is to a node, or away from all. A node that is drained is gone once
// its last pod has left.
func (s *Simulation) Move(a *Pod, to string) {
	was := a.On
	s.set(a, to)
	_, drained := s.drained[was]
	drained = drained && was == a.from && to == ""
	gone := false
	if drained {
		s.drained[was]--
		gone = s.drained[was] == 0
	}
	if gone {
		s.Stand(was, -1)
	}
	s.log = append(s.log, func() {
		s.set(a, was)
		if drained {
			s.drained[was]++
		}
		if gone {
			s.Stand(was, 1)
		}
	})
}

// set notes where a pod is.
func (s *Simulation) set(a *Pod, on string) {
	for _, c := range a.counted {
		s.count(c, a.On, a.Pod.DeletionTimestamp != nil && a.On == a.from, -1)
		s.count(c, on, a.Pod.DeletionTimestamp != nil && on == a.from, 1)
	}
	a.On = on
}

// Mark is how far things are done: Undo takes back what is done after it.
func (s *Simulation) Mark() int { return len(s.log) }

// Done notes that a caller has done something of its own, and what takes it back.
func (s *Simulation) Done(undo func()) { s.log = append(s.log, undo) }

// Keep makes final what was done since a mark.
func (s *Simulation) Keep(mark int) {
	clear(s.log[mark:])
	s.log = s.log[:mark]
}

// Undo takes back what was done since a mark.
func (s *Simulation) Undo(mark int) {
	for len(s.log) > mark {
		last := s.log[len(s.log)-1]
		s.log = s.log[:len(s.log)-1]
		last()
	}
}

// Stand counts a node, or no longer. Of one that is drained, the domains count on that NodePools offer, but for its host.
func (s *Simulation) Stand(name string, by int) {
	_, drained := s.drained[name]
	if node := s.node(name); node != nil {
		for _, d := range s.domains {
			if !drained || d.key == corev1.LabelHostname || !s.cluster.Offered(d.key, node.Labels[d.key]) {
				d.count(node, by)
			}
		}
	}
}

// Misplaced reports whether a pod breaks a rule on its node that kube-scheduler would hold it to if
// it placed it there now. Taints of the moment are left out, as of nodes that are going, and spread
// constraints that do not look at its node or at itself.
func (s *Simulation) Misplaced(a *Pod, node *corev1.Node) bool {
	asks := podspec.NewConstraint(&a.Pod.Spec)
	if !asks.OwnMatchesNode(node.Name, node.Labels) || !Tolerates(asks.Tolerations, lasting(node)) {
		return true
	}
	mark := s.Mark()
	s.Move(a, "")
	defer s.Undo(mark)
	return slices.ContainsFunc(a.terms, func(t podTerm) bool {
		_, counts := node.Labels[t.Key]
		counts = counts && (t.Kind != podspec.SpreadTie || t.domains.filter.passes(node) && a.Topology.isAmong(t.Target))
		return (counts || t.Kind != podspec.SpreadTie) && !t.allows(a.Topology, node)
	})
}

// lasting are the taints of a node that keep pods away for good: not those by which
// Kubernetes, Karpenter, an autoscaler or a termination handler tell of its state.
func lasting(node *corev1.Node) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		domain, _, _ := strings.Cut(t.Key, "/")
		return t.Effect != corev1.TaintEffectNoSchedule || strings.HasSuffix(domain, "kubernetes.io") || domain == "karpenter.sh" ||
			domain == "aws-node-termination-handler" || strings.HasPrefix(domain, "remediator.") || domain == "cloud.google.com" ||
			strings.HasSuffix(t.Key, "ClusterAutoscaler") || t.Key == scheduling.DisruptedTaint
	})
}
