package verify_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// zonesMarket sells machines of one core for 100 nano-USD in zone a, 160 in b and 250 in c.
func zonesMarket(pods []*corev1.Pod, change ...func(*scheduling.Problem)) scheduling.Problem {
	p := scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(1), st.GiB(8), st.Count(corev1.ResourcePods, 1)), st.OnDemand("a", 100), st.OnDemand("b", 160), st.OnDemand("c", 250)))}
	for _, f := range change {
		f(&p)
	}
	return p
}

// inZones buys a machine for each pod, in one zone after the other.
func inZones(p scheduling.Problem, zones string) *fixture {
	var buys []buy
	for i, pod := range p.Pods {
		zone, pool := zones[i:i+1], "pool"
		if len(p.NodePools) > 1 && zone == "c" {
			pool = "picky"
		}
		buys = append(buys, buy{pool: pool, pods: pod.Name, options: []string{"m/" + zone + "/on-demand"}})
	}
	f := buying(p, buys...)
	f.skip = true
	return f
}

// solved is a problem with a solver's plan, of which the certificate proves the bound and no more.
func solved(t *testing.T, p scheduling.Problem, solver scheduling.Policy) *fixture {
	t.Helper()
	plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
	require.NoError(t, err)
	f := &fixture{p: p, plan: plan, solver: solver, skip: true}
	bound := plan.Summary.LowerBoundPerHour
	require.Empty(t, boundCodes(t, f, bound))
	assert.NotEmpty(t, boundCodes(t, f, bound+1))
	return f
}

