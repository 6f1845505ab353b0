package provisioning

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// mostPriority is the highest priority that users may give (HighestUserDefinablePriority).
const mostPriority = 1_000_000_000

// realised says where kube-scheduler binds a pod that has a place; nil where it has no say, or where
// that cannot be worked out.
func (x *Explainer) realised(pod *corev1.Pod) *scheduling.RealisedPod {
	if x.solver.Placement != scheduling.PlacementFree && x.solver.Placement != scheduling.PlacementNominated {
		return nil
	}
	if x.played == nil {
		x.played = x.stage(nil)
	}
	s := x.played
	if s == nil {
		return nil
	}
	q := asked{pod: s.find(pod), all: x.solver.Placement == scheduling.PlacementNominated}
	out := &scheduling.RealisedPod{Nominated: q.all || q.pod < 0}
	switch {
	case q.pod >= 0:
	case nominatedNode(x.e.Problem, pod) == "":
		return nil // the plan is not for this problem
	default: // it has its place before others come
		return out
	}
	home, class := s.home[q.pod], s.queue[q.pod].Class
	others := make([]scheduling.OtherPlace, s.scheduler.Existing()+len(s.kinds))
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
		case to == home || s.holds(&c, class, home):
			continue
		case to < 0:
			out.Pending++
		default:
			out.Elsewhere++
		}
		out.Displaced = append(out.Displaced, c.displaced...)
	}
	for i, o := range others {
		if admitted[i] && int32(i) != home {
			o.Node, o.Launch = s.name(int32(i))
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

// stage is the plan as it is played, with a pod in another shape where it is not nil.
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
		var err error
		if f, err = compile.NewFacts(&p, &x.solver); err != nil {
			return nil
		}
	}
	f, plan := readNominations(f).apart(x.plan)
	return newStage(f.Compile(false), plan, fleetParams(f, work(f.Solver), nil).Brief)
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
	home := s.home[q.pod]
	node, launch := s.name(home)
	object, place, there := "Node/"+node, "node "+node, ""
	if launch != "" {
		object, place, there = "Launch/"+launch, "launch "+launch, ", once it is there"
	}
	nominate := scheduling.Change{Kind: scheduling.ChangeNomination, Object: object, Text: "nominate it to " + place + there + " (status.nominatedNodeName)"}
	if !q.all {
		try(nominate, s, asked{nominated: true})
	}
	if first := podspec.PriorityOf(s.queue[0].Pod) + 1; first <= mostPriority {
		urgent := pod.DeepCopy()
		urgent.Spec.Priority = &first
		c := scheduling.Change{Kind: scheduling.ChangeOrder, From: strconv.Itoa(int(podspec.PriorityOf(pod))), To: strconv.Itoa(int(first))}
		c.Text = "let it be bound before the others: give it priority " + c.To + ", or hold them off with scheduling gates until it is bound"
		try(c, x.stage(urgent), q)
	}
	if key, value := s.ownLabel(home); value != "" {
		bound := pod.DeepCopy()
		bound.Spec.NodeSelector = lo.Assign(bound.Spec.NodeSelector, map[string]string{key: value})
		try(scheduling.Change{Kind: scheduling.ChangeSelector, Key: key, Values: []string{value}, Text: "select " + key + "=" + value + ", which only " + place + " has"}, x.stage(bound), q)
	}
	if len(out) == 0 || out[0].Kind != scheduling.ChangeNomination {
		try(scheduling.Change{
			Kind: scheduling.ChangeHold, Object: object, And: []scheduling.Change{nominate},
			Text: "hold it off with a scheduling gate until " + place + " is there and takes it, and nominate it then (status.nominatedNodeName)",
		}, s, asked{all: q.all, nominated: true, gated: true})
	}
	return out
}

// name is that of a node that is there, or of a launch.
func (s *stage) name(place int32) (node, launch string) {
	if there := int32(s.scheduler.Existing()); place >= there {
		return "", s.plan.Launches[place-there].Name
	}
	return s.c.Nodes[place].Node.Name, ""
}

// ownLabel is a label with a value that only a node, or a launch whichever option is bought, has; ""
// for none.
func (s *stage) ownLabel(place int32) (key, value string) {
	there := int32(s.scheduler.Existing())
	if place < there {
		return corev1.LabelHostname, s.c.Nodes[place].Labels[corev1.LabelHostname]
	}
	wellKnown := requirements.WellKnown()
	labels := func(l *scheduling.Launch, o *scheduling.Option) map[string]string {
		out := map[string]string{
			scheduling.NodePoolLabel: l.NodePool, offerings.ZoneLabel: o.Zone,
			offerings.CapacityTypeLabel: string(o.CapacityType), corev1.LabelInstanceTypeStable: o.InstanceType,
		}
		maps.Copy(out, lo.OmitBy(l.Labels, func(key, _ string) bool { return wellKnown.Has(key) }))
		return out
	}
	launch := &s.plan.Launches[place-there]
	own := labels(launch, &launch.Options[0])
	drop := func(other map[string]string, same bool) {
		maps.DeleteFunc(own, func(key, value string) bool { return (other[key] == value) == same })
	}
	for _, n := range s.c.Nodes {
		drop(n.Labels, true)
	}
	for i := range s.plan.Launches {
		for o := range s.plan.Launches[i].Options {
			drop(labels(&s.plan.Launches[i], &s.plan.Launches[i].Options[o]), &s.plan.Launches[i] != launch)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		return key, own[key]
	}
	return "", ""
}
