package oracle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// NewSchedulerFor starts a scheduler for a problem: its fake API server holds the
// problem's [Objects], and its plugin PodTopologySpread has the problem's default
// constraints.
func NewSchedulerFor(ctx context.Context, p *scheduling.Problem) (*Scheduler, error) {
	return newScheduler(ctx, p.DefaultSpread, Objects(p))
}

// Objects are what an API server holds of a problem beside nodes and pods; see
// [schedulingtest.Objects].
func Objects(p *scheduling.Problem) []runtime.Object {
	var out []runtime.Object
	for _, o := range schedulingtest.Objects(p) {
		out = append(out, o)
	}
	return out
}

// profilesWith is kube-scheduler's default configuration, with default constraints.
func profilesWith(spread []corev1.TopologySpreadConstraint) ([]config.KubeSchedulerProfile, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading kube-scheduler's default configuration: %w", err)
	}
	if len(spread) == 0 {
		return cfg.Profiles, nil
	}
	for _, plugin := range cfg.Profiles[0].PluginConfig {
		args, ok := plugin.Args.(*config.PodTopologySpreadArgs)
		if ok && plugin.Name == names.PodTopologySpread {
			args.DefaultConstraints, args.DefaultingType = spread, config.ListDefaulting
			return cfg.Profiles, nil
		}
	}
	return nil, fmt.Errorf("the default configuration has no arguments for %s", names.PodTopologySpread)
}
