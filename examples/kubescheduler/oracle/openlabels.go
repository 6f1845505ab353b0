package oracle

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// mostChoices bounds the combinations of values that are tried for open labels.
const mostChoices = 64

// wishes are values that matter for labels, by stable key.
type wishes map[string][]string

// addSpec adds the labels that a pod's node selector and required node affinity name.
func (w wishes) addSpec(spec *corev1.PodSpec) {
	for key, value := range spec.NodeSelector {
		w.add(key, value)
	}
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		w.addExpressions(term.MatchExpressions)
	}
}

// addExpressions notes the values on both sides of every line that expressions draw.
func (w wishes) addExpressions(expressions []corev1.NodeSelectorRequirement) {
	for _, e := range expressions {
		w.add(e.Key, e.Values...)
		if e.Operator != corev1.NodeSelectorOpGt && e.Operator != corev1.NodeSelectorOpLt {
			continue
		}
		for _, value := range e.Values {
			if n, err := strconv.ParseInt(value, 10, 32); err == nil {
				w.add(e.Key, strconv.FormatInt(n-1, 10), strconv.FormatInt(n+1, 10))
			}
		}
	}
}

func (w wishes) add(key string, values ...string) {
	key = requirements.NormalizeKey(key)
	list := w[key]
	if list == nil {
		list = []string{} // the key matters, even if no value does
	}
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	w[key] = list
}

// anyOther is a value that no pod selects.
const anyOther = "any-other"

// choices are the combinations of values of the labels that a pool leaves open. Labels that no pod
// selects get any one value.
func (s *shop) choices(r rules, given map[string]string, sold map[string]bool) []map[string]string {
	out := []map[string]string{{}}
	for _, key := range s.openKeys(r, given, sold) {
		out = combined(out, key, s.candidates(r.about(key), key))
	}
	return out
}

// combined are all combinations of choices with values of one more label; nil stands
// for none.
func combined(choices []map[string]string, key string, values []*string) []map[string]string {
	var out []map[string]string
	for _, choice := range choices {
		for _, value := range values {
			if len(out) < mostChoices {
				out = append(out, with(choice, key, value))
			}
		}
	}
	return out
}

// with is a copy of labels with one more, or none more if the value is nil.
func with(labels map[string]string, key string, value *string) map[string]string {
	out := maps.Clone(labels)
	if value != nil {
		out[key] = *value
	}
	return out
}

// openKeys are the labels to which neither catalog nor pool give a value, although
// the pool has rules about them, and the region if the pod asks for one: every cloud
// puts it on its nodes, and many catalogs leave it out.
func (s *shop) openKeys(r rules, given map[string]string, sold map[string]bool) []string {
	keys := map[string]bool{}
	for _, e := range r.expressions {
		keys[requirements.NormalizeKey(e.Key)] = true
	}
	if _, ok := s.byPod[corev1.LabelTopologyRegion]; ok {
		keys[corev1.LabelTopologyRegion] = true
	}
	maps.DeleteFunc(keys, func(key string, _ bool) bool {
		_, has := given[key]
		return has || sold[key]
	})
	return slices.Sorted(maps.Keys(keys))
}

// candidates are the values of an open label that the pool allows and that make a
// difference; nil stands for a node without the label.
func (s *shop) candidates(r rules, key string) []*string {
	var out []*string
	try := func(value *string) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: with(map[string]string{}, key, value)}}
		if r.allow(node) {
			out = append(out, value)
		}
	}
	values := wishes{key: slices.Clone(s.asked[key])}
	values.addExpressions(r.expressions)
	values.add(key, anyOther)
	for _, value := range values[key] {
		try(&value)
	}
	try(nil)
	if _, matters := s.asked[key]; !matters {
		out = out[:min(len(out), 1)]
	}
	return out
}
