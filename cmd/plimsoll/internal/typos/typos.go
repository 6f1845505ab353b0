package typos

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Warnings warns of probable typos in pods and NodePools: names of resources, node labels and instance types that exist
// nowhere, while an almost equal name exists. Well-known labels that no machine on sale has are no typos. The catalog is
// the one before changes for a NodePool.
func Warnings(p *scheduling.Problem, catalog *instancetypes.Catalog) []scheduling.Warning {
	if len(p.Pods) == 0 {
		return nil
	}
	var out []scheduling.Warning
	resources, labels, types := nameSet{}, nameSet{scheduling.NodePoolLabel: true}, nameSet{}
	for t := range catalog.All() {
		types[t.Name] = true
		add(resources, t.Capacity)
		add(labels, t.Labels)
		for i := range t.Offerings {
			add(resources, t.Offerings[i].Capacity)
			add(labels, t.Offerings[i].NodeLabels())
		}
	}
	for _, node := range p.Nodes {
		types[node.Labels[corev1.LabelInstanceTypeStable]] = true
		add(resources, node.Status.Allocatable)
		add(labels, node.Labels)
	}
	given := nameSet{} // by NodePools, typos included
	required := check{&out, labels, "requires or sets the label", map[string]string{}}
	for _, pool := range p.NodePools {
		keys := nameSet{}
		add(keys, pool.Spec.Template.Metadata.Labels)
		for _, r := range pool.Spec.Template.Spec.Requirements {
			keys[r.Key] = true
		}
		required.warn("NodePool/"+pool.Name, keys)
		maps.Copy(given, keys)
	}
	asked := check{&out, resources, "asks for the resource", map[string]string{}}
	selected := check{&out, lo.Assign(labels, given), "selects nodes by the label", map[string]string{}}
	bought := check{&out, types, "selects nodes of the instance type", map[string]string{}}
	for _, pod := range p.Pods {
		name, requests := pod.Namespace+"/"+pod.Name, nameSet{}
		for i := range pod.Spec.Containers {
			add(requests, pod.Spec.Containers[i].Resources.Requests)
			add(requests, pod.Spec.Containers[i].Resources.Limits)
		}
		keys, typeNames := selectors(&pod.Spec)
		asked.warn(name, requests)
		selected.warn(name, keys)
		bought.warn(name, typeNames)
	}
	return out
}

// selectors returns the labels by which a pod must choose its node, and the instance
// types that it names.
func selectors(spec *corev1.PodSpec) (keys, types nameSet) {
	keys, types = nameSet{}, nameSet{}
	add(keys, spec.NodeSelector)
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

// nameSet is a set of names.
type nameSet map[string]bool

// add adds the keys of a map.
func add[K ~string, V any](set nameSet, m map[K]V) {
	for key := range m {
		set[string(key)] = true
	}
}

// check looks for the names that were meant.
type check struct {
	out     *[]scheduling.Warning
	known   nameSet
	what    string
	nearest map[string]string // by name, "" for none
}

// warn adds a warning for each name that an object asks for, which is not known and
// few letters lead to another one.
func (c *check) warn(object string, asked nameSet) {
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if c.known[name] || requirements.WellKnown().Has(name) {
			continue
		}
		if _, seen := c.nearest[name]; !seen {
			near := spelling.Closest(lo.Keys(c.known), 1, func(known string) (int, bool) {
				d := spelling.Distance(strings.ToLower(name), strings.ToLower(known))
				return d, d <= 2 && d < len(name)/3
			})
			c.nearest[name] = strings.Join(near, "")
		}
		if suggest := c.nearest[name]; suggest != "" {
			*c.out = append(*c.out, scheduling.Warning{
				Object: object, Message: fmt.Sprintf("%s %s, which no object has; did you mean %s?", c.what, name, suggest),
			})
		}
	}
}
