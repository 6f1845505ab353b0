package compile

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// namespaces knows the labels of the namespaces: those that a problem lists, and those
// that its pods are in.
type namespaces struct {
	facts  *Facts
	labels map[string]labels.Set // filled when first asked
}

// all returns the labels of all namespaces.
func all(n *namespaces) map[string]labels.Set {
	if n.labels != nil {
		return n.labels
	}
	n.labels = map[string]labels.Set{}
	p := n.facts.Problem
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
	for name := range n.facts.Spaces {
		note(name)
	}
	for _, pods := range [][]*corev1.Pod{p.Pods, p.Running} {
		for _, pod := range pods {
			note(podspec.NamespaceOf(pod))
		}
	}
	return n.labels
}

// of returns a selector over the namespaces that a term of (anti-)affinity means.
func of(n *namespaces, term *corev1.PodAffinityTerm, own string) podspec.PodSelector {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return podspec.PodSelector{Namespaces: map[string]bool{own: true}}
	}
	s := podspec.PodSelector{Namespaces: map[string]bool{}}
	for _, name := range term.Namespaces {
		s.Namespaces[name] = true
	}
	if term.NamespaceSelector == nil {
		return s
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return s
	}
	if selector.Empty() {
		return podspec.PodSelector{Every: true}
	}
	for name, set := range all(n) {
		if selector.Matches(set) {
			s.Namespaces[name] = true
		}
	}
	return s
}
