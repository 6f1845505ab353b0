package offers

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// FloorKeys are the requirements of a pool that state minValues.
func FloorKeys(set requirements.Set) []requirements.Requirement {
	var out []requirements.Requirement
	for r := range set.All() {
		if r.MinValues() > 0 {
			out = append(out, r)
		}
	}
	return out
}

// MaxWorst bounds how many levels of flexibility a cautious solve tells apart for
// one kind of offer.
const MaxWorst = 6

// LeastUse is, for each value of a key, the least that a member with it takes;
// values that take little come first.
func LeastUse(f *model.Floor, k int) [][]int64 {
	least := make([][]int64, f.Keys[k].Values)
	for i := range f.Members {
		m := &f.Members[i]
		if v := m.Values[k]; v >= 0 && (least[v] == nil || slices.Compare(m.Use, least[v]) < 0) {
			least[v] = m.Use
		}
	}
	least = slices.DeleteFunc(least, func(u []int64) bool { return u == nil })
	slices.SortFunc(least, slices.Compare[[]int64])
	return least
}
