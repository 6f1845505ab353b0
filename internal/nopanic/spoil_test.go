package nopanic

import (
	"context"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// input holds the arguments that a program passes to the library.
type input struct {
	Cluster disruption.Cluster
	Planner disruption.Planner
	Plan    *scheduling.Plan
	Steps   *disruption.ConsolidationPlan
}

// spoiled is how many inputs are spoiled.
const spoiled = 120

// Valid input of which one or two things are spoiled is refused or planned.
func TestNothingPanicsOnWhatIsSpoiled(t *testing.T) {
	for seed := range uint64(spoiled) {
		in := drawn(t, seed)
		m := &maker{t: t, rng: rand.New(rand.NewPCG(46, seed)), depth: 3}
		paths := []string{m.spoil(reflect.ValueOf(in).Elem())}
		if seed%3 == 0 {
			paths = append(paths, m.spoil(reflect.ValueOf(in).Elem()))
		}
		assert.NotPanics(t, func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			provision(ctx, t, in)
			disrupt(ctx, in)
		}, "seed %d spoils %s", seed, paths)
	}
}

// drawn is valid input: every second one with plans, every fourth without nodes, and of these every
// second one without a catalog.
func drawn(t *testing.T, seed uint64) *input {
	t.Helper()
	in := &input{Cluster: schedulingtest.RandomCluster(seed)}
	in.Planner = disruption.Planner{Now: in.Cluster.Now, Policy: scheduling.Policy{Effort: scheduling.EffortFast}, MaxSteps: 2}
	if seed%2 == 0 {
		// The plan stays nil for a problem that cannot be planned.
		in.Plan, _ = provisioning.Planner{Policy: in.Planner.Policy}.Plan(t.Context(), in.Cluster.Problem)
		in.Steps, _ = in.Planner.Plan(t.Context(), in.Cluster)
	}
	if seed%4 == 3 {
		in.Cluster.Nodes, in.Cluster.Running, in.Cluster.Machines = nil, nil, nil
		if seed%8 == 3 {
			in.Cluster.Catalog = nil
		}
	}
	return in
}

// provision passes the input to all functions that plan and explain launches.
func provision(ctx context.Context, t *testing.T, in *input) {
	t.Helper()
	p, planner := in.Cluster.Problem, provisioning.Planner{Policy: in.Planner.Policy}
	fault := provisioning.Validate(&p)
	session, refusal := provisioning.NewSession(planner.Policy, p)
	if refusal == nil {
		if fault != nil {
			assert.ErrorContains(t, fault, "catalog: is empty")
		}
		_, _ = session.Plan(ctx)
		_, _ = session.Fork().Place(ctx, scheduling.EffortFast)
	}
	_ = new(provisioning.Session).Apply(scheduling.Delta{Pods: p.Pods, Nodes: p.Nodes, NodePools: p.NodePools, DaemonSets: p.DaemonSets, Catalog: p.Catalog, Owners: p.Owners})
	_, _ = planner.Alternatives(ctx, p)
	_, _ = provisioning.Bind(p, 0)
	plan, _ := planner.Plan(ctx, p)
	for _, plan := range []*scheduling.Plan{in.Plan, plan} {
		_ = verify.Plan(p, plan)
		_, _ = provisioning.Nominations(p, plan)
		_, _ = planner.Realise(ctx, p, plan)
		_ = manifest.WriteNodeClaims(io.Discard, plan, p.NodePools)
		explain(planner, &p, plan)
	}
}

// explain asks for the explanation of everything.
func explain(planner provisioning.Planner, p *scheduling.Problem, plan *scheduling.Plan) {
	x, err := planner.Explain(*p, plan)
	if err != nil {
		return
	}
	for i := range plan.Launches {
		_, _ = x.Launch(plan.Launches[i].Name)
	}
	for _, pod := range p.Pods {
		_, _ = x.Pod(scheduling.PodName(pod))
	}
	for _, node := range p.Nodes {
		_, _ = x.Node(node.Name)
	}
}

// disrupt passes the input to all functions that plan and check steps of consolidation.
func disrupt(ctx context.Context, in *input) {
	_ = in.Cluster.Current()
	_ = in.Cluster.RebuildProblem(in.Planner)
	for _, b := range in.Cluster.PodDisruptionBudgets {
		_ = in.Cluster.BudgetFix(b)
	}
	for range in.Planner.Steps(ctx, in.Cluster) {
		continue
	}
	plan, _ := in.Planner.Plan(ctx, in.Cluster)
	checker := verify.StepsChecker{Planner: in.Planner}
	_ = checker.Steps(in.Cluster, in.Steps)
	_ = checker.Steps(in.Cluster, plan)
}
