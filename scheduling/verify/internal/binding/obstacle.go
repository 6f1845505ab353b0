package binding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// The kinds of rules between pods.
const (
	Spread       = "topology-spread"
	Affinity     = "pod-affinity"
	AntiAffinity = "pod-anti-affinity"
)

// Obstacle is a rule that keeps a pod off a node at a moment.
type Obstacle struct {
	Rule string                // one of those above
	Pods *snapshot.PodSelector // whom the rule is about
	// own is set for the pod's own rules, not for those of pods that are there.
	own bool
	key string
	// value is what the node has for the key, if it has it.
	value string
	Has   bool
	// count is the number of pods there, for spread with this one among them. least is
	// the number where there are fewest, skew how many more there may be.
	Count, Least, Skew int
}

// About reports whether a node is in the domain that the rule keeps the pod off.
func (o Obstacle) About(n *snapshot.Node) bool {
	value, ok := n.Value(o.key)
	return ok && o.Has && value == o.value
}

func (o Obstacle) String() string {
	rule := o.Rule
	if !o.own {
		rule += " of others"
	}
	rule = fmt.Sprintf("%s over %s with pods of %s", rule, o.key, o.Pods.Text)
	value := strings.TrimPrefix(o.value, snapshot.Nobodys)
	switch {
	case !o.Has:
		return rule + ": it does not have the label"
	case o.Rule == Spread:
		return fmt.Sprintf("%s: %s would have %d, the least is %d, at most %d more are allowed", rule, value, o.Count, o.Least, o.Skew)
	default:
		return fmt.Sprintf("%s: %s has %d of them", rule, value, o.Count)
	}
}

// Obstacle returns the first rule that keeps a pod of the group off the node as things are.
// Where there is no company for any term of pod affinity, a pod that is the company it asks
// for may go wherever all the labels are.
func (g *Group) Obstacle(n *snapshot.Node) (Obstacle, bool) {
	for i, c := range g.Spread {
		r := &g.ties.Spread[i]
		value, ok := n.Value(r.Key)
		count, least := c.Counts[value], c.Least(r.MinDomains)
		if r.Pods.Has(g.Face) {
			count++
		}
		if !ok || count-least > r.MaxSkew {
			return Obstacle{Spread, r.Pods, true, r.Key, value, ok, count, least, r.MaxSkew}, true
		}
	}
	first := true
	for i, c := range g.Near {
		first = first && c.Total == 0 && g.ties.Near[i].Pods.Has(g.Face)
	}
	for i, c := range g.Near {
		if value, ok := n.Value(c.Key); !ok || c.Counts[value] == 0 && !first {
			return Obstacle{Rule: Affinity, Pods: g.ties.Near[i].Pods, own: true, key: c.Key, value: value, Has: ok}, true
		}
	}
	for i, c := range slices.Concat(g.Apart, g.Against) {
		if value, ok := n.Value(c.Key); ok && c.Counts[value] > 0 {
			return Obstacle{Rule: AntiAffinity, Pods: c.sets[0], own: i < len(g.Apart), key: c.Key, value: value, Has: true, Count: c.Counts[value]}, true
		}
	}
	return Obstacle{}, false
}
