package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// handed is a pod that the plan puts somewhere as part of an engine class.
type handed struct {
	pod   *corev1.Pod
	class int // among the planned ones
	part  model.ClassID
}

// rehearse binds the pods of a plan one by one, with retries, in the order of their
// priorities and names, as a scheduler would, and counts by engine class those that do
// not bind: spreads that count each other's pods can block each other in one order and
// not in another.
func (d *decoder) rehearse(machines []machine) map[model.ClassID]int64 {
	t := d.ties
	if t == nil || len(t.planner.Classes) == 0 {
		return nil
	}
	pods := slices.DeleteFunc(d.handOut(machines), func(h handed) bool { return !d.parts[h.part].pinned })
	slices.SortFunc(pods, func(a, b handed) int {
		return cmp.Or(
			cmp.Compare(d.planned[b.class].priority, d.planned[a.class].priority),
			strings.Compare(namespaceOf(a.pod), namespaceOf(b.pod)), strings.Compare(a.pod.Name, b.pod.Name),
		)
	})
	problem := topology.Problem{Dims: t.planner.Dims, Rules: t.planner.Rules, Bins: t.planner.Bins}
	type place struct {
		class int
		part  model.ClassID
	}
	made := map[place]topology.Class{}
	given := make([][]int64, len(pods))
	for i, h := range pods {
		class, ok := made[place{h.class, h.part}]
		if !ok {
			class = t.single(h.class, &d.parts[h.part])
			made[place{h.class, h.part}] = class
		}
		problem.Classes = append(problem.Classes, class)
		given[i] = []int64{1}
	}
	surplus := map[model.ClassID]int64{}
	units := map[model.ClassID]int64{} // pods of a part that do not bind
	for i, n := range topology.Replay(&problem, given, t.domainsOf(d.spots(machines))) {
		if n[0] == 0 {
			units[pods[i].part]++
		}
	}
	for part, n := range units {
		each := size(d.parts[part].portions)
		surplus[part] = (n + each - 1) / each
	}
	return surplus
}

// handOut lists which pods the plan will put where, in the order in which it hands
// them out.
func (d *decoder) handOut(machines []machine) []handed {
	var out []handed
	next := make([]int, len(d.planned))
	hand := func(items []model.Item) {
		for _, it := range items {
			for _, p := range d.parts[it.Class].portions {
				for range it.N * p.n {
					out = append(out, handed{pod: d.planned[p.class].pods[next[p.class]], class: p.class, part: it.Class})
					next[p.class]++
				}
			}
		}
	}
	for _, items := range d.solution.Bins {
		hand(items)
	}
	for i := range machines {
		hand(machines[i].items)
	}
	return out
}

// single is one pod of a class at the site of a part, in the planner's form.
func (t *ties) single(class int, p *part) topology.Class {
	c := t.land.planned[class]
	own := t.list[t.kin([]member{{group: c.group, bonds: c.bonds, among: c.among, n: 1}}, nil)]
	if own.part == nil {
		t.link(own)
	}
	of := t.list[t.unitBook.units[p.unit].kin].part
	s := topology.Site{Limit: -1}
	s.Domains, s.Counted = t.domainsAt(own.rules, of, p.site)
	return topology.Class{Count: 1, Priority: c.priority, Request: c.requests, Links: own.rules, Sites: []topology.Site{s}}
}
