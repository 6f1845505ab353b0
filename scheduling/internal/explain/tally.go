package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// countReasons counts the reasons why places are ruled out: all places, or those with a label.
func countReasons(s *subject, where *podspec.Expression) []scheduling.ReasonCount {
	t := &tally{in: s.in, subject: s, counts: map[scheduling.ReasonCount]int{}, violated: map[cluster.Violation]int{}}
	nodes := &tally{counts: map[scheduling.ReasonCount]int{}, violated: map[cluster.Violation]int{}}
	if where == nil {
		t.nowhere()
		for r, n := range t.counts {
			if r.Code == scheduling.ReasonNodeNotReady {
				nodes.counts[r] = n
			}
		}
	}
	for ti, v := range s.in.Templates {
		within := v.Within
		if where != nil {
			within = within.Clone()
			within.And(s.in.Offers.Satisfying(v, where))
		}
		if within.Any() {
			t.countOffers(ti, within)
		}
	}
	for i, x := range s.in.Nodes {
		if where != nil && !where.Matches(x.Labels) {
			continue
		}
		p := place{onNode, i}
		if x, some := s.first(p); some && x.kind == violatesTerm {
			v := s.violations(p)[0]
			t.violated[v]++
			nodes.violated[v]++
		} else if r := whyNot(s, i); !s.explainer.lenient || r.Code != scheduling.ReasonSearch {
			t.counts[r]++
			nodes.counts[r]++
		}
	}
	if len(t.violated) > 0 {
		s.explainer.after().word(s.id, t.violated, t.violated, t.counts)
		s.explainer.after().word(s.id, nodes.violated, t.violated, nodes.counts)
	}
	return sortedReasons(t.counts, nodes.counts)
}

// tally counts the places that each reason rules out.
type tally struct {
	in      *instance.Instance
	subject *subject
	counts  map[scheduling.ReasonCount]int
	// violated are the topology terms that alone keep the pods off places.
	violated map[cluster.Violation]int
}

// nowhere counts the reasons that are not about a single offer or usable node: NodePools without offers, and nodes that
// are being removed.
func (t *tally) nowhere() {
	if len(t.in.Pools) == 0 {
		t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoNodePool, Detail: "no NodePool may launch nodes"}]++
	}
	templates := map[string]*offers.Template{}
	for _, v := range t.in.Templates {
		templates[v.Pool.Name] = cmp.Or(templates[v.Pool.Name], v)
	}
	for _, p := range t.in.Pools {
		switch v := templates[p.Name]; {
		case v == nil:
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoInstanceType, Detail: "NodePool " + p.Name + " allows no value of a label that it requires"}]++
		case !v.Within.Any():
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoInstanceType, Detail: t.subject.explainer.idlePool(p)}]++
		}
	}
	for _, node := range t.in.Facts.Problem.Nodes {
		if podspec.Going(node) {
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNodeNotReady, Detail: "a node is being removed"}]++
		}
	}
}

// countOffers counts the reasons why offers of a template are ruled out.
func (t *tally) countOffers(ti int, within model.Bits) {
	type example struct {
		place
		n int
	}
	found, shared := map[obstacle]*example{}, map[*cluster.Violation]int{} // places with the same domains share a slice
	choice := offers.NewChoices(t.in.Facts.Solver.Flexibility)
	open, spots := 0, 0
	var free []int
	within.Each(func(o int) {
		p, offer := place{ti, o}, &t.in.Offers.Offers[o]
		x, some := t.subject.first(p)
		if offer.Spot() && (!some || x.kind >= reserved) {
			choice.Add(offer)
		}
		switch {
		case !some:
			open++
			free = append(free, o)
			spots += offers.CapacityKind(offer)
		case x.kind == violatesTerm:
			shared[&t.subject.violations(p)[0]]++
		case found[x] == nil:
			found[x] = &example{p, 1}
		default:
			found[x].n++
		}
	})
	for x, f := range found {
		t.counts[reasonOf(t.subject, f.place, x)] += f.n
	}
	for v, n := range shared {
		t.violated[*v] += n
	}
	if spots > 0 && !t.subject.explainer.lenient && !choice.Enough() {
		t.counts[offers.FlexibilityReason(t.in.Facts.Solver)] += spots
		open -= spots
	}
	v := t.in.Templates[ti]
	switch pool := "NodePool " + v.Pool.Name; {
	case open == 0 || t.subject.explainer.lenient && meetsMinValues(t.in, ti, free):
	case len(offers.FloorKeys(v.Set)) > 0:
		t.counts[scheduling.ReasonCount{Code: scheduling.ReasonMinValues, Detail: "too few choices remain for the minValues of " + pool}] += open
	default:
		t.counts[unplanned(t.in, t.subject.id, pool)] += open
	}
}

// whyNot says why a node does not take the pods.
func whyNot(s *subject, bin int) scheduling.ReasonCount {
	p := place{onNode, bin}
	if x, some := s.first(p); some {
		return reasonOf(s, p, x)
	}
	return unplanned(s.in, s.id, "a running node")
}

// sortedReasons puts counted reasons in order, the most frequent first; nodes is the number of nodes among the places of each.
func sortedReasons(counts, nodes map[scheduling.ReasonCount]int) []scheduling.ReasonCount {
	out := make([]scheduling.ReasonCount, 0, len(counts))
	for r, n := range counts {
		r.Count, r.Nodes = n, nodes[r]
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b scheduling.ReasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), strings.Compare(a.Detail, b.Detail))
	})
	return out
}

// unplanned is the reason of places without an obstacle.
func unplanned(in *instance.Instance, id int, where string) scheduling.ReasonCount {
	if hasTerms(in, id) {
		return scheduling.ReasonCount{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that keeps the pod's topology terms"}
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that uses them"}
}
