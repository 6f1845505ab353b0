package disruption

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// candidate is a node, or a machine that a step has launched.
type candidate struct {
	name     string
	node     *corev1.Node
	machine  *Machine   // as steps have changed it; never nil
	original *Machine   // as in the input
	pool     *poolState // nil where the input has no pool that owns the node
	// pods are the pods on the node that have not ended; reschedulable are those of them that need another node when
	// this one goes; expected are pending pods that will be bound to it. All are in the order of names.
	pods, reschedulable, expected []*corev1.Pod
	// price is the expected price of the node ([scheduling.Policy.ExpectedPrice]), machinePrice that of its machine
	// alone. priced says that both are known.
	price, machinePrice offerings.Price
	priced              bool
	// cost is the disruption cost of removing the node, its pods included.
	cost float64
	// podCauses are the causes for which pods on the node may not be evicted; drifted is its kind of drift with
	// details, "" for none.
	podCauses []Cause
	drifted   string
	// bare are pods on the node that have no controller.
	bare []*corev1.Pod
	// allocatable is the node's capacity for pods other than DaemonSets', as [room.Requests] counts it.
	allocatable []int64
	// closures counts the reasons to let the node take in no pods.
	closures int
	// removed says that a step has removed the node, receivedPods that a step has moved pods to it, launched that a
	// step has launched it.
	removed, receivedPods, launched bool
	// excluded says that no step may remove the node to save, because a step has moved pods to it. It is not set by
	// forced steps where kube-scheduler spreads their pods over all other nodes, because then almost no node could be
	// consolidated.
	excluded bool
}

// initialized reports whether a node has become ready once. Launches have, because a step waits for them.
func (s *candidate) initialized() bool {
	return s.launched || s.node.Labels[scheduling.InitializedLabel] == "true"
}

// beingRemoved reports whether a node is being removed already.
func (s *candidate) beingRemoved() bool { return s.machine.Terminating || podspec.Going(s.node) }

// ready reports whether a node is ready; a node without that condition counts as ready.
func ready(node *corev1.Node) bool {
	c := lifecycle.Ready(node)
	return c == nil || c.Status == corev1.ConditionTrue
}

// poolName is the NodePool label of a node; the input need not have that pool.
func (s *candidate) poolName() string { return s.node.Labels[scheduling.NodePoolLabel] }

// ownerCause is the cause for which a node has no pool that could replace it; nil if it has one.
func (s *candidate) ownerCause() *Cause {
	switch name := s.poolName(); {
	case name == "":
		return &Cause{Code: CauseNoNodePool, Detail: "belongs to no NodePool"}
	case s.pool == nil:
		return &Cause{Code: CauseNoNodePool, Object: "nodepool/" + name, Detail: "there is no NodePool " + name}
	case s.pool.catalog.Len() == 0:
		return &Cause{Code: CauseNoTypes, Object: "nodepool/" + name, Detail: "no instance types match the NodePool"}
	}
	return nil
}

// created is when a node's machine was requested; zero if that is not known.
func (s *candidate) created() time.Time {
	if s.node == nil || !s.machine.Created.IsZero() {
		return s.machine.Created
	}
	return s.node.CreationTimestamp.Time
}

// grace is the longest time for draining a node; nil if it is not bounded.
func (s *candidate) grace() *time.Duration {
	switch {
	case s.machine.TerminationGracePeriod != nil:
		return &s.machine.TerminationGracePeriod.Duration
	case s.pool != nil && s.pool.pool.Spec.Template.Spec.TerminationGracePeriod != nil:
		return &s.pool.pool.Spec.Template.Spec.TerminationGracePeriod.Duration
	}
	return nil
}
