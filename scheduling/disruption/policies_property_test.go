package disruption_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// anyPlanner is a planner with some of all settings that there are.
func anyPlanner(seed uint64, c *disruption.Cluster) disruption.Planner {
	r := rand.New(rand.NewPCG(seed, 0x706f6c696379)) //nolint:gosec // a test
	oneIn := func(n int) bool { return r.IntN(n) == 0 }
	p := dearPlanner(seed)
	s := &p.Policy
	s.Placement = []scheduling.PlacementPolicy{"", scheduling.PlacementPinned, scheduling.PlacementNominated, scheduling.PlacementFree, scheduling.PlacementFree}[r.IntN(5)]
	s.NoSpot = oneIn(4)
	s.Ranking.Strategy = offerings.Strategies()[r.IntN(len(offerings.Strategies()))]
	if oneIn(4) {
		s.Ranking.CapacityTypes = [][]offerings.CapacityType{{offerings.OnDemand}, {offerings.Spot, offerings.OnDemand}, {offerings.Reserved}}[r.IntN(3)]
	}
	if oneIn(4) {
		arch := []string{"arm64", "amd64"}[r.IntN(2)]
		s.Filters = append(s.Filters, func(t *instancetypes.InstanceType, _ offerings.Offering) bool {
			return t.Labels[corev1.LabelArchStable] == arch
		})
	}
	if oneIn(6) {
		s.Size.Largest = corev1.ResourceList{corev1.ResourceCPU: st.Cores(int64(1 + r.IntN(8))).Quantity}
	}
	if oneIn(6) {
		s.WorkloadShare = 1 + r.IntN(99)
	}
	if oneIn(6) {
		s.Flexibility = scheduling.Flexibility{Options: r.IntN(4), Types: r.IntN(3), Zones: r.IntN(3)}
	}
	if oneIn(6) {
		s.MinValues = scheduling.MinValuesBestEffort
	}
	if oneIn(6) {
		s.Weights = scheduling.WeightIgnore
	}
	if oneIn(6) {
		s.Preferences = []scheduling.PreferencePolicy{scheduling.PreferencesIgnore, scheduling.PreferencesPrice}[r.IntN(2)]
		s.PreferencePrice = st.Cents(int64(r.IntN(5)))
	}
	s.FewestNodes = oneIn(6)
	if oneIn(4) {
		p.MinSaving = disruption.Saving{PerHour: st.Cents(int64(r.IntN(10))), PerMonth: st.Cents(int64(r.IntN(10_000))), Share: float64(r.IntN(20)) / 100}
	}
	if oneIn(4) {
		all := []disruption.Reason{disruption.Interrupted, disruption.Expired, disruption.Drifted, disruption.Empty, disruption.Underutilized, disruption.Misplaced}
		p.Reasons = slices.DeleteFunc(all, func(disruption.Reason) bool { return oneIn(2) })
	}
	p.Rebalance = oneIn(4)
	if oneIn(6) {
		p.MinLifetime = time.Duration(r.IntN(48)) * time.Hour
	}
	if oneIn(8) {
		p.MaxSteps = 1 + r.IntN(3)
	}
	if oneIn(5) {
		inGroups(c)
	}
	return p
}

// inGroups makes the nodes of NodePools those of managed node groups.
func inGroups(c *disruption.Cluster) {
	nodes := make([]*corev1.Node, len(c.Nodes))
	for i, node := range c.Nodes {
		node = node.DeepCopy()
		if pool := node.Labels[scheduling.NodePoolLabel]; pool != "" {
			node.Labels["eks.amazonaws.com/nodegroup"] = pool
		}
		for _, key := range []string{scheduling.NodePoolLabel, scheduling.InitializedLabel, scheduling.RegisteredLabel} {
			delete(node.Labels, key)
		}
		nodes[i] = node
	}
	s := manifest.Snapshot{Problem: c.Problem}
	s.Problem.Nodes, s.Problem.NodePools, s.Problem.PoolCatalogs = nodes, nil, nil
	if s.AssumeNodePools() {
		c.Problem = s.Problem
	}
}

// No plan is rejected, whatever pods of a cluster have (resizes in place, requests for the pod as a whole,
// sidecars, overhead, host ports, devices, volumes), and whatever the settings.
func TestNoPlanIsRejected(t *testing.T) {
	// Those that were rejected: pods that are being resized, a node group whose nodes say that they are paid for in no known way, shares of
	// workloads where kube-scheduler binds pods of nodes that have to go, too few spot options for those that land.
	seeds := slices.AppendSeq([]uint64{215, 352, 604, 1251, 1695, 1881}, soak.Cases(40))
	steps := 0
	for _, seed := range seeds {
		c := st.Resized(st.RandomCluster(seed), seed)
		p := anyPlanner(seed, &c)
		plan, err := p.Plan(context.Background(), c)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		if err := (verify.StepsChecker{Planner: p}).Steps(c, plan); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		steps += len(plan.Steps)
	}
	require.Greater(t, steps, len(seeds)/3, "most clusters give nothing to do")
}
