package steps

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// checkEvictions checks that the evictions are those of the pods that lose their nodes, each to a node that is there,
// and notes the evictions that can be carried out.
func (a *stepCheck) checkEvictions() {
	listed := make(map[string]bool)
	wave := 0
	for i := range a.step.Evictions {
		e := &a.step.Evictions[i]
		object := "pod/" + e.Pod
		if e.Wave != wave && e.Wave != wave+1 || e.Wave < 1 {
			a.report.Add(rule.Wave, object, "is in wave %d, listed after wave %d", e.Wave, wave)
		}
		wave = max(wave, e.Wave)
		pod := a.cluster.state.Running[e.Pod]
		switch {
		case pod == nil:
			a.report.Add(rule.EvictionUnknown, object, "is not a running pod")
			continue
		case listed[e.Pod]:
			a.report.Add(rule.MovedTwice, object, "is evicted twice in one step")
			continue
		case e.Virtual != scheduling.IsVirtual(pod):
			a.report.Add(rule.EvictionUnknown, object, "is said to be virtual: %v", e.Virtual)
		case !e.Virtual && a.cluster.moved[e.Pod] != 0 && !a.mayUndo(a.cluster.moved[e.Pod]):
			a.report.Add(rule.MovedTwice, object, "was evicted by steps[%d]", a.cluster.moved[e.Pod]-1)
		}
		listed[e.Pod] = true
		a.cluster.moved[e.Pod] = a.number
		if at := pod.Spec.NodeName; at != e.From {
			a.report.Add(rule.EvictionUnknown, object, "is on node %q, not on %q", at, e.From)
			continue
		}
		if !reschedulable(pod) {
			a.report.Add(rule.EvictionUnknown, object, "is a pod that is not rescheduled")
		}
		if a.step.Reason != disruption.Misplaced && !e.Virtual && !a.removes(e.From) {
			a.report.Add(rule.EvictionUnknown, object, "is evicted, and its node %s is not drained", e.From)
		}
		a.move(e, pod)
	}
	a.risks()
	for _, s := range a.going {
		for _, pod := range s.pods {
			if reschedulable(pod) && !listed[snapshot.ObjectName(pod)] {
				a.report.Add(rule.EvictionMissing, "pod/"+snapshot.ObjectName(pod), "is on node %s, which is drained, and is not evicted", s.node.Name)
			}
		}
	}
	a.launchedPods()
}

// risks checks that the step warns of every evicted pod that would not be recreated, or that asks not to be
// disrupted.
func (a *stepCheck) risks() {
	told := make(map[string]bool)
	for _, x := range a.step.Risks {
		if !slices.Contains(disruption.RiskCodes(), x.Code) || x.Detail == "" {
			a.report.Add(rule.StepRisk, x.Object, "risk %q is unknown or has no detail", x.Code)
		}
		told[string(x.Code)+" "+x.Object] = true
	}
	for _, m := range a.moves {
		object := "pod/" + m.Pod
		owner := metav1.GetControllerOf(m.pod)
		if owner != nil {
			object = strings.ToLower(owner.Kind) + "/" + snapshot.NamespaceOf(m.pod) + "/" + owner.Name
		}
		if doNotDisrupt(m.pod, a.cluster.rules.now) && !told[string(disruption.RiskDoNotDisrupt)+" "+object] {
			a.report.Add(rule.StepRisk, object, "has the annotation karpenter.sh/do-not-disrupt, and the step lists no such risk")
		}
		if owner != nil {
			continue
		}
		if !told[string(disruption.RiskUnmanagedPod)+" "+object] {
			a.report.Add(rule.StepRisk, object, "is unmanaged (it would not be recreated), and the step lists no such risk")
		}
		if a.step.Reason == disruption.Misplaced && a.cluster.rules.planner.KeepBarePods {
			a.report.Add(rule.BarePod, object, "is unmanaged (it would not be recreated)")
		}
	}
}

// removes reports whether the step removes the node.
func (a *stepCheck) removes(node string) bool {
	return slices.ContainsFunc(a.going, func(s *clusterNode) bool { return s.node.Name == node })
}

// move notes an eviction with the pod as it is recreated, and checks the node that it goes to.
func (a *stepCheck) move(e *disruption.Eviction, pod *corev1.Pod) {
	object := "pod/" + e.Pod
	t := a.cluster.state.Reader.NewPod(unplaced(pod))
	a.moves = append(a.moves, move{e, pod, t, a.cluster.group(pod), a.cluster.group(t.Object)})
	if e.To == "" {
		if a.step.Reason != disruption.Interrupted {
			a.report.Add(rule.Landing, object, "is evicted without a target node")
		}
		return
	}
	if why, _ := t.Held(); why != "" {
		a.report.Add(rule.PodHeld, object, "%s", why)
	}
	s := a.cluster.nodes[e.To]
	switch {
	case a.buys(e.To):
	case s == nil:
		a.report.Add(rule.Landing, object, "target node %s does not exist", e.To)
	case a.cluster.drains[e.To] != 0 && (!needsNoSaving(a.step.Reason) || !saves(a.cluster.plan.Steps[a.cluster.drains[e.To]-1].Reason)):
		a.report.Add(rule.Landing, object, "target node %s is drained by steps[%d]", e.To, a.cluster.drains[e.To]-1)
	case snapshot.InFlight(s.node.Running) || !readyNode(s.node.Running):
		a.report.Add(rule.Landing, object, "target node %s is not ready", e.To)
	case s.machine.Terminating:
		a.report.Add(rule.Landing, object, "the instance of target node %s is shutting down", e.To)
	case s.machine.Interruption != nil:
		a.report.Add(rule.Landing, object, "the instance of target node %s is being interrupted", e.To)
	case e.To == e.From:
		a.report.Add(rule.Landing, object, "is evicted from node %s and scheduled to it again", e.To)
	}
}

