package offers

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// maxOpenLabelValues bounds the values that are made up for one open label.
const maxOpenLabelValues = 8

// OpenLabelValues are how many values of its own choice a plan may need for a label that pools
// leave open: pods that keep apart over it need one each, and a spread with minDomains
// needs as many. Where pods are spread over it otherwise, one is enough: each further
// value would be one more that they have to be spread over.
type OpenLabelValues struct {
	Wanted map[string]int
	Spread map[string]bool
	Taken  map[string][]string // values that running nodes have
}

// NewOpenLabelValues returns no values.
func NewOpenLabelValues() OpenLabelValues {
	return OpenLabelValues{Wanted: map[string]int{}, Spread: map[string]bool{}, Taken: map[string][]string{}}
}

// Want notes the ties of so many pods.
func (l *OpenLabelValues) Want(ties []podspec.Tie, pods int) {
	for i := range ties {
		t := &ties[i]
		if t.PerHost() || t.Weight > 0 {
			continue
		}
		key, n := requirements.NormalizeKey(t.Key), 0
		switch {
		case t.Kind == podspec.AntiTie:
			n = pods + 1
		case t.Kind == podspec.SpreadTie && t.MinDomains > 1:
			n = int(min(t.MinDomains, maxOpenLabelValues))
		case t.Kind == podspec.SpreadTie:
			l.Spread[key] = true
		}
		l.Wanted[key] = max(l.Wanted[key], min(n, maxOpenLabelValues))
	}
}

// Add makes up values of a label where a pool allows others than those that it has and
// too few of these are free.
func (l *OpenLabelValues) Add(pool requirements.Requirement, values []string) []string {
	n, taken := l.Wanted[pool.Key()], l.Taken[pool.Key()]
	if n == 0 || l.Spread[pool.Key()] || !pool.Complement() {
		return values
	}
	values = podspec.Compacted(values)
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