func TestWhatSpreadsProve(t *testing.T) {
	web := func(n int, opts ...st.PodOption) []*corev1.Pod {
		return st.Pods(n, "p", append([]st.PodOption{st.Requests(st.Cores(1)), st.Label("app", "web")}, opts...)...)
	}
	five, three := web(5, st.Spread(zoneOf)), web(3, st.Apart(zoneOf))
	less := func(zones ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(zones); i += 2 {
			out[zones[i]] = zones[i+1]
		}
		return out
	}
	usual := less("a", "150", "b", "90")
	running := func(p *scheduling.Problem) {
		p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(500), st.GiB(4)), st.Label(zoneOf, "a"))}
		p.Running = st.Pods(1, "r", st.Label("app", "web"), st.OnNode("n"))
	}
	astray := func(p *scheduling.Problem) {
		p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(500), st.GiB(4)))}
	}
	large := func(p *scheduling.Problem) {
		p.Catalog = st.MustCatalog(
			st.Type("m", st.Capacity(st.Cores(1), st.GiB(8), st.Count(corev1.ResourcePods, 1)), st.OnDemand("a", 100), st.OnDemand("b", 160), st.OnDemand("c", 250)),
			st.Type("xl", st.Capacity(st.Cores(2), st.GiB(16), st.Count(corev1.ResourcePods, 2)), st.OnDemand("c", 260)))
	}
	picky := func(p *scheduling.Problem, types int) {
		p.NodePools = []*scheduling.NodePool{
			st.NodePool("pool", st.Where(st.In(zoneOf, "a", "b"))),
			st.NodePool("picky", st.Where(st.In(zoneOf, "c"), st.AtLeast(types, st.Exists(corev1.LabelInstanceTypeStable)))),
		}
	}
	met := func(p *scheduling.Problem) { picky(p, 1) }
	unmet := func(p *scheduling.Problem) { picky(p, 2) }
	closed := func(p *scheduling.Problem) {
		picky(p, 1)
		p.NodePools[1] = st.NodePool("picky", st.Where(st.In(zoneOf, "c")), st.MaxNodes(0))
	}
	for _, tc := range []struct {
		name    string
		p       scheduling.Problem
		zones   string // of the pods
		worth   string
		less    map[string]string
		further map[string]string
		proven  offerings.Price
	}{
		{"two in the cheap zones", zonesMarket(five), "aabbc", "250", usual, nil, 770},
		{"one nano-USD too much", zonesMarket(five), "aabbc", "251", usual, nil, -1},
		{"too little off in one zone", zonesMarket(five), "aabbc", "250", less("a", "149", "b", "90"), nil, -1},
		{"off in the wrong zone", zonesMarket(five), "aabbc", "250", less("a", "90", "b", "150"), nil, -1},
		{"nothing off", zonesMarket(five), "aabbc", "250", less(), nil, -1},
		{"too much off", zonesMarket(five), "aabbc", "250", less("a", "160", "b", "90"), nil, 750},
		{"more off than there is", zonesMarket(five), "aabbc", "250", less("a", "400", "b", "90"), nil, 270},
		{"off in no zone", zonesMarket(five), "aabbc", "250", less("a", "150", "b", "90", "z", "70"), nil, 770},
		{"more skew", zonesMarket(web(5, st.Spread(zoneOf, st.Skew(2)))), "aaabc", "250", usual, nil, 710},
		{"one runs", zonesMarket(five, running), "abbcc", "250", usual, nil, 920},
		{"one that counts and goes anywhere", zonesMarket(append(web(5, st.Spread(zoneOf)), st.Pod("q", st.Requests(st.Cores(1)), st.Label("app", "web")))), "aabbca", "250", usual, nil, 770},
		{"a zone of a pool with minValues", zonesMarket(five, met), "aabbc", "250", usual, nil, 770},
		{"a zone of a pool with minValues that nothing meets", zonesMarket(five, unmet), "aaabb", "250", usual, nil, 620},
		{"a zone of a pool that is full", zonesMarket(five, closed), "aaabb", "250", usual, nil, 620},
		{"a large machine", zonesMarket(five, large), "aabbc", "250", usual, nil, -1},
		{"pods beyond the least", zonesMarket(five, large), "aabbc", "250", usual, less("a", "150", "b", "90", "c", "240"), 620},
		{"too little off beyond", zonesMarket(five, large), "aabbc", "250", usual, less("a", "150", "b", "90", "c", "239"), -1},
		{"one in each zone", zonesMarket(three), "abc", "250", usual, nil, 510},
		{"one that is worth too much", zonesMarket(three), "abc", "251", usual, nil, -1},
		{"one where none runs", zonesMarket(three[:2], running), "bc", "250", usual, nil, 410},
		{"those that are kept apart may ask for different zones", zonesMarket(append(web(2, st.Apart(zoneOf)), st.Pod("q", st.Requests(st.Cores(1)), st.Label("app", "web"), st.Apart(zoneOf), st.Select(zoneOf, "c")))), "abc", "250", usual, nil, 260},
		{"two in a zone that are kept apart", zonesMarket(three), "aab", "250", usual, nil, -2},
		{"a node in no zone", zonesMarket(three, astray), "abc", "250", usual, nil, -2},
		{"pods that keep others away", zonesMarket(web(3, st.Apart(zoneOf, st.Of("app", "api")))), "abc", "250", usual, nil, -2},
		{"pods that would rather be apart", zonesMarket(web(3, st.Apart(zoneOf, st.Weight(1)))), "abc", "250", usual, nil, -2},
		{"the plan breaks the bounds", zonesMarket(five), "aaabc", "250", usual, nil, -2},
		{"no whole number", zonesMarket(five), "aabbc", "250", less("a", "1.5"), nil, -2},
		{"a negative number", zonesMarket(five), "aabbc", "250", usual, less("a", "-1"), -2},
		{"a wish", zonesMarket(web(5, st.Spread(zoneOf, st.Soft()))), "aabbc", "250", usual, nil, -2},
		{"spread over hosts", zonesMarket(web(5, st.Spread(hostName))), "aabbc", "250", usual, nil, -2},
		{"spread by others", zonesMarket(web(5, st.Spread(zoneOf, st.Of("app", "api")))), "aabbc", "250", usual, nil, -2},
	} {
		for _, kind := range []string{"assignment", "pattern"} {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				f := inZones(tc.p, tc.zones)
				f.plan.Summary.Certificate = &scheduling.Certificate{
					Kind: kind, Values: map[string]string{"default/p-1": tc.worth}, Vectors: vectors{{}, {"pods": "10"}, {"pods": "100"}, {"pods": "160"}},
					Spreads: []scheduling.DomainSpread{{Pod: "default/p-1", Less: tc.less, Further: tc.further}},
				}
				prove(t, f, tc.proven)
			})
		}
	}
	t.Run("no such pod", func(t *testing.T) {
		f := inZones(zonesMarket(five), "aabbc")
		f.plan.Summary.Certificate = &scheduling.Certificate{Kind: "assignment", Spreads: []scheduling.DomainSpread{{Pod: "default/z"}}}
		prove(t, f, -2)
	})
	t.Run("beside resources", func(t *testing.T) {
		f := placing(zonesMarket(five), 0, map[string]string{"cpu": "0"})
		f.plan.Summary.Certificate.Spreads = []scheduling.DomainSpread{{Pod: "default/p-1"}}
		prove(t, f, -2)
	})
}

