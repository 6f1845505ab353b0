package karpenter

import (
	"context"
	"time"

	"github.com/awslabs/operatorpkg/reconciler"
	"github.com/awslabs/operatorpkg/singleton"
	"k8s.io/apimachinery/pkg/types"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	kprovisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	kscheduler "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/metrics"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/utils/pretty"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// planTimeout bounds a plan, as Karpenter bounds its own; the best plan by then is carried out.
const planTimeout = time.Minute

// Provisioner plans pending pods in the place of Karpenter's Provisioner, under its name. Karpenter's own finds the pods
// and creates the NodeClaims.
type Provisioner struct {
	reader    Reader
	settings  Settings
	batcher   *kprovisioning.Batcher[types.UID]
	karpenter *kprovisioning.Provisioner
	warnings  warningLog
}

// NewProvisioner returns a provisioner that reads the cluster by reader and creates NodeClaims by Karpenter's provisioner.
func NewProvisioner(settings Settings, reader Reader, karpenter *kprovisioning.Provisioner) *Provisioner {
	return &Provisioner{reader: reader, settings: settings, batcher: kprovisioning.NewBatcher[types.UID](reader.Clock), karpenter: karpenter, warnings: newWarningLog()}
}

// Name is that of Karpenter's provisioner, so that logs and metrics stay where they are.
func (p *Provisioner) Name() string { return p.karpenter.Name() }

// Register registers the controller with a manager.
func (p *Provisioner) Register(_ context.Context, m manager.Manager) error {
	return controllerruntime.NewControllerManagedBy(m).
		Named(p.Name()).
		WatchesRawSource(singleton.Source()).
		Complete(singleton.AsReconciler(p))
}

// Trigger tells of a pod that needs a node, or of a node that is being removed. Pods are planned once no further one has come
// for Karpenter's BATCH_IDLE_DURATION, after its BATCH_MAX_DURATION at the latest.
func (p *Provisioner) Trigger(uid types.UID) { p.batcher.Trigger(uid) }

// Reconcile waits for a batch of pods, plans all pending pods, and creates NodeClaims. It returns after a second if there is
// no batch.
func (p *Provisioner) Reconcile(ctx context.Context) (reconciler.Result, error) {
	ctx = injection.WithControllerName(ctx, p.Name())
	again := reconciler.Result{RequeueAfter: singleton.RequeueImmediately}
	if !p.batcher.Wait(ctx) || !p.reader.Cluster.Synced(ctx) {
		return again, nil
	}
	results, err := p.Schedule(ctx)
	if err != nil {
		return reconciler.Result{}, err
	}
	if len(results.NewNodeClaims) == 0 {
		return again, nil
	}
	if _, err := p.karpenter.CreateNodeClaims(ctx, results.NewNodeClaims, kprovisioning.WithReason(metrics.ProvisionedReason), kprovisioning.RecordPodNomination); err != nil {
		return reconciler.Result{}, err
	}
	return again, nil
}

// Schedule plans all pending pods and those of nodes that are being removed, nominates existing nodes for them, and publishes
// events for pods without a node, as Karpenter's provisioner does. It creates nothing.
func (p *Provisioner) Schedule(ctx context.Context) (kscheduler.Results, error) {
	controller := injection.GetControllerName(ctx)
	measured := metrics.Measure(kscheduler.DurationSeconds, map[string]string{kscheduler.ControllerLabel: controller})
	defer measured()
	pending, err := p.karpenter.GetPendingPods(ctx)
	if err != nil {
		return kscheduler.Results{}, err
	}
	snapshot, err := p.reader.Read(ctx, pending)
	if err != nil {
		return kscheduler.Results{}, err
	}
	p.warnings.log(ctx, snapshot.Warnings)
	problem := snapshot.Cluster.Problem
	if len(problem.Pods) == 0 {
		return kscheduler.Results{}, nil
	}
	planning, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	plan, err := provisioning.Planner{Policy: p.settings.policy(ctx)}.Plan(planning, problem)
	if err != nil {
		return kscheduler.Results{}, err
	}
	p.warnings.log(ctx, plan.Warnings)
	if p.settings.Planned != nil {
		if err := p.settings.Planned(problem, plan); err != nil {
			return kscheduler.Results{}, err
		}
	}
	results, err := snapshot.Results(plan)
	if err != nil {
		return kscheduler.Results{}, err
	}
	log.FromContext(ctx).Info("planned pods", "pods", len(problem.Pods), "nodeclaims", len(plan.Launches), "unschedulable", len(plan.Unschedulable),
		"price-per-hour", plan.Summary.PricePerHour.String(), "lower-bound-per-hour", plan.Summary.LowerBoundPerHour.String())
	kscheduler.UnschedulablePodsCount.Set(float64(len(results.PodErrors)), map[string]string{kscheduler.ControllerLabel: controller})
	p.reader.Cluster.MarkPodSchedulingDecisions(ctx, results.PodErrors, results.NodePoolToPodMapping(), results.ExistingNodeToPodMapping())
	results.Record(ctx, p.reader.Recorder, p.reader.Cluster)
	return results, nil
}

// policy is the policy of plans with the settings of Karpenter's flags.
func (s Settings) policy(ctx context.Context) scheduling.Policy {
	policy := s.Policy
	flags := options.FromContext(ctx)
	if policy.Placement == "" {
		policy.Placement = scheduling.PlacementFree
	}
	if policy.MinValues == "" && flags.MinValuesPolicy == options.MinValuesPolicyBestEffort {
		policy.MinValues = scheduling.MinValuesBestEffort
	}
	if policy.Preferences == "" && flags.PreferencePolicy == options.PreferencePolicyIgnore {
		policy.Preferences = scheduling.PreferencesIgnore
	}
	return policy
}

// warningLog logs the warnings of plans that are made again and again.
type warningLog struct{ logged *pretty.ChangeMonitor }

func newWarningLog() warningLog { return warningLog{pretty.NewChangeMonitor()} }

// log logs warnings that say why a plan may be wrong once a day each, and notes at level debug.
func (l warningLog) log(ctx context.Context, warnings []scheduling.Warning) {
	for _, w := range warnings {
		switch {
		case w.Note:
			log.FromContext(ctx).V(1).Info(w.Message, "object", w.Object)
		case l.logged.HasChanged(w.Object+" "+w.Message, true):
			log.FromContext(ctx).Info(w.Message, "object", w.Object)
		}
	}
}
