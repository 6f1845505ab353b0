package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Obstacle is a topology term that keeps a pod off a node at a moment.
type Obstacle struct {
	Rule string                // TopologySpread, PodAffinity or PodAntiAffinity of package rule
	Pods *snapshot.PodSelector // pods that the term selects
	// own is set for a term of the pod itself, not for one of pods that are there.
	own bool
	key string
	// value is the node's value of the key, if Has.
	value string
	Has   bool
	// Count is the number of pods in the domain, of a spread with this one among them; Least the number in the
	// emptiest domain; Skew how many more a domain may have.
	Count, Least, Skew int
}

// About reports whether a node is in the domain that the term keeps the pod off.
func (o Obstacle) About(n *snapshot.Node) bool {
	value, ok := n.Value(o.key)
	return ok && o.Has && value == o.value
}

func (o Obstacle) String() string {
	term := o.Rule
	if !o.own {
		term += " of other pods"
	}
	term = fmt.Sprintf("%s over %s (pods of %s)", term, o.key, o.Pods.Text)
	value := strings.TrimPrefix(o.value, snapshot.UnknownHost)
	switch {
	case !o.Has:
		return term + ": the node lacks the label"
	case o.Rule == rule.TopologySpread:
		return fmt.Sprintf("%s: %s would have %d pods, the minimum over domains is %d, maxSkew is %d", term, value, o.Count, o.Least, o.Skew)
	default:
		return fmt.Sprintf("%s: %s has %d of these pods", term, value, o.Count)
	}
}

// Obstacle returns the first term that keeps a pod of the group off the node as things are. Where no term of pod
// affinity selects a pod that is there, a pod that all of its terms select may go wherever the labels are.
func (g *Group) Obstacle(n *snapshot.Node) (Obstacle, bool) {
	for i, c := range g.Spread {
		r := &g.terms.Spread[i]
		value, ok := n.Value(r.Key)
		count, least := c.Counts[value], c.Least(r.MinDomains)
		if r.Pods.Has(g.Identity) {
			count++
		}
		if !ok || count-least > r.MaxSkew {
			return Obstacle{rule.TopologySpread, r.Pods, true, r.Key, value, ok, count, least, r.MaxSkew}, true
		}
	}
	first := true
	for i, c := range g.Affinity {
		first = first && c.Total == 0 && g.terms.Affinity[i].Pods.Has(g.Identity)
	}
	for i, c := range g.Affinity {
		if value, ok := n.Value(c.Key); !ok || c.Counts[value] == 0 && !first {
			return Obstacle{Rule: rule.PodAffinity, Pods: g.terms.Affinity[i].Pods, own: true, key: c.Key, value: value, Has: ok}, true
		}
	}
	for i, c := range slices.Concat(g.AntiAffinity, g.KeptOffBy) {
		if value, ok := n.Value(c.Key); ok && c.Counts[value] > 0 {
			return Obstacle{Rule: rule.PodAntiAffinity, Pods: c.sets[0], own: i < len(g.AntiAffinity), key: c.Key, value: value, Has: true, Count: c.Counts[value]}, true
		}
	}
	return Obstacle{}, false
}
