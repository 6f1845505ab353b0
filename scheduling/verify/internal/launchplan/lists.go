package launchplan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// listCheck judges the lists of a plan: that each pending pod stands once, and that all is in its documented order.
type listCheck struct {
	report *rule.Report
	state  *snapshot.State
	plan   *scheduling.Plan
}

// everyPodOnce checks that every pending pod stands exactly once in the plan, and no other pod stands there.
func (c *listCheck) everyPodOnce() {
	places := make(map[string][]string)
	put := func(pod, where string) { places[pod] = append(places[pod], where) }
	for pod, at := range c.plan.Placements() {
		if at.Launch != nil {
			put(pod.String(), ObjectName(at.Launch))
		} else {
			put(pod.String(), "node/"+at.Node)
		}
	}
	for _, u := range c.plan.Unschedulable {
		put(u.Pod, "unschedulable")
		c.refusal(u)
	}
	for _, t := range c.state.SortedPods() {
		where := places[t.Name]
		switch {
		case len(where) == 0:
			c.report.Add(rule.PodMissing, "pod/"+t.Name, "is not in the plan")
		case len(where) > 1:
			c.report.Add(rule.PodDuplicated, "pod/"+t.Name, "is listed in %s", strings.Join(where, " and in "))
		}
		if why, _ := t.Held(); why != "" && slices.ContainsFunc(where, func(w string) bool { return w != "unschedulable" }) {
			c.report.Add(rule.PodHeld, "pod/"+t.Name, "%s, and is planned", why)
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(places)) {
		if c.state.Pods[pod] != nil {
			continue
		}
		if why, ok := c.state.Others[pod]; ok {
			c.report.Add(rule.PodNotPending, "pod/"+pod, "%s, and is listed in %s", why, strings.Join(places[pod], " and in "))
		} else {
			c.report.Add(rule.PodUnknown, "pod/"+pod, "is not in the input, and is listed in %s", strings.Join(places[pod], " and in "))
		}
	}
}

// refusal checks that a refused pod is told why, unless the solver was to name it only.
func (c *listCheck) refusal(u scheduling.Unschedulable) {
	if c.state.Policy.NoReasons {
		return
	}
	object := "pod/" + u.Pod
	if strings.TrimSpace(u.Message) == "" {
		c.report.Add(rule.NoMessage, object, "is unschedulable without a message")
	}
	if len(u.Reasons) == 0 {
		c.report.Add(rule.NoReason, object, "is unschedulable without a reason")
	}
	if t := c.state.Pods[u.Pod]; t != nil {
		why, names := t.Held()
		told := slices.ContainsFunc(u.Reasons, func(r scheduling.ReasonCount) bool {
			return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(r.Detail, name) })
		})
		if why != "" && !told && len(u.Reasons) > 0 {
			c.report.Add(rule.NoReason, object, "%s, and none of its reasons names this", why)
		}
		none := strings.HasSuffix(u.Message, "no change was found that places it")
		if len(u.Fixes) == 0 && !none && !beyondRepair(t) {
			c.report.Add(rule.NoFix, object, "is unschedulable without a fix or the message that none was found")
		}
	}
	for i, r := range u.Reasons {
		if !knownReason(r.Code) {
			c.report.Add(rule.NoReason, object, "reasons[%d]: unknown code %q", i, r.Code)
		}
		if r.Count <= 0 {
			c.report.Add(rule.NoReason, object, "reasons[%d]: %s counts %d candidates, must be at least 1", i, r.Code, r.Count)
		}
		if i > 0 && u.Reasons[i-1].Count < r.Count {
			c.report.Add(rule.Unsorted, object, "reasons[%d]: counts %d candidates, and the reason before it %d", i, r.Count, u.Reasons[i-1].Count)
		}
	}
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
func (c *listCheck) order() {
	launches := c.plan.Launches
	for i := 1; i < len(launches); i++ {
		if compareLaunches(&launches[i-1], &launches[i]) > 0 {
			c.report.Add(rule.Unsorted, ObjectName(&launches[i]), "must be listed before %s", ObjectName(&launches[i-1]))
		}
	}
	for i := 1; i < len(c.plan.Existing); i++ {
		if a, b := c.plan.Existing[i-1].Node, c.plan.Existing[i].Node; a > b {
			c.report.Add(rule.Unsorted, "node/"+b, "must be listed before node/%s", a)
		}
	}
	for i := range launches {
		c.podOrder(ObjectName(&launches[i]), launches[i].Pods)
	}
	for _, a := range c.plan.Existing {
		c.podOrder("node/"+a.Node, a.Pods)
	}
}

// podOrder accepts the order of the names as text and that of namespace, then name.
func (c *listCheck) podOrder(object string, pods []string) {
	byParts := func(a, b string) int {
		aSpace, aName, _ := strings.Cut(a, "/")
		bSpace, bName, _ := strings.Cut(b, "/")
		return cmp.Or(strings.Compare(aSpace, bSpace), strings.Compare(aName, bName))
	}
	if !slices.IsSorted(pods) && !slices.IsSortedFunc(pods, byParts) {
		c.report.Add(rule.Unsorted, object, "its pods are not sorted by namespace and name")
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

// beyondRepair reports whether no change to pods, pools or nodes would help: the pod is
// held, or waits for a claim that one pod at a time may use.
func beyondRepair(t *snapshot.Pod) bool {
	return t.IsHeld() || slices.ContainsFunc(t.Mounts, func(m snapshot.Mount) bool { return m.Exclusive })
}
