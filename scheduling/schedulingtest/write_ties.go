package schedulingtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// tieWords are the words about what ties a pod to others. own are the pod's labels,
// about which a tie without of= is.
func tieWords(own map[string]string, spec *corev1.PodSpec) []string {
	var words []string
	for i := range spec.TopologySpreadConstraints {
		words = append(words, "spread=("+spreadWord(own, &spec.TopologySpreadConstraints[i])+")")
	}
	a := spec.Affinity
	if a == nil {
		return words
	}
	if near := a.PodAffinity; near != nil {
		words = append(words, termWords("near", own, near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if apart := a.PodAntiAffinity; apart != nil {
		words = append(words, termWords("apart", own, apart.RequiredDuringSchedulingIgnoredDuringExecution, apart.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	return words
}

// spreadWord is the inverse of parseTie for spread.
func spreadWord(own map[string]string, c *corev1.TopologySpreadConstraint) string {
	words := append([]string{shortKey(c.TopologyKey)}, ofWords(own, c.LabelSelector)...)
	words = append(words, defaultSpreadWords(c)...)
	return strings.Join(words, " ")
}

// defaultSpreadWords are the words about spread but for its key and its selector.
func defaultSpreadWords(c *corev1.TopologySpreadConstraint) []string {
	var words []string
	if c.MaxSkew != 1 {
		words = append(words, fmt.Sprintf("skew=%d", c.MaxSkew))
	}
	if c.MinDomains != nil {
		words = append(words, fmt.Sprintf("min=%d", *c.MinDomains))
	}
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		words = append(words, "soft")
	}
	if c.NodeAffinityPolicy != nil {
		words = append(words, "affinity="+strings.ToLower(string(*c.NodeAffinityPolicy)))
	}
	if c.NodeTaintsPolicy != nil {
		words = append(words, "taints="+strings.ToLower(string(*c.NodeTaintsPolicy)))
	}
	for _, key := range c.MatchLabelKeys {
		words = append(words, "same="+quotedKey(key))
	}
	return words
}

// termWords are the words about affinity or anti-affinity.
func termWords(name string, own map[string]string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) []string {
	var words []string
	for i := range required {
		words = append(words, name+"=("+termWord(own, &required[i], 0)+")")
	}
	for i := range preferred {
		words = append(words, name+"=("+termWord(own, &preferred[i].PodAffinityTerm, preferred[i].Weight)+")")
	}
	return words
}

// termWord is the inverse of parseTie for affinity and anti-affinity.
func termWord(own map[string]string, t *corev1.PodAffinityTerm, weight int32) string {
	words := append([]string{shortKey(t.TopologyKey)}, ofWords(own, t.LabelSelector)...)
	if len(t.Namespaces) > 0 {
		words = append(words, "ns=("+strings.Join(t.Namespaces, " ")+")")
	}
	if t.NamespaceSelector != nil {
		words = append(words, "ns-of=("+selectorWords(t.NamespaceSelector)+")")
	}
	for _, key := range t.MatchLabelKeys {
		words = append(words, "same="+quotedKey(key))
	}
	for _, key := range t.MismatchLabelKeys {
		words = append(words, "other="+quotedKey(key))
	}
	if weight != 0 {
		words = append(words, fmt.Sprintf("weight=%d", weight))
	}
	return strings.Join(words, " ")
}

// ofWords say which pods a tie is about, unless it is those with the pod's own labels.
func ofWords(own map[string]string, s *metav1.LabelSelector) []string {
	switch {
	case s == nil:
		return []string{"of=none"}
	case equality.Semantic.DeepEqual(s, &metav1.LabelSelector{MatchLabels: own}):
		return nil
	}
	return []string{"of=(" + selectorWords(s) + ")"}
}

// selectorWords is the inverse of parseSelector.
func selectorWords(s *metav1.LabelSelector) string {
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		labels = append(labels, key+"="+s.MatchLabels[key])
	}
	var parts []string
	if len(labels) > 0 {
		parts = append(parts, strings.Join(labels, " "))
	}
	for _, e := range s.MatchExpressions {
		parts = append(parts, exprWord(requirements.Selector{Key: e.Key, Operator: requirements.Operator(e.Operator), Values: e.Values}))
	}
	return strings.Join(parts, ", ")
}

// shortKeys are short for the keys of labels in scenarios.
func shortKeys() []string {
	return []string{"zone", "arch", "os", "type", "host", "capacity-type", "reservation", "pool"}
}

// shortKey is the inverse of expandKey.
func shortKey(key string) string {
	for _, short := range shortKeys() {
		if expandKey(short) == key {
			return short
		}
	}
	return quotedKey(key)
}

// quotedKey writes a key so that it stands for itself.
func quotedKey(key string) string {
	if expandKey(key) != key {
		return `"` + key + `"`
	}
	return key
}
