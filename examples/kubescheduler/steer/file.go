package steer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

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
