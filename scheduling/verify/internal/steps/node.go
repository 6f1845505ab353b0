package steps

import (
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// clusterNode is a node of the cluster as it stands.
type clusterNode struct {
	node    *snapshot.Node
	machine *disruption.Machine
	// pods are the pods there that have not finished; only setPods changes them.
	pods []*corev1.Pod
	// removal is the disruption cost of removing the node, nil until known for these pods.
	removal *float64
	// price is the expected cost of the node, bare that of its machine, in nano-USD per hour, if priced.
	price, bare int64
	priced      bool
	// launched is set for a machine that a step has launched.
	launched bool
}

// setPods replaces the pods of the node.
func (s *clusterNode) setPods(pods []*corev1.Pod) { s.pods, s.removal = pods, nil }

// created returns the time at which the node was created; zero if it is not known.
func (s *clusterNode) created() time.Time {
	if s.machine.Created.IsZero() {
		return s.node.Running.CreationTimestamp.Time
	}
	return s.machine.Created
}

// graceful reports whether draining the node ends by force.
func (s *clusterNode) graceful() bool {
	return s.machine.TerminationGracePeriod != nil || s.node.Pool != nil && s.node.Pool.Object.Spec.Template.Spec.TerminationGracePeriod != nil
}

// poolOf is the pool that the node says it belongs to.
func poolOf(node *corev1.Node) string { return node.Labels[scheduling.NodePoolLabel] }

// readyNode reports whether the node's Ready condition is true or missing.
func readyNode(node *corev1.Node) bool {
	c, found := lo.Find(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return !found || c.Status == corev1.ConditionTrue
}
