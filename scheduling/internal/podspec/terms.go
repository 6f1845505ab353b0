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

// TopologyTermKind is the kind of a topology term.
type TopologyTermKind uint8

// The kinds of topology terms.
const (
	SpreadTerm       TopologyTermKind = iota // pods of the target are spread over the values of a label
	AffinityTerm                             // a pod of the target has to be where the label has the same value
	AntiAffinityTerm                         // no pod of the target may be there
)

// TopologyTerm is one topology term: a constraint on a pod's place that depends on the places of other pods.
type TopologyTerm struct {
	Kind       TopologyTermKind
	Key        string // topology key in the pod's spec
	Target     int    // number of the selected pods, see Targets
	Weight     int64  // of a preferred term; 0 for a required one
	MaxSkew    int64
	MinDomains int64
	// HonorAffinity and HonorTaints are the node inclusion policies of a spread constraint: only nodes that the
	// pod's node affinity, or its tolerations, allow are counted.
	HonorAffinity, HonorTaints bool
	// Share says that the term is not the pod's own but the WorkloadShare of a policy, the bound on a
	// workload's share of one machine.
	Share bool
}

// PerHost reports whether the domains of the term are single nodes.
func (t *TopologyTerm) PerHost() bool { return t.Key == corev1.LabelHostname }

// NodePreference is a preferred node affinity term.
type NodePreference struct {
	Weight int64
	Term   Term
}

// TopologyTerms are the topology terms of a pod, and its preferred node affinity.
type TopologyTerms struct {
	Terms       []TopologyTerm
	Preferences []NodePreference
	Name        string // of equal topology terms
}

// SpreadKeys returns the topology keys of the spread constraints, required ones (hard) or ScheduleAnyway.
// kube-scheduler counts only nodes with all of them.
func (b *TopologyTerms) SpreadKeys(hard bool) []string {
	var keys []string
	for i := range b.Terms {
		if t := &b.Terms[i]; t.Kind == SpreadTerm && !t.Share && (t.Weight == 0) == hard {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// UnsatisfiedWeight is the weight of a ScheduleAnyway constraint, that of the heaviest preferred term.
const UnsatisfiedWeight = 100

// SpreadSelector returns the selector of a spread constraint. An empty one selects no pod (kube-scheduler,
// podtopologyspread: countPodsMatchSelector).
func SpreadSelector(c *corev1.TopologySpreadConstraint, own map[string]string) labels.Selector {
	s := LabelSelector(c.LabelSelector, c.MatchLabelKeys, nil, own)
	if s.Empty() {
		return labels.Nothing()
	}
	return s
}

// AppendTargetName appends a name of the pods that all terms select together.
func AppendTargetName(b []byte, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []byte {
	b = append(b, 't')
	for i := range terms {
		b = appendTerm(b, &terms[i], NamespaceOf(pod), pod.Labels)
	}
	return b
}

// appendTerm appends the selectors of a term.
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

// AppendTopologyTerms appends a signature of a pod's topology terms, with preferred ones if preferences is set.
func AppendTopologyTerms(b []byte, pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *Deduced, preferences bool) []byte {
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
			if !preferences {
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
	if n := a.NodeAffinity; n != nil && preferences {
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

// Deduced is the selector of a default spread constraint, deduced from Services and owners of the pod.
type Deduced struct {
	Labels labels.Selector
	Name   string
}

// PodSelector selects pods by namespace and labels.
type PodSelector struct {
	Every      bool // all namespaces
	Namespaces map[string]bool
	Labels     labels.Selector
}

// Matches reports whether a pod with a namespace and labels is selected.
func (s *PodSelector) Matches(namespace string, set labels.Set) bool {
	return (s.Every || s.Namespaces[namespace]) && s.Labels.Matches(set)
}

// Target is the pods that a topology term counts: those that all of its selectors select.
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

// Targets numbers the targets of a problem's topology terms, and finds the targets that a pod is in. Pods that
// have equal values of all labels that some target reads differ only by namespace.
type Targets struct {
	List  []Target
	Index map[string]int
	// Exact are targets that require one value of a label, by label and value; Others are all other targets,
	// which must be evaluated one by one.
	Exact  map[string][]int
	Others []int
	keys   []string  // labels that targets read, sorted
	Sets   [][]int32 // the distinct sets of targets that pods are in
	setOf  map[string]int
	memo   map[string]int
	buffer []byte
}

// NewTargets returns an index without targets.
func NewTargets() *Targets {
	return &Targets{
		Index: map[string]int{}, Exact: map[string][]int{},
		Sets: [][]int32{nil}, setOf: map[string]int{"": 0}, memo: map[string]int{},
	}
}

// Add returns the number of the target with a signature, which build makes if it is new.
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

// Matched returns the number of the set of targets that a pod is in. All targets must have been added before.
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

// Has reports whether a set contains a target.
func (t *Targets) Has(set, target int) bool {
	_, found := slices.BinarySearch(t.Sets[set], int32(target))
	return found
}

// DemandsValue reports whether a requirement needs the label to have one of its values.
func DemandsValue(r *labels.Requirement) bool {
	switch r.Operator() {
	case "=", "==", "in":
		return true
	}
	return false
}

// LabelSelector evaluates a selector with matchLabelKeys and mismatchLabelKeys. nil and invalid selectors
// select no pod.
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

// AppendSelector appends a signature of a selector, with the pod's own values of matchLabelKeys and
// mismatchLabelKeys.
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
