package verify

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// everyPodOnce checks that every pending pod stands exactly once in the plan, and nothing
// else does.
func (j *judge) everyPodOnce() {
	places := make(map[string][]string)
	put := func(pod, where string) { places[pod] = append(places[pod], where) }
	for pod, at := range j.plan.Placements() {
		if at.Launch != nil {
			put(pod.String(), launchName(at.Launch))
		} else {
			put(pod.String(), "node/"+at.Node)
		}
	}
	for _, u := range j.plan.Unschedulable {
		put(u.Pod, "unschedulable")
		j.refusal(u)
	}
	for _, t := range j.state.SortedPods() {
		where := places[t.Name]
		switch {
		case len(where) == 0:
			j.report.add(PodMissing, "pod/"+t.Name, "stands nowhere in the plan")
		case len(where) > 1:
			j.report.add(PodDuplicated, "pod/"+t.Name, "stands in %s", strings.Join(where, " and in "))
		}
		if why, _ := t.Held(); why != "" && slices.ContainsFunc(where, func(w string) bool { return w != "unschedulable" }) {
			j.report.add(PodHeld, "pod/"+t.Name, "%s and is planned all the same", why)
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(places)) {
		if j.state.Pods[pod] != nil {
			continue
		}
		if why, ok := j.state.Others[pod]; ok {
			j.report.add(PodNotPending, "pod/"+pod, "%s and stands in %s", why, strings.Join(places[pod], " and in "))
		} else {
			j.report.add(PodUnknown, "pod/"+pod, "is not in the problem and stands in %s", strings.Join(places[pod], " and in "))
		}
	}
}

// refusal checks that a refused pod is told why, unless the solver was to name it only.
func (j *judge) refusal(u scheduling.Unschedulable) {
	if j.state.Policy.NoReasons {
		return
	}
	object := "pod/" + u.Pod
	if strings.TrimSpace(u.Message) == "" {
		j.report.add(NoMessage, object, "is unschedulable without a message")
	}
	if len(u.Reasons) == 0 {
		j.report.add(NoReason, object, "is unschedulable without a reason")
	}
	if t := j.state.Pods[u.Pod]; t != nil {
		why, names := t.Held()
		told := slices.ContainsFunc(u.Reasons, func(r scheduling.Reason) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(r.Detail, name) })
		})
		if why != "" && !told && len(u.Reasons) > 0 {
			j.report.add(NoReason, object, "%s, and no reason says so", why)
		}
		none := strings.HasSuffix(u.Message, "no change was found that places it")
		if len(u.Fixes) == 0 && !none && !j.beyondRepair(t) {
			j.report.add(NoFix, object, "is unschedulable without a fix")
		}
	}
	for i, r := range u.Reasons {
		if !knownReason(r.Code) {
			j.report.add(NoReason, object, "reasons[%d]: unknown code %q", i, r.Code)
		}
		if r.Count <= 0 {
			j.report.add(NoReason, object, "reasons[%d]: %s counts %d options and nodes", i, r.Code, r.Count)
		}
		if i > 0 && u.Reasons[i-1].Count < r.Count {
			j.report.add(Unsorted, object, "reasons[%d]: counts %d, more than the %d before it", i, r.Count, u.Reasons[i-1].Count)
		}
	}
}

// beyondRepair reports whether no change to pods, pools or nodes would help: the pod is
// held, or waits for a claim that one pod at a time may use.
func (j *judge) beyondRepair(t *snapshot.Pod) bool {
	return t.IsHeld() || slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool { return m.Exclusive })
}

func knownReason(c scheduling.ReasonCode) bool {
	return slices.Contains([]scheduling.ReasonCode{
		scheduling.ReasonResources, scheduling.ReasonNoResource, scheduling.ReasonRequirements, scheduling.ReasonTaints,
		scheduling.ReasonHostPorts, scheduling.ReasonLimits, scheduling.ReasonMinValues, scheduling.ReasonReservation,
		scheduling.ReasonNoNodePool, scheduling.ReasonNoInstanceType, scheduling.ReasonUnavailable,
		scheduling.ReasonUnsupported, scheduling.ReasonNodeNotReady,
		scheduling.ReasonTopologySpread, scheduling.ReasonPodAffinity, scheduling.ReasonPodAntiAffinity,
		scheduling.ReasonVolume, scheduling.ReasonAttachLimit, scheduling.ReasonSearch,
		scheduling.ReasonNodeSize, scheduling.ReasonNoSpot, scheduling.ReasonFilter, scheduling.ReasonFlexibility, scheduling.ReasonWorkloadShare,
	}, c)
}

// order checks that lists are in their documented order.
func (j *judge) order() {
	launches := j.plan.Launches
	for i := 1; i < len(launches); i++ {
		if compareLaunches(&launches[i-1], &launches[i]) > 0 {
			j.report.add(Unsorted, launchName(&launches[i]), "belongs before %s", launchName(&launches[i-1]))
		}
	}
	for i := 1; i < len(j.plan.Existing); i++ {
		if a, b := j.plan.Existing[i-1].Node, j.plan.Existing[i].Node; a > b {
			j.report.add(Unsorted, "node/"+b, "belongs before node/%s", a)
		}
	}
	for i := range launches {
		j.podOrder(launchName(&launches[i]), launches[i].Pods)
	}
	for _, a := range j.plan.Existing {
		j.podOrder("node/"+a.Node, a.Pods)
	}
}

// podOrder accepts the order of the names as text and that of namespace, then name.
func (j *judge) podOrder(object string, pods []string) {
	byParts := func(a, b string) int {
		aSpace, aName, _ := strings.Cut(a, "/")
		bSpace, bName, _ := strings.Cut(b, "/")
		return cmp.Or(strings.Compare(aSpace, bSpace), strings.Compare(aName, bName))
	}
	if !slices.IsSorted(pods) && !slices.IsSortedFunc(pods, byParts) {
		j.report.add(Unsorted, object, "its pods are not sorted")
	}
}

// compareLaunches is the order pool, price, type; launches that agree in these may
// stand either way.
func compareLaunches(a, b *scheduling.Launch) int {
	c := cmp.Or(strings.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Price, b.Price))
	if c == 0 && len(a.Options) > 0 && len(b.Options) > 0 {
		c = strings.Compare(a.Options[0].InstanceType, b.Options[0].InstanceType)
	}
	return c
}
