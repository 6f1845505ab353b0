package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/prove"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// tinyPod and tinyNode are a pod and a node, or an instance type for sale, with numbers in place of API objects, so that the
// search over all plans shares no code with the planner.
type tinyPod struct {
	cpu, memory int64
	zone        string // "" for any
	apart       bool   // at most one such pod on a node
}

type tinyNode struct {
	cpu, memory int64
	zone        string
	price       int64 // nano-USD per hour; 0 for an existing node
}

// tiny is a problem of at most five pods, five offerings and one existing node.
type tiny struct {
	pods  []tinyPod
	sale  []tinyNode
	nodes []tinyNode
}

func randomTiny(seed uint64) (x tiny) {
	r := rand.New(rand.NewPCG(seed, 12))
	zones := []string{"a", "b"}
	for range 1 + r.IntN(5) {
		x.pods = append(x.pods, tinyPod{cpu: 1 + r.Int64N(3), memory: 1 + r.Int64N(6), zone: []string{"", "", "", "a", "b"}[r.IntN(5)], apart: r.IntN(4) == 0})
	}
	for range 1 + r.IntN(5) {
		x.sale = append(x.sale, tinyNode{3 << r.IntN(2), 6 << r.IntN(2), zones[r.IntN(2)], 100 + r.Int64N(300)})
	}
	if r.IntN(2) == 0 {
		x.nodes = append(x.nodes, tinyNode{r.Int64N(4), r.Int64N(8), zones[r.IntN(2)], 0})
	}
	return x
}

// problem is x in API objects.
func (x *tiny) problem() scheduling.Problem {
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")}}
	for i, pod := range x.pods {
		opts := []st.PodOption{st.Requests(st.Cores(pod.cpu), st.GiB(pod.memory))}
		if pod.zone != "" {
			opts = append(opts, st.Select(corev1.LabelTopologyZone, pod.zone))
		}
		if pod.apart {
			opts = append(opts, st.Label("app", "apart"), st.Apart(corev1.LabelHostname))
		}
		p.Pods = append(p.Pods, st.Pod(fmt.Sprint("pod-", i), opts...))
	}
	var types []*instancetypes.InstanceType
	for i, s := range x.sale {
		types = append(types, st.Type(fmt.Sprint("type-", i), st.Capacity(st.Cores(s.cpu), st.GiB(s.memory)), st.OnDemand(s.zone, offerings.Price(s.price))))
	}
	p.Catalog = st.MustCatalog(types...)
	for i, n := range x.nodes {
		p.Nodes = append(p.Nodes, st.Node(fmt.Sprint("node-", i), st.Allocatable(st.Cores(n.cpu), st.GiB(n.memory)), st.Label(corev1.LabelTopologyZone, n.zone)))
	}
	return p
}

// bin is a node with the pods that the search over all plans has put there.
type bin struct {
	tinyNode
	apart bool // it has a pod with anti-affinity
}

// cheapest tries every plan for the pods from the given one on, beside those of bins; -1 where no plan places all.
func (x *tiny) cheapest(pod int, bins []bin) int64 {
	if pod == len(x.pods) {
		return 0
	}
	best, p := int64(-1), &x.pods[pod]
	try := func(b bin, others []bin) {
		if p.cpu > b.cpu || p.memory > b.memory || p.zone != "" && p.zone != b.zone || p.apart && b.apart {
			return
		}
		price := b.price
		b.cpu, b.memory, b.apart, b.price = b.cpu-p.cpu, b.memory-p.memory, b.apart || p.apart, 0
		if rest := x.cheapest(pod+1, append(slices.Clip(others), b)); rest >= 0 && (best < 0 || price+rest < best) {
			best = price + rest
		}
	}
	for i, b := range bins {
		try(b, slices.Concat(bins[:i], bins[i+1:]))
	}
	for _, s := range x.sale {
		try(bin{tinyNode: s}, bins)
	}
	return best
}

// TestBoundIsBelowEveryPlan: the bound is at most the price of the cheapest of all plans, verify accepts its certificate, and
// on most tiny problems the bound is that price, because their relaxation has whole solutions.
func TestBoundIsBelowEveryPlan(t *testing.T) {
	t.Parallel()
	compared, met := 0, 0
	for seed := range soak.Cases(300) {
		x := randomTiny(seed)
		var bins []bin
		for _, n := range x.nodes {
			bins = append(bins, bin{tinyNode: n})
		}
		least := x.cheapest(0, bins)
		if least < 0 {
			continue
		}
		p, policy := x.problem(), scheduling.Policy{}
		facts, err := instance.NewFacts(&p, &policy)
		require.NoError(t, err)
		plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.Empty(t, plan.Unschedulable, "seed %d", seed)
		c := facts.Compile(false)
		placed := make([]int64, len(c.Planned))
		for i, class := range c.Planned {
			placed[i] = int64(len(class.Pods))
		}
		price := plan.Summary.PricePerHour
		bound, cert := prove.NewProofs(c).Prove(t.Context(), plan, prove.ScopeOf(c, placed, prove.OnLaunches(plan)), price)
		require.LessOrEqual(t, int64(bound), least, "seed %d", seed)
		plan.Summary.LowerBoundPerHour, plan.Summary.Certificate = bound, cert
		plan.Summary.Gap, plan.Summary.Status = 0, scheduling.StatusComplete
		if bound > 0 {
			plan.Summary.Gap = float64(price-bound) / float64(bound)
		}
		require.NoError(t, verify.Plan(p, plan), "seed %d", seed)
		compared++
		if int64(bound) == least {
			met++
		}
	}
	t.Logf("%d of %d bounds are the price of the cheapest plan", met, compared)
	assert.Greater(t, met, compared*8/10)
}

// TestAgainIsProve: the bound for another plan with the same pods is that of a new proof, and no bound is asked of a plan that
// costs nothing.
func TestAgainIsProve(t *testing.T) {
	p := scheduling.Problem{
		Pods: st.Pods(3, "web", st.Requests(st.Cores(1))), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 100))),
	}
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	c := facts.Compile(false)
	proofs := prove.NewProofs(c)
	none, cert := proofs.Again(t.Context(), nil, 300)
	assert.Zero(t, none, "there is no last bound")
	assert.Nil(t, cert)
	all := prove.ScopeOf(c, []int64{3}, 3)
	first, _ := proofs.Prove(t.Context(), nil, all, 300)
	assert.Equal(t, offerings.Price(200), first, "three pods of a core need two nodes of two cores")
	again, _ := proofs.Again(t.Context(), nil, 200)
	assert.Equal(t, first, again)
	free, cert := proofs.Prove(t.Context(), nil, all, 0)
	assert.Zero(t, free)
	assert.Nil(t, cert)
}
