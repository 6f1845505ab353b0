package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
)

// nameAssigner hands out the pods of classes in the order of their names. Those that others
// follow to where they are, though nobody was there before them, come first of their
// class: of all that could be the first, kube-scheduler takes the one that it comes to
// first.
type nameAssigner struct {
	in    *instance.Instance
	parts []instance.Part
	sites *SitePlanner // nil without topology terms
	next  []int        // by planned class, the first pod not handed out yet
	ahead []int        // the same of those that go to units that begin; nil where there are none
}

// newNameAssigner is an assigner for the pods of nodes and of machines.
func newNameAssigner(d *decoder, machines []machine) *nameAssigner {
	r := &nameAssigner{in: d.in, parts: d.packing.Parts, sites: d.planner, next: make([]int, len(d.in.Planned))}
	if d.planner == nil || !slices.ContainsFunc(d.planner.book.Units, func(u units.Unit) bool { return u.Begins }) {
		return r
	}
	r.ahead = make([]int, len(d.in.Planned))
	reserve := func(items []model.Item, times int64) {
		for _, it := range items {
			if begins(d.planner, &d.packing.Parts[it.Class]) {
				for _, p := range d.packing.Parts[it.Class].Members {
					r.next[p.Class] += int(it.N * p.N * times)
				}
			}
		}
	}
	for _, items := range d.solution.Bins {
		reserve(items, 1)
	}
	for i := range machines {
		reserve(machines[i].items, machines[i].count)
	}
	return r
}

// begins reports whether a part's unit is where pods gather that follow each other.
func begins(t *SitePlanner, part *instance.Part) bool { return t.book.Units[part.Unit].Begins }

// take hands out the pods of a portion of so many of a part.
func (r *nameAssigner) take(part model.ClassID, p instance.Member, times int64) []*corev1.Pod {
	next := r.next
	if r.ahead != nil && begins(r.sites, &r.parts[part]) {
		next = r.ahead
	}
	from := next[p.Class]
	next[p.Class] += int(times * p.N)
	return r.in.Planned[p.Class].Pods[from:next[p.Class]]
}