// servicesInZones are services of which most are spread over zones that differ in price.
func servicesInZones(seed uint64) scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 5))
	var types []*instancetypes.InstanceType
	for cores := int64(1); cores <= 16; cores *= 2 {
		opts := []st.TypeOption{st.Capacity(st.Cores(cores), st.GiB(4*cores)), st.KubeReserved(st.MilliCPU(100))}
		for _, zone := range []string{"a", "b", "c"} {
			opts = append(opts, st.Spot(zone, offerings.Price(cores*(70_000_000+r.Int64N(90_000_000)))))
		}
		types = append(types, st.Type(fmt.Sprintf("m-%02d", cores), opts...))
	}
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(types...)}
	for i := range 12 {
		name := fmt.Sprintf("w%d", i)
		opts := []st.PodOption{st.Label("app", name), st.Requests(st.MilliCPU(100+r.Int64N(1500)), st.MiB(100+r.Int64N(4000)))}
		if i%3 > 0 {
			opts = append(opts, st.Spread(zoneOf))
		}
		if i%4 == 0 {
			opts = append(opts, st.Apart(hostName))
		}
		p.Pods = append(p.Pods, st.Pods(2+r.IntN(9), name, opts...)...)
	}
	return p
}

// What the solver proves of spread pods where zones differ in price holds, and nothing more:
// without what it says of zones, or with more worth, it no longer does.
func TestSpreadsOfTheSolver(t *testing.T) {
	t.Parallel()
	used, further, parted, seeds := 0, 0, 0, 3
	for seed := range uint64(seeds) {
		p := servicesInZones(seed)
		solver := scheduling.Policy{Effort: []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault}[seed%2]}
		f := solved(t, p, solver)
		s := f.plan.Summary
		c, bound := s.Certificate, s.LowerBoundPerHour
		if c.Parted != nil {
			parted++
			spoiltCases(t, f, seed)
		}
		if len(c.Spreads) == 0 {
			continue // or each case has spreads
		}
		used++
		spreads := c.Spreads
		c.Spreads = nil
		assert.NotEmpty(t, boundCodes(t, f, bound), "seed %d: without zones", seed)
		c.Spreads = spreads
		for i := range spreads {
			all := c.Spreads[i]
			for zone, n := range all.Less {
				more, _ := new(big.Int).SetString(n, 10)
				all.Less[zone] = more.Mul(more, big.NewInt(3)).String()
				assert.NotEmpty(t, boundCodes(t, f, bound), "seed %d, %s: less worth in %s", seed, all.Pod, zone)
				delete(all.Less, zone)
				assert.NotEmpty(t, boundCodes(t, f, s.PricePerHour+1), "seed %d, %s: more worth in %s", seed, all.Pod, zone)
				all.Less[zone] = n
			}
			if all.Further != nil {
				further++
				c.Spreads[i].Further = map[string]string{}
				assert.NotEmpty(t, boundCodes(t, f, s.PricePerHour+1), "seed %d, %s: more worth beyond the least", seed, all.Pod)
				c.Spreads[i] = all
			}
			other := c.Spreads[(i+1)%len(spreads)].Pod
			if other != all.Pod && !strings.HasPrefix(other, strings.TrimRight(all.Pod, "0123456789")) {
				c.Spreads[i].Pod = other
				assert.NotEmpty(t, boundCodes(t, f, s.PricePerHour+1), "seed %d, %s in place of %s", seed, other, all.Pod)
				c.Spreads[i] = all
			}
		}
		for pod, worth := range c.Values {
			n, _ := new(big.Int).SetString(worth, 10)
			c.Values[pod] = n.Mul(n, big.NewInt(3)).String()
			assert.NotEmpty(t, boundCodes(t, f, s.PricePerHour+1), "seed %d, %s", seed, pod)
			c.Values[pod] = worth
		}
	}
	assert.Greater(t, used, seeds/3)
	assert.Positive(t, further)
	assert.Positive(t, parted)
}