// launchedPods checks that launches are for the pods that are expected there.
func (a *stepCheck) launchedPods() {
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		var come []string
		for _, m := range a.moves {
			if m.To == l.Name {
				come = append(come, m.Pod)
			}
		}
		slices.Sort(come)
		if !slices.Equal(come, slices.Sorted(slices.Values(l.Pods))) {
			a.report.Add(rule.Landing, launchplan.ObjectName(l), "lists the pods %s, and the evictions to it are of %s", strings.Join(l.Pods, ", "), strings.Join(come, ", "))
		}
	}
}

// removeDrained takes the nodes that go and the pods that move out of the cluster.
func (a *stepCheck) removeDrained() {
	evicted := make(map[*corev1.Pod]bool)
	for _, m := range a.moves {
		evicted[m.pod] = true
	}
	for _, s := range a.going {
		for _, pod := range s.pods {
			if !evicted[pod] {
				a.left[s.node.Name] = append(a.left[s.node.Name], a.cluster.group(pod))
			}
			a.cluster.removePod(pod)
		}
		a.cluster.removeNode(s)
	}
	for _, m := range a.moves {
		s := a.cluster.nodes[m.From]
		if s == nil {
			continue // it is gone, and everything on it
		}
		a.cluster.removePod(m.pod)
		s.setPods(slices.DeleteFunc(slices.Clone(s.pods), func(p *corev1.Pod) bool { return p == m.pod }))
		a.cluster.state.Reread(s.node, s.pods)
	}
	a.cluster.rereadDaemons()
}

// checkPlaces checks that launches are legal, and that all evicted pods fit where they are
// expected once the nodes of the step are gone, by every rule about plans.
func (a *stepCheck) checkPlaces() {
	pods := maps.Clone(a.cluster.state.Pods) // to be placed: pending ones, and those that move
	onto := make(map[string][]string)        // pods by node
	for _, m := range a.moves {
		pods[m.Pod] = m.successor
		if !a.buys(m.To) && a.cluster.nodes[m.To] != nil {
			onto[m.To] = append(onto[m.To], m.Pod)
		}
	}
	plan := &scheduling.Plan{Launches: a.step.Launches}
	for _, name := range slices.Sorted(maps.Keys(onto)) {
		plan.Existing = append(plan.Existing, scheduling.Assignment{Node: name, Pods: onto[name]})
	}
	places := launchplan.New(a.report, a.cluster.state.WithPods(pods), a.cluster.topology, plan, a.bounds)
	places.JudgePlaces()
	if !a.asBound() {
		places.JudgeWorkloads()
	}
	if a.asBound() {
		a.cluster.countVirtual(-1)
		defer a.cluster.countVirtual(1)
	}
	if places.AnyTerms() { // pods that move bind one by one
		end := a.keepDomains(places)
		defer end()
		places.AddUnbound(a.cluster.bindAll(places.Bookings(), places.JudgeOptions))
	}
	a.launched = make(map[string]*corev1.Node)
	for _, l := range places.Launched() {
		if l.Node != nil {
			a.launchNodes = append(a.launchNodes, l.Node)
			a.cluster.topology.Name(l.Node, l.Name)
		}
		if l.Object != nil {
			requirements.AddAliases(l.Object.Labels)
			a.launched[l.Name] = l.Object
		}
	}
}

// complete brings the cluster to its state once the step is done.
func (a *stepCheck) complete() {
	for _, n := range a.launchNodes {
		a.cluster.topology.RemoveNode(n)
	}
	for i := range a.step.Launches {
		l := &a.step.Launches[i]
		if object := a.launched[l.Name]; object != nil && a.cluster.nodes[l.Name] == nil {
			s := a.cluster.newClusterNode(a.cluster.state.NewNode(object, nil))
			s.launched = true
			a.cluster.addNode(s)
			a.cluster.state.TakeReservation(s.node, 1)
		}
	}
	for _, m := range a.moves {
		s := a.cluster.nodes[m.To]
		if s == nil {
			continue
		}
		pod := *m.successor.Object
		pod.Spec.NodeName = m.To
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		s.setPods(append(slices.Clip(s.pods), &pod))
		s.node.Hold(m.successor.Requests, m.successor.Ports, m.successor.Mounts)
		a.cluster.addPod(&pod)
		if !m.Virtual {
			a.cluster.received[m.To] = a.cluster.machines[m.To] != nil
		}
	}
	for _, s := range a.going {
		a.cluster.state.TakeReservation(s.node, -1)
	}
}
