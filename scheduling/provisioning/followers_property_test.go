package provisioning_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Pods have affinity and anti-affinity to each other, in circles, and are large for their nodes: plans keep every rule,
// and next to no pod that could bind is left without a place (P118-P127).
func TestFollowersProperty(t *testing.T) {
	t.Parallel()
	cases, refused := 0, 0
	for seed := range soak.Cases(400) {
		p, effort := followers(seed)
		policy := scheduling.Policy{Effort: effort}
		plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.NoError(t, verify.Checker{Policy: policy, SkipRefusals: true}.Plan(p, plan), "seed %d", seed)
		if cases++; (verify.Checker{Policy: policy}).Plan(p, plan) != nil {
			refused++
		}
	}
	require.LessOrEqual(t, refused, 1+cases/100)
}

// followers draws a problem of few pods, nodes that are there, and one machine on sale.
func followers(seed uint64) (scheduling.Problem, scheduling.Effort) {
	r := rand.New(rand.NewPCG(seed, 83))
	zone := func() st.NodeOption { return st.Label(corev1.LabelTopologyZone, []string{"a", "b"}[r.IntN(2)]) }
	cpu := func(most int) st.PodOption { return st.Requests(st.MilliCPU(100 * int64(1+r.IntN(most)))) }
	apps := []string{"x", "y", "z"}
	// labeled is a pod of an app, every other one in front.
	labeled := func(opts ...st.PodOption) []st.PodOption {
		opts = append(opts, st.Label("app", apps[r.IntN(3)]))
		if r.IntN(2) == 0 {
			opts = append(opts, st.Label("tier", "front"))
		}
		return opts
	}
	whom := func() st.TermOption {
		switch n := r.IntN(5); n {
		case 3:
			return st.Of("tier", "front")
		case 4:
			return st.OfAll()
		default:
			return st.Of("app", apps[n])
		}
	}
	p := scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog:   st.MustCatalog(st.Type("m.large", st.Capacity(st.Cores(1<<r.IntN(3)), st.GiB(8)), st.OnDemand("a", 100_000_000), st.Spot("b", 50_000_000))),
	}
	for i := range 1 + r.IntN(3) {
		p.Nodes = append(p.Nodes, st.Node(fmt.Sprintf("n%d", i), st.Allocatable(st.Cores(4), st.GiB(8)), zone()))
	}
	for i := range r.IntN(3) {
		on := st.OnNode(p.Nodes[r.IntN(len(p.Nodes))].Name)
		p.Running = append(p.Running, st.Pod(fmt.Sprintf("r%d", i), labeled(cpu(15), on)...))
	}
	for i := range 2 + r.IntN(4) {
		opts := labeled(cpu(30))
		if r.IntN(4) == 0 {
			opts = append(opts, st.Priority(r.Int32N(3)))
		}
		for range r.IntN(3) {
			key := corev1.LabelHostname
			if r.IntN(4) == 0 {
				key = corev1.LabelTopologyZone
			}
			if r.IntN(4) == 0 {
				opts = append(opts, st.Apart(key, whom()))
			} else {
				opts = append(opts, st.Near(key, whom()))
			}
		}
		p.Pods = append(p.Pods, st.Pods(1+max(0, r.IntN(6)-3), fmt.Sprintf("p%d", i), opts...)...)
	}
	effort := scheduling.EffortDefault
	if r.IntN(2) == 0 {
		effort = scheduling.EffortFast
	}
	return p, effort
}
