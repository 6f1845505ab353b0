package karpenter

import (
	"cmp"
	"context"
	"time"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/awslabs/operatorpkg/option"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers"
	kdisruption "sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	kprovisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Settings are the settings of the planners. The zero value works.
type Settings struct {
	// Policy is how nodes are chosen. Where its MinValues and Preferences are "", Karpenter's flags decide; where its
	// Placement is "", it is scheduling.PlacementFree, because kube-scheduler binds the pods.
	Policy scheduling.Policy
	// Disruption plans which nodes to remove. Its Policy, Reasons and Now are set by the controllers, and where its
	// SpotToSpotTypes is 0, Karpenter's feature gate SpotToSpotConsolidation decides whether spot may replace spot.
	Disruption disruption.Planner
	// ValidateAfter is the time after which commands for consolidation are checked once more; 0 is 15 s, as in Karpenter, and
	// below 0 they are checked at once.
	ValidateAfter time.Duration
	// Planned is told each plan for pending pods before NodeClaims are created, Consolidating each plan of disruption before its
	// commands begin; nil for none. They must change neither. An error stops the plan from being carried out.
	Planned       func(scheduling.Problem, *scheduling.Plan) error
	Consolidating func(disruption.Planner, disruption.Cluster, *disruption.ConsolidationPlan) error
}

// validateAfter is the wait before the check; 0 is none.
func (s Settings) validateAfter() time.Duration {
	return max(0, cmp.Or(s.ValidateAfter, 15*time.Second))
}

// NewControllers returns Karpenter's controllers, of which provisioning and disruption plan with Plimsoll. It takes the place
// of controllers.NewControllers in the main function of a build of Karpenter, and has the same parameters.
func NewControllers(
	ctx context.Context, mgr manager.Manager, clk clock.Clock, kubeClient client.Client, recorder events.Recorder,
	cloudProvider, overlayUndecorated cloudprovider.CloudProvider, cluster *state.Cluster, store *nodeoverlay.InstanceTypeStore,
	opts ...option.Function[controllers.ControllerOptions],
) []controller.Controller {
	return Settings{}.NewControllers(ctx, mgr, clk, kubeClient, recorder, cloudProvider, overlayUndecorated, cluster, store, opts...)
}

// NewControllers is [NewControllers] with settings.
func (s Settings) NewControllers(
	ctx context.Context, mgr manager.Manager, clk clock.Clock, kubeClient client.Client, recorder events.Recorder,
	cloudProvider, overlayUndecorated cloudprovider.CloudProvider, cluster *state.Cluster, store *nodeoverlay.InstanceTypeStore,
	opts ...option.Function[controllers.ControllerOptions],
) []controller.Controller {
	list := controllers.NewControllers(ctx, mgr, clk, kubeClient, recorder, cloudProvider, overlayUndecorated, cluster, store, opts...)
	reader := Reader{Client: kubeClient, Cluster: cluster, CloudProvider: cloudProvider, Clock: clk, Recorder: recorder}
	return s.Exchange(ctx, reader, list)
}

// Exchange returns the list of Karpenter's controllers with those of provisioning and disruption exchanged: the provisioner, the
// two controllers that trigger it, and the disruption controller. Other controllers stay, among them the ones for static
// NodePools, expiry, termination, and the queue of disruption commands. The list stays as it is, with an error in the
// log, where the feature gate CapacityBuffer is on, because buffers are not planned, and where one of the controllers
// is missing.
func (s Settings) Exchange(ctx context.Context, reader Reader, list []controller.Controller) []controller.Controller {
	karpenter, provisions := find[*kprovisioning.Provisioner](list)
	queue, orchestrates := find[*kdisruption.Queue](list)
	switch {
	case !provisions || !orchestrates:
		log.FromContext(ctx).Error(nil, "Plimsoll plans nothing: the controllers have no provisioner or no queue of disruption commands")
		return list
	case options.FromContext(ctx).FeatureGates.CapacityBuffer:
		log.FromContext(ctx).Error(nil, "Plimsoll plans nothing: feature gate CapacityBuffer is on, and buffers are not planned")
		return list
	}
	provisioner := NewProvisioner(s, reader, karpenter)
	out := make([]controller.Controller, 0, len(list))
	for _, c := range list {
		switch c.(type) {
		case *kprovisioning.Provisioner:
			c = provisioner
		case *kprovisioning.PodController:
			c = newPodTrigger(provisioner)
		case *kprovisioning.NodeController:
			c = newNodeTrigger(provisioner)
		case *kdisruption.Controller:
			c = provisioner.disruptionController(queue)
		}
		out = append(out, c)
	}
	return out
}

// disruptionController is Karpenter's disruption controller with the methods of [Provisioner.DisruptionMethods].
func (p *Provisioner) disruptionController(queue *kdisruption.Queue) *kdisruption.Controller {
	r := p.reader
	methods := p.DisruptionMethods(queue, kdisruption.NewMethods(r.Clock, r.Cluster, r.Client, p.karpenter, r.CloudProvider, r.Recorder, queue)...)
	return kdisruption.NewController(r.Clock, r.Client, p.karpenter, r.CloudProvider, r.Recorder, r.Cluster, queue, nil, kdisruption.WithMethods(methods...))
}

// DisruptionMethods returns Karpenter's methods of disruption with those for drift and consolidation exchanged for methods that
// plan; queue has the commands under way. A plan moves any number of nodes, so that there is one method for consolidation.
// Other methods, e.g. for empty nodes and static NodePools, need no plan and stay.
func (p *Provisioner) DisruptionMethods(queue *kdisruption.Queue, methods ...kdisruption.Method) []kdisruption.Method {
	planned := func(reason disruption.Reason, rules kdisruption.Method) *method {
		return &method{rules: rules, reason: reason, reader: p.reader, settings: p.settings, queue: queue, karpenter: p.karpenter, warnings: p.warnings}
	}
	var out []kdisruption.Method
	for _, m := range methods {
		switch m.(type) {
		case *kdisruption.Drift:
			m = planned(disruption.Drifted, m)
		case *kdisruption.MultiNodeConsolidation:
			m = planned(disruption.Underutilized, m)
		case *kdisruption.SingleNodeConsolidation:
			continue
		}
		out = append(out, m)
	}
	return out
}

// find returns the first controller of a type.
func find[T controller.Controller](list []controller.Controller) (T, bool) {
	for _, c := range list {
		if found, ok := c.(T); ok {
			return found, true
		}
	}
	var none T
	return none, false
}
