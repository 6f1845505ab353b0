package offers

import (
	"maps"
)

// ToGrow is an index that may grow.
func ToGrow(index map[string]int, shared *bool) map[string]int {
	if *shared {
		index, *shared = maps.Clone(index), false
	}
	return index
}
