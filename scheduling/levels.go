package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// mostLevels bounds the values that are made up for one open label.
const mostLevels = 8

// levels are how many values of its own choice a plan may need for a label that pools
// leave open: pods that keep apart over it need one each, and a spread with minDomains
// needs as many. Where pods are spread over it otherwise, one is enough: each further
// value would be one more that they have to be spread over.
type levels struct {
	wanted map[string]int
	spread map[string]bool
	taken  map[string][]string // values that running nodes have
}

func newLevels() levels {
	return levels{wanted: map[string]int{}, spread: map[string]bool{}, taken: map[string][]string{}}
}

// want notes the ties of so many pods.
func (l *levels) want(ties []tie, pods int) {
	for i := range ties {
		t := &ties[i]
		if t.perHost() || t.weight > 0 {
			continue
		}
		key, n := requirements.NormalizeKey(t.key), 0
		switch {
		case t.kind == antiTie:
			n = pods + 1
		case t.kind == spreadTie && t.minDomains > 1:
			n = int(min(t.minDomains, mostLevels))
		case t.kind == spreadTie:
			l.spread[key] = true
		}
		l.wanted[key] = max(l.wanted[key], min(n, mostLevels))
	}
}

// survey notes what running pods keep off their nodes, and which values nodes have: who
// keeps apart from what runs there needs others.
func (l *levels) survey(keepers []keeper, nodes []*corev1.Node) {
	for i := range keepers {
		if i == 0 || keepers[i].tie != keepers[i-1].tie {
			l.want([]tie{keepers[i].tie}, 0)
		}
	}
	for key, n := range l.wanted {
		if n == 0 || l.spread[key] {
			continue
		}
		var values []string
		for _, node := range nodes {
			for k, value := range node.Labels {
				if requirements.NormalizeKey(k) == key {
					values = append(values, value)
				}
			}
		}
		l.taken[key] = compacted(values)
	}
}

// add makes up values of a label where a pool allows others than those that it has and
// too few of these are free.
func (l *levels) add(pool requirements.Requirement, values []string) []string {
	n, taken := l.wanted[pool.Key()], l.taken[pool.Key()]
	if n == 0 || l.spread[pool.Key()] || !pool.Complement() {
		return values
	}
	values = compacted(values)
	for _, v := range values {
		if pool.Has(v) && !slices.Contains(taken, v) {
			n--
		}
	}
	for ; n > 0; n-- {
		fresh, ok := pool.Intersect(requirements.MustNew(pool.Key(), requirements.NotIn, slices.Concat(values, taken)...)).Any()
		if !ok || !requirements.ValidLabelValue(fresh) {
			break
		}
		values = append(values, fresh)
	}
	return values
}

// keptOff reports whether running pods keep others away from values of a label that pools
// may leave open.
func (c *compiler) keptOff() bool {
	return slices.ContainsFunc(c.keepers, func(k keeper) bool {
		return !k.perHost() && !requirements.WellKnown().Has(requirements.NormalizeKey(k.key))
	})
}
