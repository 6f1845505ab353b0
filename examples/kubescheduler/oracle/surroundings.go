package oracle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// NewSchedulerFor starts a scheduler for a problem: its fake API server holds the
// problem's [Objects], its plugin PodTopologySpread has the problem's default
// constraints, and it scores nodes as the problem's profile says.
func NewSchedulerFor(ctx context.Context, p *scheduling.Problem) (*Scheduler, error) {
	return newScheduler(ctx, p, Objects(p))
}

// Objects returns the API server's objects of a problem beside nodes and pods; see
// [schedulingtest.Objects].
func Objects(p *scheduling.Problem) []runtime.Object {
	var out []runtime.Object
	for _, o := range schedulingtest.Objects(p) {
		out = append(out, o)
	}
	return out
}

// profilesWith is kube-scheduler's default configuration with the given default spread constraints
// and the settings of the profile.
func profilesWith(spread []corev1.TopologySpreadConstraint, profile scheduling.SchedulerProfile) ([]config.KubeSchedulerProfile, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading kube-scheduler's default configuration: %w", err)
	}
	if n := int32(profile.PercentageOfNodesToScore); n > 0 { //nolint:gosec // a percentage
		cfg.Profiles[0].PercentageOfNodesToScore = &n
	}
	for _, plugin := range cfg.Profiles[0].PluginConfig {
		switch args := plugin.Args.(type) {
		case *config.PodTopologySpreadArgs:
			if len(spread) > 0 {
				args.DefaultConstraints, args.DefaultingType = spread, config.ListDefaulting
			}
		case *config.NodeResourcesFitArgs:
			score(args.ScoringStrategy, profile.Scoring)
		}
	}
	return cfg.Profiles, nil
}

// score applies a profile's scoring strategy to kube-scheduler's default one.
func score(s *config.ScoringStrategy, like scheduling.ScoringStrategy) {
	if like.Type != "" {
		s.Type = config.ScoringStrategyType(like.Type)
	}
	if len(like.Resources) > 0 {
		s.Resources = nil
	}
	for _, r := range like.Resources {
		s.Resources = append(s.Resources, config.ResourceSpec{Name: string(r.Name), Weight: max(r.Weight, 1)})
	}
	if len(like.Shape) > 0 {
		s.RequestedToCapacityRatio = &config.RequestedToCapacityRatioParam{}
	}
	for _, p := range like.Shape {
		s.RequestedToCapacityRatio.Shape = append(s.RequestedToCapacityRatio.Shape, config.UtilizationShapePoint(p))
	}
}
