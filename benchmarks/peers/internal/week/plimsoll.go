package week

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/adapters/controller/simulation"
	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// disruptEvery is the time between two plans of consolidation.
const disruptEvery = 10 * time.Minute

// minSaving is the least saving of a step of consolidation where no other is given, as a share of the price of its nodes.
const minSaving = 0.1

// plimsoll is the controller of adapters/controller, with the settings that its README shows and each plan verified.
type plimsoll struct {
	*controller.Controller
	now time.Time
}

// newPlimsoll starts a controller. saving is the least saving of a step of consolidation, as a share of the price of its nodes.
func newPlimsoll(w *simulation.World, p scheduling.Problem, saving float64) (*plimsoll, error) {
	a := &plimsoll{now: simulation.Start()}
	pool := *p.NodePools[0]
	pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{controller.StartupTaint()}
	p.NodePools, p.DaemonSets = []*scheduling.NodePool{&pool}, nil // the DaemonSet comes as an event
	var err error
	a.Controller, err = controller.New(controller.Options{
		Policy:    scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementNominated},
		Nominator: w.Cluster,
		Disruption: disruption.Planner{
			Policy:    scheduling.Policy{Effort: scheduling.EffortFast, Placement: scheduling.PlacementFree},
			MinSaving: disruption.Saving{Share: saving},
		},
		DisruptEvery:  disruptEvery,
		BatchIdle:     -1, // as for the others, because a round is longer than a batch
		ListEvery:     -1, // because a notice leaves four rounds
		Parallel:      1,  // so that equal seeds give equal weeks
		Run:           "week",
		Log:           slog.New(slog.DiscardHandler),
		Clock:         func() time.Time { return a.now },
		Planned:       verify.Plan,
		Consolidating: verifySteps,
	}, w.Cloud, w.Cluster, p)
	return a, err
}

// Reconcile implements [Autoscaler].
func (a *plimsoll) Reconcile(ctx context.Context, now time.Time) error {
	a.now = now
	_, err := a.Controller.Reconcile(ctx)
	return err
}

// plannedInKarpenter are settings of adapters/karpenter: those of the controller, with each plan verified. Steps are checked
// once more at once, because the clock stands still during a round.
func plannedInKarpenter() *karpenter.Settings {
	return &karpenter.Settings{
		Policy:        scheduling.Policy{Effort: scheduling.EffortFast},
		Disruption:    disruption.Planner{MinSaving: disruption.Saving{Share: minSaving}},
		ValidateAfter: -1,
		Planned:       verify.Plan,
		Consolidating: verifySteps,
	}
}

// verifySteps checks each step of a plan.
func verifySteps(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	return verify.StepsChecker{Planner: planner}.Steps(c, plan)
}
