package verify

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// minimumValues checks how many options the launch has: enough distinct values for
// the pool's minValues, and no more options than the solver's limit unless minValues
// needs them.
func (j *judge) minimumValues(r *resolved) {
	least := r.pool.minValues()
	if j.settings.strictMinValues() {
		for _, key := range slices.Sorted(maps.Keys(least)) {
			if n := distinct(r.machines, key); n < least[key] {
				j.add(MinValues, r.object, "%d values of %s, want at least %d", n, key, least[key])
			}
		}
	}
	if limit := j.settings.maxOptions(); len(r.machines) > limit {
		needed := slices.ContainsFunc(slices.Collect(maps.Keys(least)), func(key string) bool {
			return distinct(r.machines[:len(r.machines)-1], key) < min(least[key], distinct(r.machines, key))
		})
		if !needed && !j.settings.lastForVariety(r.machines) {
			j.add(TooManyOptions, r.object, "%d options, want at most %d", len(r.machines), limit)
		}
	}
}

func (c Checker) strictMinValues() bool {
	return c.Solver.MinValues != scheduling.MinValuesBestEffort
}

// enough reports whether the machines offer the number of values wanted of each key.
func enough(machines []*machine, least map[string]int) bool {
	for key, n := range least {
		if distinct(machines, key) < n {
			return false
		}
	}
	return true
}

func distinct(machines []*machine, key string) int {
	seen := make(map[string]bool)
	for _, m := range machines {
		if m == nil {
			continue
		}
		if v, ok := m.values(key); ok {
			seen[v] = true
		}
	}
	return len(seen)
}
