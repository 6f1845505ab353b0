package verify

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// agreements checks that all options of a launch have what its first has of every
// label that matters to a rule between pods, its own or one that counts it. Host names
// are unique whatever is bought.
func (j *judge) agreements(o *outcome) {
	for _, l := range j.launches {
		if l.node == nil {
			continue
		}
		keys := make(map[string]bool)
		for _, t := range l.pods {
			o.noteKeys(keys, t, l.node)
		}
		for i, n := range l.nodes {
			if n == nil || i == 0 {
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				if requirements.NormalizeKey(key) == corev1.LabelHostname {
					continue
				}
				first, has := l.first().value(key)
				if value, ok := n.value(key); ok != has || keys[key] && value != first {
					j.add(OptionTopology, fmt.Sprintf("%s/options[%d]", l.object, i),
						"%s is %q, the first option has %q, and rules between pods depend on it", key, value, first)
				}
			}
		}
	}
}

// noteKeys notes the labels on which it depends what the pod may do on the node, or what
// it means to others: true where the value matters, false where only having it does.
// No value matters to a rule that would hold wherever all of its pods were.
func (o *outcome) noteKeys(keys map[string]bool, t *tenant, n *node) {
	g := o.groupOf(t)
	for i, c := range g.spread {
		keys[c.key] = keys[c.key] || c.total > t.ties.spread[i].maxSkew
	}
	for _, c := range g.near {
		keys[c.key] = keys[c.key] || !o.aloof(g, c)
	}
	for _, c := range g.apart {
		if c.total > 1 || c.total == 1 && !c.means(g.face) {
			keys[c.key] = true
		}
	}
	for _, c := range g.against {
		// If nobody who keeps them away is anywhere with that label, it does not matter, nor
		// if that is the pod itself.
		if c.total > 1 || c.total == 1 && !slices.Contains(g.keeps, c) {
			keys[c.key] = true
		}
	}
	for _, c := range g.counted {
		if o.counters[c] && !c.lone && c.looksAt(n) && (c.view == nil && !o.aloof(g, c) || c.view != nil && c.total > c.skew) {
			keys[c.key] = true
		}
	}
}

// aloof reports whether one pod alone is counted for an affinity, and nobody else asks
// for it.
func (o *outcome) aloof(g *podGroup, c *counter) bool {
	if c.total > 1 || !c.means(g.face) {
		return false
	}
	for other := range o.groups {
		if other != g && slices.Contains(other.near, c) {
			return false
		}
	}
	return slices.Contains(g.near, c)
}
