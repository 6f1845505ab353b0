package kubescheduler

import (
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// LaunchLabel is the label of nodes that names their launch in the plan, e.g. "default-1".
const LaunchLabel = "plimsoll-go.github.io/launch"

// Errors of sources, possibly wrapped.
var (
	// ErrNoPlan says that there is no plan at all.
	ErrNoPlan = errors.New("there is no plan")
	// ErrNotPlanned says that the plan has no node for the pod.
	ErrNotPlanned = errors.New("the pod is not planned")
)

// Source knows the nodes on which pods are planned. Its methods are called from several goroutines.
type Source interface {
	// Placement returns where a pod is planned, or an error why not: ErrNoPlan, ErrNotPlanned or any other. With an error
	// the pod is scheduled as without the plugin.
	Placement(pod *corev1.Pod) (Placement, error)
}

// Placement is the node of a pod in a plan.
type Placement struct {
	// Node is the name of a running node. Without it, Launch is the name of a launch whose node has the label LaunchLabel.
	Node, Launch string
	// At is when the plan was made; zero never gets old.
	At time.Time
}

// admits reports whether a node is the planned one.
func (p Placement) admits(node *corev1.Node) bool {
	if p.Node != "" {
		return node.Name == p.Node
	}
	return node.Name == p.Launch || node.Labels[LaunchLabel] == p.Launch
}

// equal compares times as instants.
func (p Placement) equal(q Placement) bool {
	return p.Node == q.Node && p.Launch == q.Launch && p.At.Equal(q.At)
}

// name is the planned node in messages.
func (p Placement) name() string {
	if p.Node != "" {
		return "node " + p.Node
	}
	return "the node of launch " + p.Launch
}

// Plan is a [Source] in memory, for programs that plan and schedule in one process. The zero value has no plan.
type Plan struct {
	mu         sync.RWMutex
	placements map[string]Placement // by namespace/name; nil without a plan
}

// Set replaces the plan; nil is no plan. at is when it was made; zero never gets old.
func (p *Plan) Set(plan *scheduling.Plan, at time.Time) {
	var placements map[string]Placement
	if plan != nil {
		placements = map[string]Placement{}
		for i := range plan.Launches {
			for _, pod := range plan.Launches[i].Pods {
				placements[pod] = Placement{Launch: plan.Launches[i].Name, At: at}
			}
		}
		for i := range plan.Existing {
			for _, pod := range plan.Existing[i].Pods {
				placements[pod] = Placement{Node: plan.Existing[i].Node, At: at}
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.placements = placements
}

// Placement returns the node of a pod.
func (p *Plan) Placement(pod *corev1.Pod) (Placement, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.placements == nil {
		return Placement{}, ErrNoPlan
	}
	at, ok := p.placements[scheduling.PodName(pod)]
	if !ok {
		return Placement{}, ErrNotPlanned
	}
	return at, nil
}

// Annotations is the [Source] that reads the annotations of pods that informers.Annotator of adapters/controller writes:
// plimsoll-go.github.io/planned-node is the name of a node, and plimsoll-go.github.io/planned-at when it was planned
// (RFC 3339; without it the plan never gets old).
type Annotations struct{}

// Placement reads the annotations of a pod.
func (Annotations) Placement(pod *corev1.Pod) (Placement, error) {
	node := pod.Annotations[controller.PlannedNodeAnnotation]
	if node == "" {
		return Placement{}, ErrNotPlanned
	}
	out := Placement{Node: node}
	if at := pod.Annotations[controller.PlannedAtAnnotation]; at != "" {
		var err error
		if out.At, err = time.Parse(time.RFC3339, at); err != nil {
			return Placement{}, fmt.Errorf("pod %s: annotation %s: %w", scheduling.PodName(pod), controller.PlannedAtAnnotation, err)
		}
	}
	return out, nil
}
