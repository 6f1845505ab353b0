package podspec

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// TieKind is the kind of a topology term.
type TieKind uint8

// The kinds of ties.
const (
	SpreadTie   TieKind = iota // pods of the target are spread over the values of a label
	AffinityTie                // a pod of the target has to be where the label has the same value
	AntiTie                    // no pod of the target may be there
)

// Tie is one constraint that makes a pod's place depend on the places of others.
type Tie struct {
	Kind       TieKind
	Key        string // the label of nodes, as the pod wrote it
	Target     int
	Weight     int64 // what a wish weighs; 0 where the constraint has to hold
	MaxSkew    int64
	MinDomains int64
	// honorAffinity and honorTaints say which nodes a spread looks at: those only that
	// the pod's own node constraints, and its tolerations, allow.
	HonorAffinity, HonorTaints bool
	// share says that it is no constraint of the pod's but the bound on the share of a
	// workload that one machine may hold.
	Share bool
}

// PerHost reports whether the domains of the tie are single nodes.
func (t *Tie) PerHost() bool { return t.Key == corev1.LabelHostname }

// NodeWish is a preferred term of node affinity.
type NodeWish struct {
	Weight int64
	Term   Term
}

// TopologyTerms are what ties a pod to others, and what it would like of its node.
type TopologyTerms struct {
	Ties   []Tie
	Wishes []NodeWish
	Name   string // of equal topology terms
}

