package disruption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/session"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// openState reads a cluster and opens its sessions. Pending pods that fit on existing nodes, also on nodes that are
// not initialized yet, are expected there; other pending pods, and pods of nodes that are being removed, await a
// launch. Nodes that are not ready take in no further pods. The known session is one that has read the same catalogs,
// to save time.
func openState(ctx context.Context, p Planner, c *Cluster, known *provisioning.Session) (*state, error) {
	c, division := divided(c)
	problem, err := session.DividePods(&c.Problem, c.terminating())
	if err != nil {
		return nil, err
	}
	market, err := known.ForProblem(p.Policy, problem)
	if err != nil {
		return nil, err
	}
	f := newState(p, c)
	f.division = division
	f.sessions, f.outOfTime = session.New(market), func() bool { return outOfTime(ctx) }
	for _, node := range problem.Nodes {
		f.byName[node.Name].node = node
	}
	if err := f.closeNodes(c.interrupted()); err != nil {
		return nil, err
	}
	if err := placePending(ctx, f, problem.Pods); err != nil {
		return nil, err
	}
	f.readRequests()
	if f.landing, err = newLanding(f); err != nil {
		return nil, err
	}
	var unready []string
	for _, s := range f.nodes {
		if !receivesPods(s.node) {
			unready = append(unready, s.name)
		}
	}
	err = f.closeNodes(unready)
	return f, err
}

// placePending finds nodes for pending pods, and opens the session that may not launch.
func placePending(ctx context.Context, f *state, pods []*corev1.Pod) error {
	plan, err := f.sessions.PlacePending(ctx) // also without pods, because forks share the result
	if err != nil {
		return err
	}
	f.pending, f.roomPending = pendingPods(f.cluster, plan, false), pendingPods(f.cluster, plan, true)
	for _, pod := range pods {
		f.awaitingLaunch[podspec.PodName(pod)] = pod
	}
	come := keepRoom(f, plan.Existing)
	for i := range plan.Existing {
		a := &plan.Existing[i]
		s := f.byName[a.Node]
		for _, name := range a.Pods {
			if f.awaitingLaunch[name] == nil {
				continue // virtual, and there already
			}
			pod := scheduling.Successor(f.awaitingLaunch[name], a.Node)
			come = append(come, pod)
			s.expected = append(s.expected, pod)
			now := ""
			if runs := f.pods[name]; runs != nil {
				now = runs.Spec.NodeName
			}
			f.pods[name], f.currentNode[name] = pod, now
			delete(f.awaitingLaunch, name)
		}
	}
	// Pods that do not fit on their nominated node are no longer nominated.
	d := scheduling.Delta{Pods: come, Nominated: map[types.NamespacedName]string{}}
	for name, pod := range f.awaitingLaunch {
		if len(f.problem.Nominated) > 0 {
			d.Nominated[podspec.PodKey(pod)] = ""
		}
		if pod.Status.NominatedNodeName != "" {
			f.awaitingLaunch[name] = unbound(pod)
			d.Pods = append(d.Pods, f.awaitingLaunch[name])
		}
	}
	if err := f.sessions.Launch.Apply(d); err != nil {
		return err
	}
	var waiting []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(f.awaitingLaunch)) {
		waiting = append(waiting, f.awaitingLaunch[name])
	}
	return f.sessions.Divide(waiting, f.problem.NodePools)
}

// closeNodes lets nodes take in no pods from now on; each call needs one reopenNodes to undo it. Removed nodes are
// skipped.
func (f *state) closeNodes(nodes []string) error { return f.changeClosures(nodes, 1) }

// reopenNodes undoes one closeNodes.
func (f *state) reopenNodes(nodes []string) error { return f.changeClosures(nodes, -1) }

// changeClosures adds to the closures of nodes, and tells the sessions of nodes that are closed or open by that.
func (f *state) changeClosures(nodes []string, by int) error {
	var changed []*corev1.Node
	for _, name := range nodes {
		s := f.existing(name)
		if s == nil {
			continue
		}
		was := s.closures > 0
		if s.closures += by; was != (s.closures > 0) {
			changed = append(changed, s.sessionNode(f.problem))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return f.sessions.Apply(scheduling.Delta{Nodes: changed})
}

// sessionNode is the node as the sessions see it: without room for pods if it is closed.
func (s *candidate) sessionNode(p *scheduling.Problem) *corev1.Node {
	if s.closures == 0 {
		return s.node
	}
	return session.Closed(p, s.node)
}

// returnToPending lets pods await a launch whose expected node was removed before they were bound. Only the session
// that may launch holds them, because topology spread and pod affinity still count them there.
func (f *state) returnToPending(pods []*corev1.Pod) error {
	d := scheduling.Delta{}
	for _, pod := range pods {
		pod = unbound(pod)
		f.awaitingLaunch[podspec.PodName(pod)], d.Pods = pod, append(d.Pods, pod)
	}
	if len(pods) == 0 {
		return nil
	}
	return f.sessions.Launch.Apply(d)
}

// receivesPods reports whether evicted pods may be bound to a node: it is initialized, if a pool owns it, and ready.
func receivesPods(node *corev1.Node) bool {
	return (node.Labels[scheduling.NodePoolLabel] == "" || node.Labels[scheduling.InitializedLabel] == "true") && ready(node)
}

// launchNode is the node that a launch becomes, with its labels under all their aliases.
func launchNode(f *state, l *scheduling.Launch) (*corev1.Node, error) {
	node, err := l.Node(l.Name, &l.Options[0], f.problem.CatalogOf(l.NodePool))
	if err == nil {
		requirements.AddAliases(node.Labels)
	}
	return node, err
}

// launchNumber is the number at the end of a launch's name, 0 for none.
func launchNumber(l *scheduling.Launch) int {
	n := 0
	_, err := fmt.Sscanf(strings.TrimPrefix(l.Name, l.NodePool+"-"), "%d", &n)
	if err != nil {
		return 0
	}
	return n
}

// unbound is a copy of a pod as its controller would recreate it, without a node.
func unbound(pod *corev1.Pod) *corev1.Pod { return scheduling.Successor(pod, "") }
