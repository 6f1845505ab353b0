package steer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Args are the plugin's arguments in a scheduler configuration.
type Args struct {
	// PlanFile is the path of a plan, as "plimsoll plan -o json" writes it.
	PlanFile string `json:"planFile"`
}

// FromFile makes the plugin for the plan that the scheduler configuration names, see
// [Args]. It is meant for programs that are configured rather than compiled.
func FromFile(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	var a Args
	if err := frameworkruntime.DecodeInto(args, &a); err != nil {
		return nil, fmt.Errorf("%s: reading arguments: %w", Name, err)
	}
	if a.PlanFile == "" {
		return nil, errors.New(Name + ": planFile is missing")
	}
	data, err := os.ReadFile(a.PlanFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	var plan scheduling.Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return nil, fmt.Errorf("%s: %s is no plan: %w", Name, a.PlanFile, err)
	}
	return New(FromPlan(&plan))(ctx, args, h)
}

// LaunchLabel is the label that names the launch of a node, e.g. "default-1".
const LaunchLabel = "plimsoll-go.github.io/launch"

// Placements map pods, as namespace/name, to the name of a node or of a launch. Other pods
// go where kube-scheduler's scores put them.
type Placements map[string]string

// FromPlan returns the placements of a plan: pods of launches go to the node with the
// launch's label, pods on existing nodes to the node by name. Pods that the plan gives up
// on are left out.
func FromPlan(plan *scheduling.Plan) Placements {
	p := Placements{}
	for pod, at := range plan.Placements() {
		p[pod.String()] = at.Name()
	}
	return p
}

// target returns where a pod is to go.
func (p Placements) target(pod *corev1.Pod) (string, bool) {
	t, ok := p[pod.Namespace+"/"+pod.Name]
	return t, ok
}

// reaches reports whether a placement's target is the node's name or its launch label.
func reaches(target string, node *corev1.Node) bool {
	return node.Name == target || node.Labels[LaunchLabel] == target
}
