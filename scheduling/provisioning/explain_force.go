package provisioning

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/fleet"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostPriority is the highest priority that users may give (HighestUserDefinablePriority).
const mostPriority = 1_000_000_000

// simulated is the plan as kube-scheduler binds it, nobody being asked about; nil where it has no
// say, or where that cannot be worked out.
func (x *Explainer) simulated() (*stage, asked) {
	q := asked{pod: -1, all: x.solver.Placement == scheduling.PlacementNominated, brief: fleetParams(x.e.Facts, work(&x.solver), nil).Brief}
	if x.played == nil && (q.all || x.solver.Placement == scheduling.PlacementFree) {
		x.played = x.stage(nil)
	}
	return x.played, q
}

// unforced are the pods of a place that kube-scheduler binds elsewhere in some course of events.
func (x *Explainer) unforced(at scheduling.Placement) (out []string) {
	s, q := x.simulated()
	if s == nil {
		return nil
	}
	if x.bound == nil {
		x.bound = s.playAll(q)
	}
	place := int32(slices.Index(s.places, at))
	for i, p := range s.queue {
		if s.home[i] == place && slices.ContainsFunc(x.bound, func(c played) bool { return !s.holds(&c, i) }) {
			out = append(out, podspec.PodName(p.Pod))
		}
	}
	slices.Sort(out)
	return out
}

// realised says where kube-scheduler binds a pod that has a place.
func (x *Explainer) realised(pod *corev1.Pod) *scheduling.RealisedPod {
	s, q := x.simulated()
	if s == nil {
		return nil
	}
	q.pod = s.find(pod)
	out := &scheduling.RealisedPod{Nominated: q.all || q.pod < 0}
	switch {
	case q.pod >= 0:
	case nominatedNode(x.e.Problem, pod) == "":
		return nil // the plan is not for this problem
	default: // it has its place before others come
		return out
	}
	others := make([]scheduling.OtherPlace, len(s.places))
	admitted := make([]bool, len(others))
	for _, c := range s.playAll(q) {
		out.Simulations++
		for i, yes := range c.admitted {
			admitted[i] = admitted[i] || yes
		}
		to := c.to[q.pod]
		if to >= 0 {
			others[to].Simulations++
		}
		switch {
		case s.holds(&c, int(q.pod)):
			continue
		case to < 0:
			out.Pending++
		default:
			out.Elsewhere++
		}
		out.Displaced = append(out.Displaced, c.displaced...)
	}
	for i, o := range others {
		if admitted[i] && int32(i) != s.home[q.pod] {
			if o.Node = s.places[i].Node; o.Node == "" {
				o.Launch = s.places[i].Launch.Name
			}
			out.Others = append(out.Others, o)
		}
	}
	slices.SortStableFunc(out.Others, func(a, b scheduling.OtherPlace) int { return cmp.Compare(b.Simulations, a.Simulations) })
	slices.Sort(out.Displaced)
	out.Others, out.Displaced = few(out.Others), few(slices.Compact(out.Displaced))
	if out.Elsewhere+out.Pending > 0 {
		out.Force = x.force(pod, s, q)
	}
	return out
}

func few[T any](list []T) []T { return list[:min(len(list), explain.MostPlaces)] }

// stage is the plan as it is played, with a pod in another shape where it is not nil; nil where the
// plan is not for the problem, and where too many pods depend on each other.
func (x *Explainer) stage(changed *corev1.Pod) *stage {
	f := x.e.Facts
	if changed != nil {
		p := *f.Problem
		p.Pods = slices.Clone(p.Pods)
		for i, pod := range p.Pods {
			if podspec.PodKey(pod) == podspec.PodKey(changed) {
				p.Pods[i] = changed
			}
		}
		facts, err := compile.NewFacts(&p, &x.solver)
		if err != nil {
			return nil
		}
		f = facts
	}
	f, plan := readNominations(f).apart(x.plan)
	s, err := newStage(f.Compile(false), plan)
	if err != nil || slices.Contains(s.home, -1) || !fleet.Playable(s.c, plan) {
		return nil
	}
	return s
}

// force are the changes that bind a pod to its place in every course of events, of those that may,
// the cheapest first.
func (x *Explainer) force(pod *corev1.Pod, s *stage, q asked) (out []scheduling.Change) {
	try := func(c scheduling.Change, s *stage, q asked) {
		if s == nil {
			return
		}
		q.pod, q.only = s.find(pod), true
		if q.pod >= 0 && lo.EveryBy(s.playAll(q), func(x played) bool { return x.to[q.pod] == s.home[q.pod] }) {
			out = append(out, c)
		}
	}
	home := s.places[s.home[q.pod]]
	object, place, there := "Node/"+home.Node, "node "+home.Node, ""
	if home.Launch != nil {
		object, place, there = "Launch/"+home.Launch.Name, "launch "+home.Launch.Name, ", once it is there"
	}
	nominate := scheduling.Change{Kind: scheduling.ChangeNomination, Object: object, Text: "nominate it to " + place + there + " (status.nominatedNodeName)"}
	if !q.all {
		nominated := q
		nominated.nominated = true
		try(nominate, s, nominated)
	}
	if first := podspec.PriorityOf(s.queue[0].Pod) + 1; first <= mostPriority {
		urgent := pod.DeepCopy()
		urgent.Spec.Priority = &first
		c := scheduling.Change{Kind: scheduling.ChangeOrder, From: strconv.Itoa(int(podspec.PriorityOf(pod))), To: strconv.Itoa(int(first))}
		c.Text = "let it be bound before the others: give it priority " + c.To + ", or hold them off with scheduling gates until it is bound"
		try(c, x.stage(urgent), q)
	}
	if key, value := s.ownLabel(s.home[q.pod]); value != "" {
		bound := pod.DeepCopy()
		bound.Spec.NodeSelector = lo.Assign(bound.Spec.NodeSelector, map[string]string{key: value})
		try(scheduling.Change{Kind: scheduling.ChangeSelector, Key: key, Values: []string{value}, Text: "select " + key + "=" + value + ", which only " + place + " has"}, x.stage(bound), q)
	}
	if len(out) == 0 || out[0].Kind != scheduling.ChangeNomination {
		q.nominated, q.gated = true, true
		try(scheduling.Change{
			Kind: scheduling.ChangeHold, Object: object, And: []scheduling.Change{nominate},
			Text: "hold it off with a scheduling gate until " + place + " is there and takes it, and nominate it then (status.nominatedNodeName)",
		}, s, q)
	}
	return out
}

// ownLabel is a label with a value that no other place has: the node's host name, or the NodePool of
// a launch; "" for none.
func (s *stage) ownLabel(place int32) (key, value string) {
	home := s.places[place]
	if home.Launch == nil {
		return corev1.LabelHostname, s.c.Nodes[place].Labels[corev1.LabelHostname]
	}
	key, value = scheduling.NodePoolLabel, home.Launch.NodePool
	for _, n := range s.c.Nodes {
		if n.Labels[key] == value {
			return "", ""
		}
	}
	for _, other := range s.places[s.scheduler.Existing():] {
		if other != home && other.Launch.NodePool == value {
			return "", ""
		}
	}
	return key, value
}
