package launchplan

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// optionTerms checks that all options of a launch have the first option's value of every label that a term of their
// pods, or one that counts them, depends on. Host names are unique whatever is launched.
func optionTerms(report *rule.Report, launches []*launch, o *binding.Outcome) {
	for _, l := range launches {
		if l.node == nil {
			continue
		}
		keys := make(map[string]bool)
		for _, t := range l.pods {
			noteKeys(o, keys, t, l.node)
		}
		for i, n := range l.nodes {
			if n == nil || i == 0 {
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				if requirements.NormalizeKey(key) == corev1.LabelHostname {
					continue
				}
				first, has := l.first().Value(key)
				if value, ok := n.Value(key); ok != has || keys[key] && value != first {
					report.Add(rule.OptionTopology, fmt.Sprintf("%s/options[%d]", l.object, i),
						"label %s is %q, the first option has %q, and a topology term of a pod depends on it", key, value, first)
				}
			}
		}
	}
}

// noteKeys notes the labels on which it depends whether the pod may be on the node, or how terms count it there: true
// where the value matters, false where only having the label does. The value does not matter to a term that would
// hold wherever all of its pods were.
func noteKeys(o *binding.Outcome, keys map[string]bool, t *snapshot.Pod, n *snapshot.Node) {
	g := o.GroupOf(t)
	for i, c := range g.Spread {
		keys[c.Key] = keys[c.Key] || c.Total > t.Terms.Spread[i].MaxSkew
	}
	for _, c := range g.Affinity {
		keys[c.Key] = keys[c.Key] || !selectsOnlyItself(o, g, c)
	}
	for _, c := range g.AntiAffinity {
		if c.Total > 1 || c.Total == 1 && !c.Selects(g.Identity) {
			keys[c.Key] = true
		}
	}
	for _, c := range g.KeptOffBy {
		// The label does not matter if no pod with the term is anywhere, or the pod itself alone.
		if c.Total > 1 || c.Total == 1 && !slices.Contains(g.KeepsOff, c) {
			keys[c.Key] = true
		}
	}
	for _, c := range g.Counted {
		if o.Counters[c] && !c.AntiAffinity && c.CountsOn(n) && (c.Eligible == nil && !selectsOnlyItself(o, g, c) || c.Eligible != nil && c.Total > c.Skew) {
			keys[c.Key] = true
		}
	}
}

// selectsOnlyItself reports whether one pod alone is counted for an affinity, and no other pod has the term.
func selectsOnlyItself(o *binding.Outcome, g *binding.Group, c *binding.Counter) bool {
	if c.Total > 1 || !c.Selects(g.Identity) {
		return false
	}
	for other := range o.Groups {
		if other != g && slices.Contains(other.Affinity, c) {
			return false
		}
	}
	return slices.Contains(g.Affinity, c)
}
