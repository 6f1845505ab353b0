package scheduling

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type tieKind uint8

// The kinds of ties.
const (
	spreadTie   tieKind = iota // pods of the target are spread over the values of a label
	affinityTie                // a pod of the target has to be where the label has the same value
	antiTie                    // no pod of the target may be there
)

// tie is one constraint that makes a pod's place depend on the places of others.
type tie struct {
	kind       tieKind
	key        string // the label of nodes, as the pod wrote it
	target     int
	weight     int64 // what a wish weighs; 0 where the constraint has to hold
	maxSkew    int64
	minDomains int64
	// honorAffinity and honorTaints say which nodes a spread looks at: those only that
	// the pod's own node constraints, and its tolerations, allow.
	honorAffinity, honorTaints bool
	// share says that it is no constraint of the pod's but the bound on the share of a
	// workload that one machine may hold.
	share bool
}

// perHost reports whether the domains of the tie are single nodes.
func (t *tie) perHost() bool { return t.key == corev1.LabelHostname }

// nodeWish is a preferred term of node affinity.
type nodeWish struct {
	weight int64
	term   term
}

// bonds are what ties a pod to others, and what it would like of its node.
type bonds struct {
	ties   []tie
	wishes []nodeWish
	name   string // of equal bonds
}

// spreadKeys are the labels that a node must have to be looked at by the pod's
// spread constraints of one sort.
func (b *bonds) spreadKeys(hard bool) []string {
	var keys []string
	for i := range b.ties {
		if t := &b.ties[i]; t.kind == spreadTie && !t.share && (t.weight == 0) == hard {
			keys = append(keys, t.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// unsatisfiedWeight is what keeping a ScheduleAnyway constraint weighs.
const unsatisfiedWeight = 100

// bondReader reads the bonds of pods. Equal ones get the same number; 0 is none.
type bondReader struct {
	targets    *targets
	namespaces *namespaces
	defaults   *defaultSpread
	workloads  *workloads
	wishes     bool // preferences count
	list       []*bonds
	index      map[string]int
	buffer     []byte
}

func newBondReader(f *facts) *bondReader {
	return &bondReader{
		targets: newTargets(), namespaces: &namespaces{facts: f}, defaults: newDefaultSpread(f.problem),
		wishes: f.solver.Preferences != PreferencesIgnore, list: []*bonds{{}}, index: map[string]int{"": 0},
	}
}

// read returns the number of a pod's bonds.
func (r *bondReader) read(pod *corev1.Pod) int {
	spread, selector := r.spread(pod)
	a := pod.Spec.Affinity
	share, workload, shared := r.shareTie(pod)
	if !shared && len(spread) == 0 && (a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil && (a.NodeAffinity == nil || !r.wishes)) {
		return 0
	}
	r.buffer = appendBonds(r.buffer[:0], pod, spread, selector, r.wishes)
	if shared {
		r.buffer = appendText(append(r.buffer, 'W'), workload)
	}
	if n, ok := r.index[string(r.buffer)]; ok {
		return n
	}
	n := len(r.list)
	name := string(r.buffer)
	b := r.bonds(pod, spread, selector)
	if shared {
		b.ties = append(b.ties, share)
	}
	if len(b.ties) == 0 && len(b.wishes) == 0 {
		n = 0
	} else {
		b.name = name
		r.list = append(r.list, b)
	}
	r.index[name] = n
	return n
}

// spread returns the spread constraints that hold for a pod, and the selector that
// the cluster's default ones have.
func (r *bondReader) spread(pod *corev1.Pod) ([]corev1.TopologySpreadConstraint, *deduced) {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || r.defaults == nil {
		return pod.Spec.TopologySpreadConstraints, nil
	}
	d := r.defaults.deduce(pod)
	if d == nil {
		return nil, nil
	}
	return r.defaults.constraints, d
}

// bonds reads what is new.
func (r *bondReader) bonds(pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *deduced) *bonds {
	b := &bonds{}
	for i := range spread {
		if c := &spread[i]; r.wishes || c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			b.ties = append(b.ties, r.spreadTie(pod, c, selector))
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return b
	}
	if p := a.PodAffinity; p != nil {
		b.ties = append(b.ties, r.required(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)...)
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.wishes && w.Weight > 0 {
				n := r.target(pod, []corev1.PodAffinityTerm{w.PodAffinityTerm})
				b.ties = append(b.ties, tie{kind: affinityTie, key: w.PodAffinityTerm.TopologyKey, target: n, weight: int64(w.Weight)})
			}
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			b.ties = append(b.ties, r.anti(pod, &p.RequiredDuringSchedulingIgnoredDuringExecution[i], 0))
		}
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.wishes && w.Weight > 0 {
				b.ties = append(b.ties, r.anti(pod, &w.PodAffinityTerm, int64(w.Weight)))
			}
		}
	}
	if n := a.NodeAffinity; n != nil && r.wishes {
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			if w.Weight > 0 && len(w.Preference.MatchExpressions)+len(w.Preference.MatchFields) > 0 {
				b.wishes = append(b.wishes, nodeWish{weight: int64(w.Weight), term: newTerm(&w.Preference)})
			}
		}
	}
	return b
}

// spreadTie reads a spread constraint.
func (r *bondReader) spreadTie(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, selector *deduced) tie {
	t := tie{kind: spreadTie, key: c.TopologyKey, maxSkew: int64(c.MaxSkew), honorAffinity: true}
	if c.MinDomains != nil {
		t.minDomains = int64(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil {
		t.honorAffinity = *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.NodeTaintsPolicy != nil {
		t.honorTaints = *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		t.weight, t.minDomains = unsatisfiedWeight, 0
	}
	own := namespaceOf(pod)
	b := appendText([]byte{'s'}, own)
	if selector != nil {
		t.target = r.targets.add(string(appendText(append(b, 'd'), selector.name)), func() target {
			return target{[]podSelector{{namespaces: map[string]bool{own: true}, labels: selector.labels}}}
		})
		return t
	}
	b = appendSelector(b, c.LabelSelector, c.MatchLabelKeys, nil, pod.Labels)
	t.target = r.targets.add(string(b), func() target {
		return target{[]podSelector{{
			namespaces: map[string]bool{own: true},
			labels:     spreadSelector(c, pod.Labels),
		}}}
	})
	return t
}

// spreadSelector is the selector of a spread constraint. One that is empty counts no
// pod (kube-scheduler, podtopologyspread: countPodsMatchSelector).
func spreadSelector(c *corev1.TopologySpreadConstraint, own map[string]string) labels.Selector {
	s := labelSelector(c.LabelSelector, c.MatchLabelKeys, nil, own)
	if s.Empty() {
		return labels.Nothing()
	}
	return s
}

// required reads the required terms of pod affinity. A pod counts for them only if
// all of them select it (kube-scheduler, interpodaffinity: podMatchesAllAffinityTerms).
func (r *bondReader) required(pod *corev1.Pod, terms []corev1.PodAffinityTerm) []tie {
	if len(terms) == 0 {
		return nil
	}
	n := r.target(pod, terms)
	out := make([]tie, 0, len(terms))
	for i := range terms {
		t := tie{kind: affinityTie, key: terms[i].TopologyKey, target: n}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// anti reads a term of anti-affinity.
func (r *bondReader) anti(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) tie {
	return tie{kind: antiTie, key: term.TopologyKey, weight: weight, target: r.target(pod, []corev1.PodAffinityTerm{*term})}
}

// target numbers the pods that all terms select.
func (r *bondReader) target(pod *corev1.Pod, terms []corev1.PodAffinityTerm) int {
	own := namespaceOf(pod)
	return r.targets.add(string(appendTargetName(nil, pod, terms)), func() target {
		made := target{}
		for i := range terms {
			s := r.namespaces.of(&terms[i], own)
			s.labels = labelSelector(terms[i].LabelSelector, terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys, pod.Labels)
			made.selectors = append(made.selectors, s)
		}
		return made
	})
}

// appendTargetName appends what identifies the pods that all terms select.
func appendTargetName(b []byte, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []byte {
	b = append(b, 't')
	for i := range terms {
		b = appendTerm(b, &terms[i], namespaceOf(pod), pod.Labels)
	}
	return b
}

// appendTerm appends whom a term selects.
func appendTerm(b []byte, term *corev1.PodAffinityTerm, own string, podLabels map[string]string) []byte {
	b = append(b, '(')
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		b = appendText(append(b, 'n'), own)
	}
	for _, name := range term.Namespaces {
		b = appendText(append(b, 'n'), name)
	}
	b = appendSelector(append(b, 'N'), term.NamespaceSelector, nil, nil, nil)
	return append(appendSelector(b, term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, podLabels), ')')
}

// appendBonds appends what identifies a pod's bonds, its wishes among them where they
// count.
func appendBonds(b []byte, pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *deduced, wishes bool) []byte {
	own := namespaceOf(pod)
	if selector != nil {
		b = appendText(append(b, 'd'), own)
		b = appendText(b, selector.name)
	} else {
		for i := range spread {
			b = appendSpread(b, &spread[i], own, pod.Labels)
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return b
	}
	terms := func(mark byte, terms []corev1.PodAffinityTerm) {
		for i := range terms {
			b = appendText(append(b, mark), terms[i].TopologyKey)
			b = appendTerm(b, &terms[i], own, pod.Labels)
		}
	}
	weighted := func(mark byte, terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			if !wishes {
				return
			}
			b = strconv.AppendInt(append(b, mark), int64(terms[i].Weight), 10)
			b = appendText(append(b, ' '), terms[i].PodAffinityTerm.TopologyKey)
			b = appendTerm(b, &terms[i].PodAffinityTerm, own, pod.Labels)
		}
	}
	if p := a.PodAffinity; p != nil {
		terms('a', p.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted('A', p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms('x', p.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted('X', p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.NodeAffinity; n != nil && wishes {
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			b = strconv.AppendInt(append(b, 'w'), int64(w.Weight), 10)
			b = appendExpressions(append(b, ' '), w.Preference.MatchExpressions)
			b = appendExpressions(append(b, 'f'), w.Preference.MatchFields)
		}
	}
	return b
}

// appendSpread appends a spread constraint.
func appendSpread(b []byte, c *corev1.TopologySpreadConstraint, own string, podLabels map[string]string) []byte {
	b = appendText(append(b, 's'), own)
	b = appendText(b, c.TopologyKey)
	b = strconv.AppendInt(append(b, ' '), int64(c.MaxSkew), 10)
	b = appendText(b, string(c.WhenUnsatisfiable))
	if c.MinDomains != nil {
		b = strconv.AppendInt(append(b, 'm'), int64(*c.MinDomains), 10)
	}
	for _, policy := range []*corev1.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		b = append(b, ' ')
		if policy != nil {
			b = append(b, *policy...)
		}
	}
	return appendSelector(b, c.LabelSelector, c.MatchLabelKeys, nil, podLabels)
}

// deduced is a selector that stands in for those that default constraints lack.
type deduced struct {
	labels labels.Selector
	name   string
}
