package verify

import (
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// limits checks every pool's limits: its nodes and the first options of its launches
// together, and again with any one launch falling back to another of its options.
func (j *judge) limits() {
	for _, pl := range j.sortedPools() {
		limits := pl.limits()
		launches := j.ofPool(pl)
		if len(limits) == 0 || len(launches) == 0 {
			continue
		}
		total := j.poolTotal(pl)
		if over := above(total, limits); over != "" {
			j.add(Limits, "nodepool/"+pl.Name, "%s", over)
			continue
		}
		for _, r := range launches {
			for i, m := range r.machines {
				if i == 0 || m == nil {
					continue
				}
				if over := above(total.minus(r.first().capacity).plus(m.capacity), limits); over != "" {
					j.add(Limits, fmt.Sprintf("%s/options[%d]", r.object, i), "%s", over)
				}
			}
		}
	}
}

// ofPool returns the launches of a pool whose first option is known.
func (j *judge) ofPool(pl *pool) []*resolved {
	var out []*resolved
	for _, r := range j.launches {
		if r.pool == pl && r.first() != nil {
			out = append(out, r)
		}
	}
	return out
}

// poolTotal is the capacity of the pool's nodes and of the first options of its
// launches, with their number.
func (j *judge) poolTotal(pl *pool) amounts {
	total := pl.usage.clone()
	for _, r := range j.ofPool(pl) {
		total.add(r.first().capacity)
		total.add(amounts{scheduling.NodesResource: big.NewInt(1)})
	}
	return total
}

// above says which limits a total exceeds; "" for none. Meeting one exactly is fine.
func above(total, limits amounts) string {
	var parts []string
	for _, name := range names(limits) {
		if total.of(name).Cmp(limits.of(name)) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %v exceeds the limit of %v", name, total.of(name), limits.of(name)))
		}
	}
	return strings.Join(parts, ", ")
}

// slack is what the pool may still launch for certain, whichever one of its launches
// falls back to another option.
func (j *judge) slack(pl *pool) amounts {
	worst := amounts{}
	for _, r := range j.ofPool(pl) {
		for _, m := range r.machines {
			if m != nil {
				worst.raise(m.capacity.minus(r.first().capacity))
			}
		}
	}
	limits, total := pl.limits(), j.poolTotal(pl).plus(worst)
	left := make(map[corev1.ResourceName]*big.Int, len(limits))
	for name, n := range limits {
		left[name] = new(big.Int).Sub(n, total.of(name))
	}
	return left
}
