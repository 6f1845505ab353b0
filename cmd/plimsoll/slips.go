package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// slips warns of names that pods ask for and that nothing has, where something has one
// that is spelt almost the same: resources, labels of nodes, and instance types.
func (p *problem) slips() {
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
	for _, pool := range p.Problem.NodePools {
		note(labels, pool.Spec.Template.Metadata.Labels)
		for _, r := range pool.Spec.Template.Spec.Requirements {
			labels[r.Key] = true
		}
	}
	labels[scheduling.NodePoolLabel] = true
	asked := slip{known: resources, what: "asks for the resource", near: map[string]string{}}
	selected := slip{known: labels, what: "selects nodes by the label", near: map[string]string{}}
	bought := slip{known: types, what: "selects nodes of the instance type", near: map[string]string{}}
	for _, pod := range p.Problem.Pods {
		names := map[string]bool{}
		for i := range pod.Spec.Containers {
			note(names, pod.Spec.Containers[i].Resources.Requests)
			note(names, pod.Spec.Containers[i].Resources.Limits)
		}
		p.Warnings = asked.warn(p.Warnings, pod, names)
		names = map[string]bool{}
		note(names, pod.Spec.NodeSelector)
		p.Warnings = selected.warn(p.Warnings, pod, names)
		if name, ok := pod.Spec.NodeSelector[corev1.LabelInstanceTypeStable]; ok {
			p.Warnings = bought.warn(p.Warnings, pod, map[string]bool{name: true})
		}
	}
}

// note adds the keys of a map to a set.
func note[K ~string, V any](set map[string]bool, m map[K]V) {
	for key := range m {
		set[string(key)] = true
	}
}

// slip looks for the names that were meant.
type slip struct {
	known map[string]bool
	what  string
	near  map[string]string // by name, "" for none
}

// warn adds a warning for each name of a pod that is not known and that another one is
// near to.
func (s *slip) warn(warnings []scheduling.Warning, pod *corev1.Pod, names map[string]bool) []scheduling.Warning {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if s.known[name] {
			continue
		}
		if _, seen := s.near[name]; !seen {
			s.near[name] = s.nearest(name)
		}
		if meant := s.near[name]; meant != "" {
			warnings = append(warnings, scheduling.Warning{
				Object:  pod.Namespace + "/" + pod.Name,
				Message: fmt.Sprintf("%s %s, which nothing has; did you mean %s?", s.what, name, meant),
			})
		}
	}
	return warnings
}

// nearest returns the known name that few letters lead to.
func (s *slip) nearest(name string) string {
	near := spelling.Closest(slices.Collect(maps.Keys(s.known)), 1, func(known string) (int, bool) {
		d := spelling.Distance(strings.ToLower(name), strings.ToLower(known))
		return d, d <= 2 && d < len(name)/3
	})
	if len(near) == 0 {
		return ""
	}
	return near[0]
}
