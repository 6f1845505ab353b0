package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Explainer finds out why pods were left out, from the offers and nodes as they are
// once the plan is carried out.
type Explainer struct {
	In    *instance.Instance // the whole problem
	State *PlanState         // the plan once it is carried out
	terms *termState         // nil until it is asked for
	needs map[int]*needs     // by group
	idle  map[string]string  // by NodePool, why it has no offering to choose from
	// exclusions by the settings, numbered.
	exclusions []offers.Exclusion
	// lenient passes over places that nothing rules out, for pods that have one.
	Lenient bool
}

// NewExplainer explains a plan of a compiled problem.
func NewExplainer(c *instance.Instance, plan *scheduling.Plan) *Explainer {
	return &Explainer{In: c, State: newPlanState(c, plan), needs: map[int]*needs{}, idle: map[string]string{}}
}

// after is the plan once it is carried out, as topology terms see it.
func (e *Explainer) after() *termState {
	if e.terms == nil {
		e.terms = newTermState(e.State)
	}
	return e.terms
}

// Explain lists the pods that found no place, with reasons and fixes.
func Explain(c *instance.Instance, plan *scheduling.Plan) {
	left := 0
	for _, class := range c.Classes.Classes {
		left += len(class.Pods)
	}
	for i := range plan.Launches {
		left -= len(plan.Launches[i].Pods)
	}
	for i := range plan.Existing {
		left -= len(plan.Existing[i].Pods)
	}
	if left == 0 {
		return
	}
	e := NewExplainer(c, plan)
	id := 0
	for _, class := range c.Classes.Classes {
		if class.Refused != "" {
			e.report(plan, class.Pods, []scheduling.ReasonCount{{Code: class.Code, Count: 1, Detail: class.Refused}}, e.remedies(class))
			continue
		}
		if pods := e.State.Unplaced(id); len(pods) > 0 {
			reasons := e.Reasons(class, id)
			e.report(plan, pods, reasons, e.changes(class, id))
		}
		id++
	}
	slices.SortFunc(plan.Unschedulable, func(a, b scheduling.Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
}

// report adds pods that found no place for the same reasons.
func (e *Explainer) report(plan *scheduling.Plan, pods []*corev1.Pod, reasons []scheduling.ReasonCount, changes []scheduling.Change) {
	for _, pod := range pods {
		u := scheduling.Unschedulable{Pod: podspec.PodName(pod), Reasons: slices.Clone(reasons)}
		Propose(&u, CopyChanges(changes))
		plan.Unschedulable = append(plan.Unschedulable, u)
	}
}

// sentence puts reasons into words.
func sentence(reasons []scheduling.ReasonCount, changes []scheduling.Change) string {
	var parts []string
	for i, r := range reasons {
		if i == 3 {
			if len(reasons) == 4 {
				parts = append(parts, "1 further reason")
			} else {
				parts = append(parts, fmt.Sprintf("%d further reasons", len(reasons)-3))
			}
			break
		}
		if n := r.Candidates(); r.Count > 1 && n != "" {
			parts = append(parts, fmt.Sprintf("%s (%s)", r.Detail, n))
		} else {
			parts = append(parts, r.Detail)
		}
	}
	s := "no place: " + strings.Join(parts, "; ")
	if len(changes) == 0 {
		return s + "; no change was found that places it"
	}
	return s + "; fix: " + changes[0].Text
}

// Reasons counts the reasons why offers and nodes do not take a class, given with its number among the planned classes. Each
// offer of each pool and each node counts once, for its first reason.
func (e *Explainer) Reasons(class *podspec.PodClass, id int) []scheduling.ReasonCount {
	return e.subject(class, id).count(nil)
}

// count counts the reasons why places are ruled out: all places, or those with a label.
func (s *subject) count(where *podspec.Expression) []scheduling.ReasonCount {
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
			t.offers(ti, within)
		}
	}
	for i, x := range s.in.Nodes {
		if where != nil && !where.Matches(x.Labels) {
			continue
		}
		p := place{onNode, i}
		if x, some := s.first(p); some && x.kind == barred {
			v := s.violations(p)[0]
			t.violated[v]++
			nodes.violated[v]++
		} else if r := s.why(i); !s.explainer.Lenient || r.Code != scheduling.ReasonSearch {
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

// tally is how often something rules a place out.
type tally struct {
	in      *instance.Instance
	subject *subject
	counts  map[scheduling.ReasonCount]int
	// violated are the topology terms that alone keep the pods off places.
	violated map[cluster.Violation]int
}

// nowhere counts the reasons that are not about a single offer or usable node: pools without offers, and nodes that are
// being removed.
func (t *tally) nowhere() {
	if len(t.in.Pools) == 0 {
		t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoNodePool, Detail: "no node pool may launch machines"}]++
	}
	templates := map[string]*offers.Template{}
	for _, v := range t.in.Templates {
		templates[v.Pool.Name] = cmp.Or(templates[v.Pool.Name], v)
	}
	for _, p := range t.in.Pools {
		switch v := templates[p.Name]; {
		case v == nil:
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoInstanceType, Detail: "node pool " + p.Name + " allows no value of a label that it requires"}]++
		case !v.Within.Any():
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNoInstanceType, Detail: t.subject.explainer.idlePool(p)}]++
		}
	}
	for _, node := range t.in.Problem.Nodes {
		if podspec.Going(node) {
			t.counts[scheduling.ReasonCount{Code: scheduling.ReasonNodeNotReady, Detail: "a node is being removed"}]++
		}
	}
}