// spoiltCases tells of a bound that is proven by cases that count machines zone by zone.
func spoiltCases(t *testing.T, f *fixture, seed uint64) {
	c, bound := f.plan.Summary.Certificate, f.plan.Summary.LowerBoundPerHour
	zone := c.Parted.Domain
	assert.Contains(t, []string{"a", "b", "c"}, zone)
	for _, other := range []string{"", "a", "b", "c", "nowhere"} {
		if c.Parted.Domain = other; other != zone {
			assert.NotEmpty(t, boundCodes(t, f, bound), "seed %d: %q in place of %q", seed, other, zone)
		}
	}
	c.Parted.Domain = zone
	leaf := c
	for leaf.Parted != nil {
		leaf = leaf.Parted.More
	}
	require.NotEmpty(t, leaf.Spreads)
	leaf.Spreads = nil
	assert.NotEmpty(t, boundCodes(t, f, bound), "seed %d: without spreads", seed)
}

// inRacks is a problem of pods that are spread over racks, a label that the cheap pool and the dear one leave open, or set.
func inRacks(cheap, dear st.Option, pods int) scheduling.Problem {
	small := st.Type("m.small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)), st.Spot("a", st.Cents(3)))
	large := st.Type("m.large", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", st.Cents(38)), st.Spot("a", st.Cents(11)))
	return scheduling.Problem{
		Catalog: st.MustCatalog(small, large),
		NodePools: []*scheduling.NodePool{
			st.NodePool("cheap", st.Where(st.In(scheduling.CapacityTypeLabel, "spot")), cheap), st.NodePool("dear", st.Where(st.In(scheduling.CapacityTypeLabel, "on-demand")), dear),
		},
		Pods: st.Pods(pods, "p", st.Requests(st.Cores(1)), st.Label("app", "web"), st.Spread("rack")),
	}
}

// Any label may say where nodes are, and pools may leave it open among a few values.
func TestSpreadOverAnyLabel(t *testing.T) {
	rack := func(values ...string) st.Option { return st.Where(st.In("rack", values...)) }
	for name, p := range map[string]scheduling.Problem{
		"chosen": inRacks(rack("1"), rack("2"), 2), "set": inRacks(st.Label("rack", "1"), st.Label("rack", "2"), 2), "several": inRacks(rack("1"), rack("2", "3"), 12),
	} {
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		require.NoError(t, err)
		require.NoError(t, verify.Plan(p, plan), name)
		require.Less(t, plan.Summary.Gap, 0.01, name)
		c := plan.Summary.Certificate
		require.Equal(t, "rack", c.TopologyKey, name)
		for _, key := range []string{"", "row", hostName} {
			c.TopologyKey = key
			require.ErrorContains(t, verify.Plan(p, plan), "certificate", "%s by %q", name, key)
		}
		c.TopologyKey = "rack"
		for _, more := range []requirements.Selector{st.In("rack", "1", "2", "3"), st.Exists("rack")} {
			own := &p.NodePools[0].Spec.Template
			own.Metadata.Labels, own.Spec.Requirements = nil, append(own.Spec.Requirements[:1:1], more)
			require.ErrorContains(t, verify.Plan(p, plan), "certificate", "%s: nobody has to be dear", name)
		}
	}
	p := inRacks(st.Where(st.Exists("rack")), rack("2"), 2)
	plan, err := provisioning.Planner{}.Plan(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	require.False(t, plan.Summary.Certificate.Spreading(), "any number of racks may be bought")
}
