package controller

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Errors that implementations return, possibly wrapped.
var (
	// ErrInsufficientCapacity says that the provider has none of an offering now. The controller tries the next option
	// of the launch, and leaves the offering out of plans for a while.
	ErrInsufficientCapacity = errors.New("insufficient capacity")
	// ErrEvictionBlocked says that a PodDisruptionBudget does not allow the eviction now (HTTP status 429 of the
	// eviction API). The controller tries again.
	ErrEvictionBlocked = errors.New("eviction blocked by a PodDisruptionBudget")
)

// Taint is the taint of nodes that the controller is about to remove. Its key is Karpenter's, its value tells it from
// the taint that Karpenter sets itself.
func Taint() corev1.Taint {
	return corev1.Taint{Key: scheduling.DisruptedTaint, Value: "plimsoll", Effect: corev1.TaintEffectNoSchedule}
}

// StartupTaint is a start-up taint for NodePools (spec.template.spec.startupTaints): their nodes join with it, and the
// controller removes it once it has nominated the pods that are planned for the node. Without it kube-scheduler binds
// any pending pod to a node as soon as it is ready.
func StartupTaint() corev1.Taint {
	return corev1.Taint{Key: "plimsoll-go.github.io/nominating", Effect: corev1.TaintEffectNoSchedule}
}

// Annotations of a pending pod that say on which node it is planned, and since when (RFC 3339). The plugin for kube-scheduler
// in adapters/kubescheduler reads them.
const (
	PlannedNodeAnnotation = "plimsoll-go.github.io/planned-node"
	PlannedAtAnnotation   = "plimsoll-go.github.io/planned-at"
)

// HasTaint reports whether a node has a taint of this key, value and effect.
func HasTaint(node *corev1.Node, taint corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return equalTaints(t, taint) })
}

// ApplyTaint adds a taint to a node, or removes it. Other taints stay. It changes the node.
func ApplyTaint(node *corev1.Node, taint corev1.Taint, on bool) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return equalTaints(t, taint) })
	if on {
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
}

// equalTaints compares key, value and effect.
func equalTaints(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// Provider starts and stops machines. Methods may be called from several goroutines.
type Provider interface {
	// Launch orders one machine and returns its name. It must be idempotent by Order.ID: a second call with the ID of
	// an earlier order returns that order's machine and starts no other. ErrInsufficientCapacity says that no machine was
	// started; any other error leaves it open, so that the controller repeats the call until the machine is listed or
	// RegistrationTimeout has passed.
	Launch(ctx context.Context, order Order) (name string, err error)
	// Terminate stops a machine, with or without a node. A machine that is gone is no error.
	Terminate(ctx context.Context, machine Machine) error
	// Machines lists every machine of the cluster's NodePools that runs or starts, those of earlier runs of the
	// controller among them.
	Machines(ctx context.Context) ([]Machine, error)
}

// Evictor changes nodes and pods.
type Evictor interface {
	// SetTaint adds a taint to a node, or removes it: [Taint], or [StartupTaint] where a NodePool has that. A node that is
	// gone is no error.
	SetTaint(ctx context.Context, node string, taint corev1.Taint, on bool) error
	// Evict evicts a pod by the eviction API. ErrEvictionBlocked says that it has to wait; a pod that is gone, or that
	// has another UID, is no error.
	Evict(ctx context.Context, pod *corev1.Pod) error
}

// Nominator tells the scheduler on which node a pending pod is planned.
type Nominator interface {
	// Nominate writes the node where the scheduler reads it, e.g. into status.nominatedNodeName, which kube-scheduler tries
	// first; "" takes it back. It is called once the node is ready, and once for each pod and node. A pod that is gone, that
	// has another UID or that has been bound is no error. Methods may be called from several goroutines.
	Nominate(ctx context.Context, pod *corev1.Pod, node string) error
}

// Order asks for one machine.
type Order struct {
	// ID is unique among all orders, also those of earlier runs.
	ID string
	// Option is the offering to buy. It is one of Launch.Options.
	Option scheduling.LaunchOption
	// Launch has the NodePool, the labels and taints of the node, and the pods that it is for.
	Launch scheduling.Launch
}

// Machine is a machine as the provider knows it.
type Machine struct {
	// Name is the provider's name for the machine, as Launch returned it; it is unique.
	Name string
	// Node is the name of the machine's node, if the provider knows it; otherwise the node is the one with ProviderID
	// as spec.providerID, or with Name as its name.
	Node       string
	ProviderID string
	// Order is what was ordered. A provider stores it with the machine, e.g. in tags or in a NodeClaim. Of its Launch
	// at least NodePool, Labels, Taints and StartupTaints have to come back; pods are not read. It may be empty for machines
	// that already have a node.
	Order Order
	// Created is when the machine was started; zero is unknown.
	Created time.Time
	// Facts are what else is known, e.g. an interruption notice. Node, Created, Initialized and LastPodEvent are filled in by
	// the controller where they are zero.
	Facts disruption.Machine
}
