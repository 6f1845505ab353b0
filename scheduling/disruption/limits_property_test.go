package disruption_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// limited gives most pools of a cluster limits of about what their nodes have, or less.
func limited(c disruption.Cluster, seed uint64) disruption.Cluster {
	rng := rand.New(rand.NewPCG(seed, 77))
	for _, pool := range c.NodePools {
		if rng.IntN(4) == 0 {
			continue
		}
		var cpu, nodes int64
		for _, node := range c.Nodes {
			if node.Labels[scheduling.NodePoolLabel] == pool.Name {
				cpu, nodes = cpu+node.Status.Capacity.Cpu().MilliValue(), nodes+1
			}
		}
		share := 6 + rng.Int64N(7)
		limits := corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(cpu*share/10, resource.DecimalSI)}
		if rng.IntN(2) == 0 {
			limits[scheduling.NodesResource] = *resource.NewQuantity((nodes*share+5)/10, resource.DecimalSI)
		}
		pool.Spec.Limits = limits
	}
	return c
}

// No step buys beyond a limit, whichever steps come after it (P68), nor moves pods into fewer domains because a limit leaves
// too little to be bought in them (P95), as would those of the last two. Where nodes are taken away the plan tells of it.
func TestStepsKeepLimits(t *testing.T) {
	for _, seed := range slices.AppendSeq([]uint64{15, 37, 80, 106, 169, 150, 178}[:race.Fewer(7, 1)], soak.Cases(3)) {
		p := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		if seed%2 == 1 {
			p = freely(p)
		}
		c := limited(fewDomains(seed), seed)
		for _, taken := range []bool{false, true} {
			for i := range c.Machines {
				if m := &c.Machines[i]; taken && m.Drift != "" {
					m.Interruption = &disruption.Interruption{}
				}
			}
			plan, err := p.Plan(t.Context(), c)
			require.NoError(t, err)
			require.NoError(t, verify.StepsChecker{Planner: p, SkipBound: true}.Steps(c, plan), "seed %d, taken away: %v", seed, taken)
		}
	}
}
