package steps

import (
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/launchplan"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// withRoom returns the cluster in which the virtual pods run that have room according to the plan.
func (a *Audit) withRoom() disruption.Cluster {
	out, at := a.cluster, a.rooms()
	out.Pods = nil
	for _, pod := range lo.Compact(a.cluster.Pods) {
		node := at[snapshot.ObjectName(pod)]
		if node == "" || !isSpare(pod) {
			out.Pods = append(out.Pods, pod)
			continue
		}
		runs := *pod
		runs.Spec.NodeName = node
		out.Running = append(slices.Clip(out.Running), &runs)
	}
	return out
}

// rooms are the nodes of the pods that have room according to the plan, by pod.
func (a *Audit) rooms() map[string]string {
	at := make(map[string]string)
	for _, x := range a.plan.Room {
		for _, pod := range x.Pods {
			at[pod] = x.Node
		}
	}
	return at
}

// isSpare reports whether a pod is virtual and pending.
func isSpare(pod *corev1.Pod) bool {
	return scheduling.IsVirtual(pod) && pod.Spec.NodeName == "" && snapshot.Live(pod)
}

// judgeRoom checks that the pods that have room according to the plan are pending virtual pods of the cluster, each once, and have
// room there beside the running pods; and that the plan leaves out no virtual pod that has room, unless other pods are pending or on
// nodes that go, for which room may be reserved.
func (a *Audit) judgeRoom(report *rule.Report) {
	at := a.rooms()
	count := make(map[string]int)
	for _, x := range a.plan.Room {
		for _, pod := range x.Pods {
			if count[pod]++; count[pod] > 1 {
				report.Add(rule.RoomKept, "pod/"+pod, "has room on node %s, and on another node", x.Node)
			}
		}
	}
	var left []*corev1.Pod
	others := false
	for _, pod := range lo.Compact(a.cluster.Pods) {
		switch name := snapshot.ObjectName(pod); {
		case !isSpare(pod):
			others = others || pod.Spec.NodeName == "" && snapshot.Live(pod)
		case at[name] != "":
			delete(at, name)
		default:
			left = append(left, pod)
		}
	}
	if p := lo.FromPtr(a.plan.RoomPending); p.Existing != len(count) {
		report.Add(rule.RoomKept, "roomPending", "states that %d virtual pods have room on nodes, and room has %d", p.Existing, len(count))
	}
	for pod := range at {
		report.Add(rule.RoomKept, "pod/"+pod, "is no pending virtual pod, and is said to have room on a node")
	}
	if len(a.plan.Room) > 0 {
		a.fit(report, a.cluster, a.plan.Room)
	}
	for _, pod := range a.cluster.Running {
		others = others || pod != nil && a.goes(pod.Spec.NodeName) && reschedulable(pod)
	}
	if !others {
		a.leftOut(report, a.withRoom(), left)
	}
}

// goes reports whether a node is being removed, or is about to be by its provider.
func (a *Audit) goes(name string) bool {
	return slices.ContainsFunc(a.cluster.Nodes, func(node *corev1.Node) bool { return node.Name == name && snapshot.Leaving(node) }) ||
		slices.ContainsFunc(a.cluster.Machines, func(m disruption.Machine) bool {
			return m.Node == name && (m.Terminating || m.Interruption != nil)
		})
}

// countVirtual adds the virtual pods on nodes to the counts of topology terms, or takes them out by -1, because kube-scheduler
// does not count them for the pods that it binds.
func (g *clusterState) countVirtual(by int) {
	for _, s := range g.nodes {
		for _, pod := range s.pods {
			if scheduling.IsVirtual(pod) {
				g.topology.Add(g.group(pod), g.topology.Named[pod.Spec.NodeName], by)
			}
		}
	}
}

// fit checks that pending pods fit on nodes of a cluster.
func (a *Audit) fit(report *rule.Report, cluster disruption.Cluster, places []scheduling.Assignment) {
	g := newClusterState(&a.planner, cluster, &disruption.ConsolidationPlan{})
	audit := launchplan.New(report, g.state, g.topology, &scheduling.Plan{Existing: places}, a.bounds)
	audit.JudgePlaces()
	if audit.AnyTerms() {
		audit.AddUnbound(g.bindAll(audit.Bookings(), audit.JudgeOptions))
	}
}

// leftOut reports one pending virtual pod of each owner that has room on a node of a cluster. Pods with topology terms are
// passed over, because they may have to be with others, for which a node is launched.
func (a *Audit) leftOut(report *rule.Report, cluster disruption.Cluster, pods []*corev1.Pod) {
	if len(pods) == 0 {
		return
	}
	reader := snapshot.New(cluster.Problem, a.planner.Policy).Reader
	for _, pod := range lo.UniqBy(pods, func(pod *corev1.Pod) string {
		return snapshot.NamespaceOf(pod) + "/" + snapshot.Owner(pod, "CapacityBuffer")
	}) {
		if !reader.TermsOf(pod, false).None() {
			continue
		}
		for _, node := range cluster.Nodes {
			if a.goes(node.Name) {
				continue
			}
			own := &rule.Report{}
			a.fit(own, cluster, []scheduling.Assignment{{Node: node.Name, Pods: []string{snapshot.ObjectName(pod)}}})
			if len(own.Violations) == 0 {
				report.Add(rule.RoomKept, "pod/"+snapshot.ObjectName(pod), "has room on node %s, and the plan does not keep it", node.Name)
				break
			}
		}
	}
}
