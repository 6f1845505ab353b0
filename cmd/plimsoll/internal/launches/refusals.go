package launches

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Refusal is pods of one workload that are refused for the same reasons.
type Refusal struct {
	Workload string
	Pods     int
	First    *scheduling.Unschedulable
}

// Refusals are the pods that have no place, in the order of their workloads, which the function
// names.
func Refusals(plan *scheduling.Plan, workload func(pod string) string) []*Refusal {
	type key struct{ workload, message string }
	index := map[key]*Refusal{}
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		k := key{workload(u.Pod), u.Message}
		if index[k] == nil {
			index[k] = &Refusal{Workload: k.workload, First: u}
		}
		index[k].Pods++
	}
	return slices.SortedFunc(maps.Values(index), func(a, b *Refusal) int {
		return cmp.Or(strings.Compare(a.Workload, b.Workload), strings.Compare(a.First.Pod, b.First.Pod))
	})
}
