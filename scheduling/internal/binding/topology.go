package binding

import (
	"iter"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// axis is a topology key, with the domains of its values numbered.
type axis struct {
	key    string
	values []string // by domain
	domain map[string]int32
}

// number is the domain of a node with some labels; -1 where it lacks the label.
func (a *axis) number(labels map[string]string) int32 {
	value, ok := labels[a.key]
	if !ok {
		return -1
	}
	n, ok := a.domain[value]
	if !ok {
		n = int32(len(a.values))
		a.domain[value], a.values = n, append(a.values, value)
	}
	return n
}

// counter counts pods among a target by domain.
type counter struct {
	// target is one of the compiled problem's, or where together is set, of the scheduler's.
	target, axis int
	together     bool
	// filter is the spread whose node policies say which nodes count; nil where all do.
	filter *filter
	// required says that some term that has to hold reads it, hard that a spread does, and so asks for the domain with
	// the fewest pods.
	required, hard bool
}

// filter is the nodes that a spread constraint looks at.
type filter struct {
	group                  int
	honorAffinity, honorTo bool
	axes                   []int // labels that nodes must have, too
}

func (f *filter) passes(m *machine) bool {
	if f == nil {
		return true
	}
	if f.honorAffinity && !m.reach[f.group] || f.honorTo && !m.untainted[f.group] {
		return false
	}
	return !slices.ContainsFunc(f.axes, func(a int) bool { return m.domains[a] == -1 })
}

// holder counts, by domain, pods that hold a term about a target: those of the target they keep
// away, attract or repel.
type holder struct {
	target, axis int
	hard         bool  // anti-affinity that has to hold
	weight       int64 // what it adds to the score of a node in the domain
}

// spread is a topology spread constraint of a class.
type spread struct {
	counter, axis int
	skew, least   int64
	self          int64 // 1 where a pod counts itself
	host          bool
}

// pull is a term of affinity or anti-affinity of a class.
type pull struct {
	counter, axis int
	weight        int64
}

// terms are what ties a class to other pods.
type terms struct {
	required []term // those that have to hold, its own first, then the anti-affinity of others
	own      int    // how many of them are its own
	soft     []spread
	lenient  bool   // nodes without the label of a soft spread are scored all the same
	prefer   []pull // weights below 0 for anti-affinity
	follows  bool   // it has a required affinity
	alone    bool   // its pods are selected by its own affinity
	holds    []int  // holders
	tied     bool   // some terms have to hold, its own or others'
}

func (s *Scheduler) axisOf(key string) int {
	n := slices.IndexFunc(s.axes, func(a axis) bool { return a.key == key })
	if n < 0 {
		n = len(s.axes)
		s.axes = append(s.axes, axis{key: key, domain: map[string]int32{}})
	}
	return n
}

func (s *Scheduler) counter(target, at int, f *filter) int {
	n := slices.IndexFunc(s.counts, func(c counter) bool {
		return !c.together && c.target == target && c.axis == at && (c.filter == nil) == (f == nil) &&
			(f == nil || c.filter.group == f.group && c.filter.honorAffinity == f.honorAffinity && c.filter.honorTo == f.honorTo && slices.Equal(c.filter.axes, f.axes))
	})
	if n < 0 {
		n = len(s.counts)
		s.counts = append(s.counts, counter{target: target, axis: at, filter: f})
	}
	return n
}

func (s *Scheduler) holder(h holder) int {
	n := slices.Index(s.holders, h)
	if n < 0 {
		n = len(s.holders)
		s.holders = append(s.holders, h)
	}
	return n
}

// hardAffinityWeight is what a required term of affinity of another pod adds to the score of
// nodes where it is (InterPodAffinityArgs.HardPodAffinityWeight).
const hardAffinityWeight = 1

func (s *Scheduler) readTerms(x *class, list *podspec.TopologyTerms) {
	among := func(target int) bool { return s.c.TopologyTerms.Targets.Has(x.among, target) }
	var axes [2][]int // of the spreads that have to hold, and of the others
	for _, t := range list.Ties {
		if t.Kind == podspec.SpreadTie && !t.Share {
			kind := 0
			if t.Weight > 0 {
				kind = 1
			}
			axes[kind] = append(axes[kind], s.axisOf(t.Key))
		}
	}
	for i := range list.Ties {
		t := &list.Ties[i]
		at := s.axisOf(t.Key)
		switch {
		case t.Share:
		case t.Kind == podspec.SpreadTie:
			kind := 0
			if t.Weight > 0 {
				kind = 1
			}
			f := &filter{group: x.number, honorAffinity: t.HonorAffinity, honorTo: t.HonorTaints, axes: axes[kind]}
			p := spread{counter: s.counter(t.Target, at, f), axis: at, skew: t.MaxSkew, least: t.MinDomains, host: t.Key == corev1.LabelHostname}
			if among(t.Target) {
				p.self = 1
			}
			s.counts[p.counter].hard = s.counts[p.counter].hard || kind == 0
			if kind == 1 {
				x.soft = append(x.soft, p)
			} else {
				x.required = append(x.required, term{tie: t, axis: at, counter: p.counter, spread: p})
				s.counts[p.counter].required = true
			}
		default:
			p := pull{counter: s.counter(t.Target, at, nil), axis: at, weight: t.Weight}
			anti := t.Kind == podspec.AntiTie
			h := holder{target: t.Target, axis: at, hard: anti && t.Weight == 0, weight: t.Weight}
			switch {
			case t.Weight == 0:
				x.required = append(x.required, term{tie: t, axis: at, counter: p.counter})
				s.counts[p.counter].required = true
				if !anti {
					x.follows, x.alone = true, among(t.Target)
					h.weight = hardAffinityWeight
				}
			default:
				if anti {
					p.weight, h.weight = -p.weight, -h.weight
				}
				x.prefer = append(x.prefer, p)
			}
			x.holds = append(x.holds, s.holder(h))
		}
	}
}

// tally is pods that run already: of which targets, where.
type tally struct {
	machine int32
	counts  []int32 // the counters that it counts for
	going   bool    // it is being deleted and does not count for spreads
	holder  int     // a holder that it is, or -1
}

// readRunning notes the running pods that terms are about.
func (s *Scheduler) readRunning(kept []preference) {
	sets := s.c.TopologyTerms.Targets.Sets
	l := s.c.Locations()
	name := make([]string, len(l.Places))
	for n, i := range l.NodeAt {
		name[i] = n
	}
	numbers := map[string]int{}
	for i, set := range sets {
		numbers[setName(set)] = i
	}
	number := func(set []int32) int {
		n, ok := numbers[setName(set)]
		if !ok { // no pod that waits is among just these
			n = len(s.countedBy)
			numbers[setName(set)] = n
			var counted []int32
			for i := range s.counts {
				if !s.counts[i].together && slices.Contains(set, int32(s.counts[i].target)) {
					counted = append(counted, int32(i))
				}
			}
			s.countedBy = append(s.countedBy, counted)
		}
		return n
	}
	l.RunningSets(func(pod *corev1.Pod, node int, among []int32) {
		if m, ok := s.names[name[node]]; ok {
			s.running = append(s.running, tally{machine: m, counts: s.countedBy[number(among)], going: pod.DeletionTimestamp != nil, holder: -1})
		}
	})
	for _, h := range s.c.Cluster.Hosts {
		m, ok := s.names[h.Name]
		if s.together == nil || !ok {
			continue
		}
		for _, pod := range h.Pods {
			if list := s.belonging(pod); len(list) > 0 {
				s.running = append(s.running, tally{machine: m, counts: list, going: pod.DeletionTimestamp != nil, holder: -1})
			}
		}
	}
	for _, k := range kept {
		if m, ok := s.names[k.host]; ok {
			s.running = append(s.running, tally{machine: m, holder: k.holder})
		}
	}
	for i := range s.c.ExistingAntiAffinity {
		k := &s.c.ExistingAntiAffinity[i]
		n := slices.IndexFunc(s.holders, func(h holder) bool {
			return h.hard && h.target == k.Tie.Target && s.axes[h.axis].key == k.Tie.Key
		})
		if m, ok := s.names[k.Node]; ok && n >= 0 {
			s.running = append(s.running, tally{machine: m, holder: n})
		}
	}
}

// nobody is the target of holders of which each class says by itself whether it is meant.
const nobody = -1

// preference is a holder with a node on which a running pod holds it.
type preference struct {
	host   string
	holder int
}

// readPreferences reads the terms of running pods that make nodes better or worse for pods
// that wait: what they prefer, and the affinity that they require. Of a class, the first pod
// tells whether a term means it.
func (s *Scheduler) readPreferences() (out []preference) {
	known := map[string]int{} // holders, -1 where no class is meant
	for _, h := range s.c.Cluster.Hosts {
		for _, pod := range h.Pods {
			for term, weight := range preferences(pod) {
				name := strconv.FormatInt(weight, 10) + " " + term.TopologyKey + " " + string(podspec.AppendTargetName(nil, pod, []corev1.PodAffinityTerm{*term}))
				n, ok := known[name]
				if !ok {
					n = s.hold(pod, term, weight)
					known[name] = n
				}
				if n >= 0 {
					out = append(out, preference{h.Name, n})
				}
			}
		}
	}
	return out
}

// hold adds a holder for a term of a running pod, unless it means no class.
func (s *Scheduler) hold(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) int {
	n := -1
	selector := s.c.TopologyTerms.Selector(pod, term)
	for i := range s.classes {
		if x := s.c.Planned[i].Pods[0]; selector.Matches(podspec.NamespaceOf(x), x.Labels) {
			if n < 0 {
				n = len(s.holders)
				s.holders = append(s.holders, holder{target: nobody, axis: s.axisOf(term.TopologyKey), weight: weight})
			}
			s.classes[i].heldBy = append(s.classes[i].heldBy, int32(n))
		}
	}
	return n
}

// preferences yields the terms of a bound pod that count for the scores of nodes for other
// pods, with their weights.
func preferences(pod *corev1.Pod) iter.Seq2[*corev1.PodAffinityTerm, int64] {
	return func(yield func(*corev1.PodAffinityTerm, int64) bool) {
		a := pod.Spec.Affinity
		if a == nil {
			return
		}
		if near := a.PodAffinity; near != nil {
			for i := range near.RequiredDuringSchedulingIgnoredDuringExecution {
				if !yield(&near.RequiredDuringSchedulingIgnoredDuringExecution[i], hardAffinityWeight) {
					return
				}
			}
			for i := range near.PreferredDuringSchedulingIgnoredDuringExecution {
				if t := &near.PreferredDuringSchedulingIgnoredDuringExecution[i]; !yield(&t.PodAffinityTerm, int64(t.Weight)) {
					return
				}
			}
		}
		if apart := a.PodAntiAffinity; apart != nil {
			for i := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
				if t := &apart.PreferredDuringSchedulingIgnoredDuringExecution[i]; !yield(&t.PodAffinityTerm, -int64(t.Weight)) {
					return
				}
			}
		}
	}
}

func setName(set []int32) string {
	b := make([]byte, 0, 4*len(set))
	for _, n := range set {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}
