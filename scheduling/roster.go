package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// roster hands out the pods of classes in the order of their names. Those that others
// follow to where they are, though nobody was there before them, come first of their
// class: of all that could be the first, kube-scheduler takes the one that it comes to
// first.
type roster struct {
	*compiler
	next  []int // by planned class, the first pod not handed out yet
	ahead []int // the same of those that go to units that begin; nil where there are none
}

// newRoster hands out what nodes and the machines hold.
func (d *decoder) newRoster(machines []machine) *roster {
	r := &roster{compiler: d.compiler, next: make([]int, len(d.planned))}
	if d.ties == nil || !slices.ContainsFunc(d.ties.unitBook.units, func(u unit) bool { return u.begins }) {
		return r
	}
	r.ahead = make([]int, len(d.planned))
	reserve := func(items []model.Item, times int64) {
		for _, it := range items {
			if d.begins(it.Class) {
				for _, p := range d.parts[it.Class].portions {
					r.next[p.class] += int(it.N * p.n * times)
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
func (c *compiler) begins(part model.ClassID) bool {
	t := tiesOf(c)
	return t != nil && t.unitBook.units[c.parts[part].unit].begins
}

// take hands out the pods of a portion of so many of a part.
func (r *roster) take(part model.ClassID, p portion, times int64) []*corev1.Pod {
	next := r.next
	if r.ahead != nil && r.begins(part) {
		next = r.ahead
	}
	from := next[p.class]
	next[p.class] += int(times * p.n)
	return r.planned[p.class].pods[from:next[p.class]]
}
