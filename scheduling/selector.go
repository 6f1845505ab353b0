package scheduling

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// podSelector selects pods: those in one of the namespaces that have the labels.
type podSelector struct {
	every      bool // all namespaces
	namespaces map[string]bool
	labels     labels.Selector
}

func (s *podSelector) matches(namespace string, set labels.Set) bool {
	return (s.every || s.namespaces[namespace]) && s.labels.Matches(set)
}

// target is whom a tie is about: pods that all of the selectors select.
type target struct {
	selectors []podSelector
}

func (t *target) matches(namespace string, set labels.Set) bool {
	for i := range t.selectors {
		if !t.selectors[i].matches(namespace, set) {
			return false
		}
	}
	return true
}

// targets numbers what the ties of a problem are about, and tells which of them a
// pod is among. Pods that differ in no label which any target reads are told apart
// by their namespace alone.
type targets struct {
	list  []target
	index map[string]int
	// exact are targets that demand one value of a label, by label and value; others
	// have to be asked one by one.
	exact  map[string][]int
	others []int
	keys   []string // the labels that targets read, sorted
	sets   [][]int32
	setOf  map[string]int
	memo   map[string]int
	buffer []byte
}

func newTargets() *targets {
	return &targets{
		index: map[string]int{}, exact: map[string][]int{},
		sets: [][]int32{nil}, setOf: map[string]int{"": 0}, memo: map[string]int{},
	}
}

// add returns the number of the target with a signature, which build makes when it
// is new.
func (t *targets) add(signature string, build func() target) int {
	if n, ok := t.index[signature]; ok {
		return n
	}
	n := len(t.list)
	t.index[signature] = n
	made := build()
	t.list = append(t.list, made)
	bucket := ""
	for _, s := range made.selectors {
		requirements, _ := s.labels.Requirements()
		for i := range requirements {
			r := &requirements[i]
			if at, found := slices.BinarySearch(t.keys, r.Key()); !found {
				t.keys = slices.Insert(t.keys, at, r.Key())
			}
			if values := r.ValuesUnsorted(); bucket == "" && len(values) == 1 && demandsValue(r) {
				bucket = r.Key() + "=" + values[0]
			}
		}
	}
	if bucket != "" {
		t.exact[bucket] = append(t.exact[bucket], n)
	} else {
		t.others = append(t.others, n)
	}
	return n
}

// matched returns the number of the set of targets that a pod is among. All targets
// must have been added before.
func (t *targets) matched(namespace string, set map[string]string) int {
	if len(t.list) == 0 {
		return 0
	}
	b := appendText(t.buffer[:0], namespace)
	for i, key := range t.keys {
		if value, ok := set[key]; ok {
			b = strconv.AppendInt(append(b, '.'), int64(i), 36)
			b = appendText(append(b, '='), value)
		}
	}
	t.buffer = b
	if n, ok := t.memo[string(b)]; ok {
		return n
	}
	projection := string(b)
	var among []int32
	try := func(n int) {
		if t.list[n].matches(namespace, set) {
			among = append(among, int32(n))
		}
	}
	for _, key := range t.keys {
		if value, ok := set[key]; ok {
			for _, n := range t.exact[key+"="+value] {
				try(n)
			}
		}
	}
	for _, n := range t.others {
		try(n)
	}
	slices.Sort(among)
	name := []byte(nil)
	for _, n := range among {
		name = strconv.AppendInt(append(name, ','), int64(n), 36)
	}
	id, ok := t.setOf[string(name)]
	if !ok {
		id = len(t.sets)
		t.setOf[string(name)] = id
		t.sets = append(t.sets, among)
	}
	t.memo[projection] = id
	return id
}

// has reports whether a set of targets holds one.
func (t *targets) has(set, target int) bool {
	_, found := slices.BinarySearch(t.sets[set], int32(target))
	return found
}

func demandsValue(r *labels.Requirement) bool {
	switch r.Operator() {
	case "=", "==", "in":
		return true
	}
	return false
}

// labelSelector turns a selector into its evaluated form, with what matchLabelKeys
// and mismatchLabelKeys add. None selects nothing; validation has refused bad ones.
func labelSelector(selector *metav1.LabelSelector, match, mismatch []string, own map[string]string) labels.Selector {
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

// appendSelector appends what identifies a selector, together with the pod's own
// values of the labels that are to match or to differ.
func appendSelector(b []byte, selector *metav1.LabelSelector, match, mismatch []string, own map[string]string) []byte {
	if selector == nil {
		return append(b, '-')
	}
	b = append(b, '{')
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		b = appendText(append(b, 'l'), key)
		b = appendText(b, selector.MatchLabels[key])
	}
	for i := range selector.MatchExpressions {
		e := &selector.MatchExpressions[i]
		b = appendText(append(b, 'e'), e.Key)
		b = appendText(b, string(e.Operator))
		for _, v := range e.Values {
			b = appendText(append(b, 'v'), v)
		}
	}
	for i, keys := range [][]string{match, mismatch} {
		for _, key := range keys {
			if value, ok := own[key]; ok {
				b = appendText(append(b, "mn"[i]), key)
				b = appendText(b, value)
			}
		}
	}
	return append(b, '}')
}

// namespaces knows the labels of the namespaces: those that a problem lists, and those
// that its pods are in.
type namespaces struct {
	facts  *facts
	labels map[string]labels.Set // filled when first asked
}

// all returns the labels of all namespaces.
func (n *namespaces) all() map[string]labels.Set {
	if n.labels != nil {
		return n.labels
	}
	n.labels = map[string]labels.Set{}
	p := n.facts.problem
	for _, ns := range p.Namespaces {
		set := labels.Set{corev1.LabelMetadataName: ns.Name}
		for k, v := range ns.Labels {
			set[k] = v
		}
		n.labels[ns.Name] = set
	}
	note := func(name string) {
		if n.labels[name] == nil {
			n.labels[name] = labels.Set{corev1.LabelMetadataName: name}
		}
	}
	for name := range n.facts.spaces {
		note(name)
	}
	for _, pods := range [][]*corev1.Pod{p.Pods, p.Running} {
		for _, pod := range pods {
			note(namespaceOf(pod))
		}
	}
	return n.labels
}

// of returns a selector over the namespaces that a term of (anti-)affinity means.
func (n *namespaces) of(term *corev1.PodAffinityTerm, own string) podSelector {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return podSelector{namespaces: map[string]bool{own: true}}
	}
	s := podSelector{namespaces: map[string]bool{}}
	for _, name := range term.Namespaces {
		s.namespaces[name] = true
	}
	if term.NamespaceSelector == nil {
		return s
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return s
	}
	if selector.Empty() {
		return podSelector{every: true}
	}
	for name, set := range n.all() {
		if selector.Matches(set) {
			s.namespaces[name] = true
		}
	}
	return s
}
