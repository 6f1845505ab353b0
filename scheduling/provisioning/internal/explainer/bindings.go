package explainer

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/nominated"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning/internal/simulation"
)

// mostPriority is the highest priority that users may give (HighestUserDefinablePriority).
const mostPriority = 1_000_000_000

// bindings says where kube-scheduler binds the pods of a plan. It plays the plan through when it is asked first.
type bindings struct {
	in    *instance.Instance
	plan  *scheduling.Plan
	brief bool
	// played is the plan as kube-scheduler binds it, and bound has the places of its pods in all simulations in which
	// no pod was changed; nil until they are needed.
	played *simulation.Plan
	bound  []simulation.Played
}

// simulated is the plan as kube-scheduler binds it, with a question about no pod; nil where kube-scheduler does not choose
// the nodes, and where the plan cannot be played through.
func (x *bindings) simulated() (*simulation.Plan, simulation.Asked) {
	q := simulation.Asked{Pod: -1, All: x.in.Facts.Solver.Placement == scheduling.PlacementNominated, Brief: x.brief}
	if x.played == nil && (q.All || x.in.Facts.Solver.Placement == scheduling.PlacementFree) {
		x.played = x.simulation(nil)
	}
	return x.played, q
}

// unforced returns the pods of a place that kube-scheduler binds elsewhere in some course of events.
func (x *bindings) unforced(at scheduling.Placement) (out []string) {
	s, q := x.simulated()
	if s == nil {
		return nil
	}
	if x.bound == nil {
		x.bound = s.Play(q)
	}
	place := int32(slices.Index(s.Places, at))
	for i, p := range s.Queue {
		if s.Planned[i] == place && slices.ContainsFunc(x.bound, func(c simulation.Played) bool { return !s.Holds(&c, i) }) {
			out = append(out, podspec.PodName(p.Pod))
		}
	}
	slices.Sort(out)
	return out
}

// realised says where kube-scheduler binds a pod that has a place.
func (x *bindings) realised(pod *corev1.Pod) *explanation.PodAfterScheduling {
	s, q := x.simulated()
	if s == nil {
		return nil
	}
	q.Pod = s.Find(pod)
	out := &explanation.PodAfterScheduling{Nominated: q.All || q.Pod < 0}
	switch {
	case q.Pod >= 0:
	case podspec.NominatedNode(x.in.Facts.Problem, pod) == "":
		return nil // the plan is not for this problem
	default: // it has its place before other pods come
		return out
	}
	others := make([]explanation.OtherPlace, len(s.Places))
	admitted := make([]bool, len(others))
	for _, c := range s.Play(q) {
		out.Simulations++
		for i, yes := range c.Admitted {
			admitted[i] = admitted[i] || yes
		}
		to := c.To[q.Pod]
		if to >= 0 {
			others[to].Simulations++
		}
		switch {
		case to == s.Planned[q.Pod]:
			out.Planned++
			continue
		case s.Holds(&c, int(q.Pod)):
			out.Replaced++
			continue
		case to < 0:
			out.Pending++
		default:
			out.Elsewhere++
		}
		out.Displaced = append(out.Displaced, c.Displaced...)
	}
	for i, o := range others {
		if admitted[i] && int32(i) != s.Planned[q.Pod] {
			if o.Node = s.Places[i].Node; o.Node == "" {
				o.Launch = s.Places[i].Launch.Name
			}
			out.Others = append(out.Others, o)
		}
	}
	slices.SortStableFunc(out.Others, func(a, b explanation.OtherPlace) int { return cmp.Compare(b.Simulations, a.Simulations) })
	slices.Sort(out.Displaced)
	chosen := lo.CountBy(out.Others, func(o explanation.OtherPlace) bool { return o.Simulations > 0 })
	out.Others = out.Others[:min(len(out.Others), max(chosen, explain.MostPlaces))]
	out.Displaced = slices.Compact(out.Displaced)
	out.Displaced = out.Displaced[:min(len(out.Displaced), explain.MostPlaces)]
	if out.Elsewhere+out.Pending > 0 {
		out.Force = x.force(pod, s, q)
	}
	return out
}

// simulation returns the plan as it is simulated, with the constraints of one pod changed unless changed is nil. It is
// nil where the plan is not for the problem, and where too many pods depend on each other.
func (x *bindings) simulation(changed *corev1.Pod) *simulation.Plan {
	f := x.in.Facts
	if changed != nil {
		p := *f.Problem
		p.Pods = slices.Clone(p.Pods)
		for i, pod := range p.Pods {
			if podspec.PodKey(pod) == podspec.PodKey(changed) {
				p.Pods[i] = changed
			}
		}
		facts, err := instance.NewFacts(&p, x.in.Facts.Solver)
		if err != nil {
			return nil
		}
		f = facts
	}
	f, plan := nominated.Read(f).Separate(x.plan)
	c := f.Compile(false)
	s, err := simulation.New(c, plan)
	if err != nil || slices.Contains(s.Planned, -1) || !fleet.Playable(c, plan) {
		return nil
	}
	return s
}

// force lists the changes by which a pod is bound to its place in every simulation, the cheapest change first.
func (x *bindings) force(pod *corev1.Pod, s *simulation.Plan, q simulation.Asked) (out []scheduling.Change) {
	try := func(c scheduling.Change, s *simulation.Plan, q simulation.Asked) {
		if s == nil {
			return
		}
		q.Pod, q.Only = s.Find(pod), true
		if q.Pod >= 0 && lo.EveryBy(s.Play(q), func(x simulation.Played) bool { return x.To[q.Pod] == s.Planned[q.Pod] }) {
			out = append(out, c)
		}
	}
	home := s.Places[s.Planned[q.Pod]]
	object, place, there := "Node/"+home.Node, "node "+home.Node, ""
	if home.Launch != nil {
		object, place, there = "Launch/"+home.Launch.Name, "launch "+home.Launch.Name, ", once it has joined"
	}
	nominate := scheduling.Change{Kind: scheduling.ChangeNomination, Object: object, Text: "nominate it to " + place + there + " (status.nominatedNodeName)"}
	if !q.All {
		bound := q
		bound.Nominated = true
		try(nominate, s, bound)
	}
	if first := podspec.PriorityOf(s.Queue[0].Pod) + 1; first <= mostPriority {
		urgent := pod.DeepCopy()
		urgent.Spec.Priority = &first
		c := scheduling.Change{Kind: scheduling.ChangeOrder, From: strconv.Itoa(int(podspec.PriorityOf(pod))), To: strconv.Itoa(int(first))}
		c.Text = "let it be bound before the others: give it priority " + c.To + ", or hold them off with scheduling gates until it is bound"
		try(c, x.simulation(urgent), q)
	}
	if key, value := s.OwnLabel(s.Planned[q.Pod]); value != "" {
		selecting := pod.DeepCopy()
		selecting.Spec.NodeSelector = lo.Assign(selecting.Spec.NodeSelector, map[string]string{key: value})
		try(scheduling.Change{Kind: scheduling.ChangeSelector, Key: key, Values: []string{value}, Text: "select " + key + "=" + value + ", which only " + place + " has"}, x.simulation(selecting), q)
	}
	if len(out) == 0 || out[0].Kind != scheduling.ChangeNomination {
		q.Nominated, q.Gated = true, true
		try(scheduling.Change{
			Kind: scheduling.ChangeHold, Object: object, And: []scheduling.Change{nominate},
			Text: "hold it off with a scheduling gate until " + place + " has joined, and nominate it then (status.nominatedNodeName)",
		}, s, q)
	}
	return out
}