// offers counts the reasons why offers of a template are ruled out.
func (t *tally) offers(ti int, within model.Bits) {
	type example struct {
		place
		n int
	}
	found, shared := map[obstacle]*example{}, map[*cluster.Violation]int{} // places with the same domains share a slice
	choice := offers.NewChoices(t.in.Solver.Flexibility)
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
		case x.kind == barred:
			shared[&t.subject.violations(p)[0]]++
		case found[x] == nil:
			found[x] = &example{p, 1}
		default:
			found[x].n++
		}
	})
	for x, f := range found {
		t.counts[t.subject.reason(f.place, x)] += f.n
	}
	for v, n := range shared {
		t.violated[*v] += n
	}
	if spots > 0 && !t.subject.explainer.Lenient && !choice.Enough() {
		t.counts[offers.FlexibilityReason(t.in.Solver)] += spots
		open -= spots
	}
	v := t.in.Templates[ti]
	switch pool := "node pool " + v.Pool.Name; {
	case open == 0 || t.subject.explainer.Lenient && t.subject.explainer.meetsMinValues(ti, free):
	case len(offers.FloorKeys(v.Set)) > 0:
		t.counts[scheduling.ReasonCount{Code: scheduling.ReasonMinValues, Detail: "too few choices remain for the minValues of " + pool}] += open
	default:
		t.counts[t.subject.explainer.unplanned(t.subject.id, pool)] += open
	}
}

// why says why a node does not take the pods.
func (s *subject) why(bin int) scheduling.ReasonCount {
	p := place{onNode, bin}
	switch x, some := s.first(p); {
	case !some:
		return s.explainer.unplanned(s.id, "a running node")
	case x.kind == barred:
		v := s.violations(p)[0]
		return s.explainer.after().reason(s.id, v, s.explainer.after().where(s.id, v))
	default:
		return s.reason(p, x)
	}
}

// NodeReason says why a node does not take a class's pods.
func (e *Explainer) NodeReason(class *podspec.PodClass, id, bin int) scheduling.ReasonCount {
	return e.subject(class, id).why(bin)
}

// NodeTakes reports whether nothing keeps a class's pods from a node.
func (e *Explainer) NodeTakes(class *podspec.PodClass, id, bin int) bool {
	return e.subject(class, id).free(place{onNode, bin})
}

// sortedReasons puts counted reasons in order, the most frequent first; nodes are how many of each are nodes.
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

// unplanned is the reason of places that nothing rules out.
func (e *Explainer) unplanned(id int, where string) scheduling.ReasonCount {
	if hasTerms(e.In, id) {
		return scheduling.ReasonCount{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that keeps the pod's topology terms"}
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that uses them"}
}

// shortOf are the resources of which room has less than a pod asks for.
func shortOf(room, request []int64) []int {
	var out []int
	for d, n := range request {
		if n > room[d] {
			out = append(out, d)
		}
	}
	return out
}

// resourceReason words a lack of resources; one that nothing at all has comes first.
func (e *Explainer) resourceReason(lacking []int) scheduling.ReasonCount {
	if r, ok := e.attachReason(lacking); ok {
		return r
	}
	var names []string
	for _, d := range e.withoutAttachments(lacking) {
		if !e.anywhere(d) {
			return scheduling.ReasonCount{Code: scheduling.ReasonNoResource, Detail: "nothing on sale or running has " + string(e.In.Table.Names[d])}
		}
		names = append(names, string(e.In.Table.Names[d]))
	}
	return scheduling.ReasonCount{Code: scheduling.ReasonResources, Detail: "too little " + strings.Join(names, " and ")}
}

// anywhere reports whether any offer or node has a resource.
func (e *Explainer) anywhere(d int) bool {
	return slices.ContainsFunc(e.In.Offers.Shapes, func(s offers.Shape) bool { return s.Allocatable[d] > 0 }) ||
		slices.ContainsFunc(e.In.Nodes, func(x *instance.ExistingNode) bool {
			q, ok := x.Node.Status.Allocatable[e.In.Table.Names[d]]
			return ok && !q.IsZero()
		})
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