// SpreadKeys are the labels that a node must have to be looked at by the pod's
// spread constraints of one sort.
func (b *TopologyTerms) SpreadKeys(hard bool) []string {
	var keys []string
	for i := range b.Ties {
		if t := &b.Ties[i]; t.Kind == SpreadTie && !t.Share && (t.Weight == 0) == hard {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// UnsatisfiedWeight is what keeping a ScheduleAnyway constraint weighs.
const UnsatisfiedWeight = 100

// SpreadSelector is the selector of a spread constraint. One that is empty counts no
// pod (kube-scheduler, podtopologyspread: countPodsMatchSelector).
func SpreadSelector(c *corev1.TopologySpreadConstraint, own map[string]string) labels.Selector {
	s := LabelSelector(c.LabelSelector, c.MatchLabelKeys, nil, own)
	if s.Empty() {
		return labels.Nothing()
	}
	return s
}

// AppendTargetName appends what identifies the pods that all terms select.
func AppendTargetName(b []byte, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []byte {
	b = append(b, 't')
	for i := range terms {
		b = appendTerm(b, &terms[i], NamespaceOf(pod), pod.Labels)
	}
	return b
}

// appendTerm appends whom a term selects.
func appendTerm(b []byte, term *corev1.PodAffinityTerm, own string, podLabels map[string]string) []byte {
	b = append(b, '(')
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		b = AppendText(append(b, 'n'), own)
	}
	for _, name := range term.Namespaces {
		b = AppendText(append(b, 'n'), name)
	}
	b = AppendSelector(append(b, 'N'), term.NamespaceSelector, nil, nil, nil)
	return append(AppendSelector(b, term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, podLabels), ')')
}

// AppendTopologyTerms appends what identifies a pod's topology terms, its wishes among them where they
// count.
func AppendTopologyTerms(b []byte, pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *Deduced, wishes bool) []byte {
	own := NamespaceOf(pod)
	if selector != nil {
		b = AppendText(append(b, 'd'), own)
		b = AppendText(b, selector.Name)
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
			b = AppendText(append(b, mark), terms[i].TopologyKey)
			b = appendTerm(b, &terms[i], own, pod.Labels)
		}
	}
	weighted := func(mark byte, terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			if !wishes {
				return
			}
			b = strconv.AppendInt(append(b, mark), int64(terms[i].Weight), 10)
			b = AppendText(append(b, ' '), terms[i].PodAffinityTerm.TopologyKey)
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
	b = AppendText(append(b, 's'), own)
	b = AppendText(b, c.TopologyKey)
	b = strconv.AppendInt(append(b, ' '), int64(c.MaxSkew), 10)
	b = AppendText(b, string(c.WhenUnsatisfiable))
	if c.MinDomains != nil {
		b = strconv.AppendInt(append(b, 'm'), int64(*c.MinDomains), 10)
	}
	for _, policy := range []*corev1.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		b = append(b, ' ')
		if policy != nil {
			b = append(b, *policy...)
		}
	}
	return AppendSelector(b, c.LabelSelector, c.MatchLabelKeys, nil, podLabels)
}

// Deduced is a selector that stands in for those that default constraints lack.
type Deduced struct {
	Labels labels.Selector
	Name   string
}

// PodSelector selects pods: those in one of the namespaces that have the labels.
type PodSelector struct {
	Every      bool // all namespaces
	Namespaces map[string]bool
	Labels     labels.Selector
}

// Matches reports whether a pod of a namespace with some labels is selected.
func (s *PodSelector) Matches(namespace string, set labels.Set) bool {
	return (s.Every || s.Namespaces[namespace]) && s.Labels.Matches(set)
}

// Target is whom a tie is about: pods that all of the selectors select.
type Target struct {
	Selectors []PodSelector
}

func (t *Target) matches(namespace string, set labels.Set) bool {
	for i := range t.Selectors {
		if !t.Selectors[i].Matches(namespace, set) {
			return false
		}
	}
	return true
}

// Targets numbers what the ties of a problem are about, and tells which of them a
// pod is among. Pods that differ in no label which any target reads are told apart
// by their namespace alone.
type Targets struct {
	List  []Target
	Index map[string]int
	// exact are targets that demand one value of a label, by label and value; others
	// have to be asked one by one.
	Exact  map[string][]int
	Others []int
	keys   []string // the labels that targets read, sorted
	Sets   [][]int32
	setOf  map[string]int
	memo   map[string]int
	buffer []byte
}

// NewTargets returns a book without targets.
func NewTargets() *Targets {
	return &Targets{
		Index: map[string]int{}, Exact: map[string][]int{},
		Sets: [][]int32{nil}, setOf: map[string]int{"": 0}, memo: map[string]int{},
	}
}

// Add returns the number of the target with a signature, which build makes when it
// is new.
func (t *Targets) Add(signature string, build func() Target) int {
	if n, ok := t.Index[signature]; ok {
		return n
	}
	n := len(t.List)
	t.Index[signature] = n
	made := build()
	t.List = append(t.List, made)
	bucket := ""
	for _, s := range made.Selectors {
		requirements, _ := s.Labels.Requirements()
		for i := range requirements {
			r := &requirements[i]
			if at, found := slices.BinarySearch(t.keys, r.Key()); !found {
				t.keys = slices.Insert(t.keys, at, r.Key())
			}
			if values := r.ValuesUnsorted(); bucket == "" && len(values) == 1 && DemandsValue(r) {
				bucket = r.Key() + "=" + values[0]
			}
		}
	}
	if bucket != "" {
		t.Exact[bucket] = append(t.Exact[bucket], n)
	} else {
		t.Others = append(t.Others, n)
	}
	return n
}

// Matched returns the number of the set of targets that a pod is among. All targets
// must have been added before.
func (t *Targets) Matched(namespace string, set map[string]string) int {
	if len(t.List) == 0 {
		return 0
	}
	b := AppendText(t.buffer[:0], namespace)
	for i, key := range t.keys {
		if value, ok := set[key]; ok {
			b = strconv.AppendInt(append(b, '.'), int64(i), 36)
			b = AppendText(append(b, '='), value)
		}
	}
	t.buffer = b
	if n, ok := t.memo[string(b)]; ok {
		return n
	}
	projection := string(b)
	var among []int32
	try := func(n int) {
		if t.List[n].matches(namespace, set) {
			among = append(among, int32(n))
		}
	}
	for _, key := range t.keys {
		if value, ok := set[key]; ok {
			for _, n := range t.Exact[key+"="+value] {
				try(n)
			}
		}
	}
	for _, n := range t.Others {
		try(n)
	}
	slices.Sort(among)
	name := []byte(nil)
	for _, n := range among {
		name = strconv.AppendInt(append(name, ','), int64(n), 36)
	}
	id, ok := t.setOf[string(name)]
	if !ok {
		id = len(t.Sets)
		t.setOf[string(name)] = id
		t.Sets = append(t.Sets, among)
	}
	t.memo[projection] = id
	return id
}

// Has reports whether a set of targets holds one.
func (t *Targets) Has(set, target int) bool {
	_, found := slices.BinarySearch(t.Sets[set], int32(target))
	return found
}

// DemandsValue reports whether only labels with some value meet a requirement.
func DemandsValue(r *labels.Requirement) bool {
	switch r.Operator() {
	case "=", "==", "in":
		return true
	}
	return false
}

// LabelSelector turns a selector into its evaluated form, with what matchLabelKeys
// and mismatchLabelKeys add. None selects nothing; validation has refused bad ones.
func LabelSelector(selector *metav1.LabelSelector, match, mismatch []string, own map[string]string) labels.Selector {
	if selector == nil {
		return labels.Nothing()
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	add := func(keys []string, op string) {
		for _, key := range keys {
			value, ok := own[key]
			if !ok {
				continue
			}
			if r, err := labels.NewRequirement(key, selection.Operator(op), []string{value}); err == nil {
				s = s.Add(*r)
			}
		}
	}
	add(match, "in")
	add(mismatch, "notin")
	return s
}

// AppendSelector appends what identifies a selector, together with the pod's own
// values of the labels that are to match or to differ.
func AppendSelector(b []byte, selector *metav1.LabelSelector, match, mismatch []string, own map[string]string) []byte {
	if selector == nil {
		return append(b, '-')
	}
	b = append(b, '{')
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		b = AppendText(append(b, 'l'), key)
		b = AppendText(b, selector.MatchLabels[key])
	}
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		b = AppendText(append(b, 'e'), e.Key)
		b = AppendText(b, string(e.Operator))
		for _, v := range e.Values {
			b = AppendText(append(b, 'v'), v)
		}
	}
	for i, keys := range [][]string{match, mismatch} {
		for _, key := range keys {
			if value, ok := own[key]; ok {
				b = AppendText(append(b, "mn"[i]), key)
				b = AppendText(b, value)
			}
		}
	}
	return append(b, '}')
}
