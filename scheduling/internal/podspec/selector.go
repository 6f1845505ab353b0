package podspec

import (
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// PodSelector selects pods: those in one of the namespaces that have the labels.
type PodSelector struct {
	Every      bool // all namespaces
	Namespaces map[string]bool
	Labels     labels.Selector
}

func (s *PodSelector) matches(namespace string, set labels.Set) bool {
	return (s.Every || s.Namespaces[namespace]) && s.Labels.Matches(set)
}

// Target is whom a tie is about: pods that all of the selectors select.
type Target struct {
	Selectors []PodSelector
}

func (t *Target) matches(namespace string, set labels.Set) bool {
	for i := range t.Selectors {
		if !t.Selectors[i].matches(namespace, set) {
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
