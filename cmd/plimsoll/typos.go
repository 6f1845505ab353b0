package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// warnOfTypos warns of names that pods and NodePools ask for and that nothing has, where
// something has one that is spelt almost the same: resources, labels of nodes, and
// instance types.
func (p *problem) warnOfTypos() {
	if len(p.Problem.Pods) == 0 {
		return
	}
	resources, labels, types := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for t := range p.catalog.All() {
		types[t.Name] = true
		note(resources, t.Capacity)
		note(labels, t.Labels)
		for i := range t.Offerings {
			note(resources, t.Offerings[i].Capacity)
			note(labels, t.Offerings[i].NodeLabels())
		}
	}
	for _, node := range p.Problem.Nodes {
		types[node.Labels[corev1.LabelInstanceTypeStable]] = true
		note(resources, node.Status.Allocatable)
		note(labels, node.Labels)
	}
	labels[scheduling.NodePoolLabel] = true
	given := p.poolTypos(labels)
	maps.Copy(labels, given)
	asked := typo{known: resources, what: "asks for the resource", near: map[string]string{}}
	selected := typo{known: labels, what: "selects nodes by the label", near: map[string]string{}}
	bought := typo{known: types, what: "selects nodes of the instance type", near: map[string]string{}}
	for _, pod := range p.Problem.Pods {
		name := pod.Namespace + "/" + pod.Name
		names := map[string]bool{}
		for i := range pod.Spec.Containers {
			note(names, pod.Spec.Containers[i].Resources.Requests)
			note(names, pod.Spec.Containers[i].Resources.Limits)
		}
		p.Warnings = asked.warn(p.Warnings, name, names)
		keys, typeNames := selectors(&pod.Spec)
		p.Warnings = selected.warn(p.Warnings, name, keys)
		p.Warnings = bought.warn(p.Warnings, name, typeNames)
	}
}

// poolTypos warns of labels that NodePools require and no machine brings. It returns all
// that the pools give to nodes, typos included.
func (p *problem) poolTypos(brought map[string]bool) (given map[string]bool) {
	given = map[string]bool{}
	required := typo{known: brought, what: "requires or sets the label", near: map[string]string{}}
	for _, pool := range p.Problem.NodePools {
		keys := map[string]bool{}
		note(keys, pool.Spec.Template.Metadata.Labels)
		for _, r := range pool.Spec.Template.Spec.Requirements {
			keys[r.Key] = true
		}
		maps.Copy(given, keys)
		p.Warnings = required.warn(p.Warnings, "NodePool/"+pool.Name, keys)
	}
	return given
}

// selectors returns the labels by which a pod must choose its node, and the instance
// types that it names.
func selectors(spec *corev1.PodSpec) (keys, types map[string]bool) {
	keys, types = map[string]bool{}, map[string]bool{}
	note(keys, spec.NodeSelector)
	if name, ok := spec.NodeSelector[corev1.LabelInstanceTypeStable]; ok {
		types[name] = true
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return keys, types
	}
	for _, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			keys[e.Key] = true
			if e.Key == corev1.LabelInstanceTypeStable && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
				types[e.Values[0]] = true
			}
		}
	}
	return keys, types
}

// note adds the keys of a map to a set.
func note[K ~string, V any](set map[string]bool, m map[K]V) {
	for key := range m {
		set[string(key)] = true
	}
}

// typo looks for the names that were meant.
type typo struct {
	known map[string]bool
	what  string
	near  map[string]string // by name, "" for none
}

// warn adds a warning for each name that an object asks for, which is not known and
// another one is near to. Labels that a machine may bring, and no machine on sale does,
// are no typos.
func (s *typo) warn(warnings []scheduling.Warning, object string, names map[string]bool) []scheduling.Warning {
	wellKnown := requirements.WellKnown()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if s.known[name] || wellKnown.Has(name) {
			continue
		}
		if _, seen := s.near[name]; !seen {
			s.near[name] = s.nearest(name)
		}
		if suggest := s.near[name]; suggest != "" {
			warnings = append(warnings, scheduling.Warning{
				Object:  object,
				Message: fmt.Sprintf("%s %s, which nothing has; did you mean %s?", s.what, name, suggest),
			})
		}
	}
	return warnings
}

// nearest returns the known name that few letters lead to.
func (s *typo) nearest(name string) string {
	near := spelling.Closest(slices.Collect(maps.Keys(s.known)), 1, func(known string) (int, bool) {
		d := spelling.Distance(strings.ToLower(name), strings.ToLower(known))
		return d, d <= 2 && d < len(name)/3
	})
	if len(near) == 0 {
		return ""
	}
	return near[0]
}
