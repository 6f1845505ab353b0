package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
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

// inZones is a plan that launches a machine for each pod, in the zones given, e.g. "aab" for zones a, a and b.
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
				f.plan.Summary.Certificate = &certificate.Certificate{
					Kind: kind, Values: map[string]string{"default/p-1": tc.worth}, Vectors: vectors{{}, {"pods": "10"}, {"pods": "100"}, {"pods": "160"}},
					Spreads: []certificate.DomainSpread{{Pod: "default/p-1", Less: tc.less, Further: tc.further}},
				}
				prove(t, f, tc.proven)
			})
		}
	}
	t.Run("no such pod", func(t *testing.T) {
		f := inZones(zonesMarket(five), "aabbc")
		f.plan.Summary.Certificate = &certificate.Certificate{Kind: "assignment", Spreads: []certificate.DomainSpread{{Pod: "default/z"}}}
		prove(t, f, -2)
	})
	t.Run("beside resources", func(t *testing.T) {
		f := placing(zonesMarket(five), 0, map[string]string{"cpu": "0"})
		f.plan.Summary.Certificate.Spreads = []certificate.DomainSpread{{Pod: "default/p-1"}}
		prove(t, f, -2)
	})
}

// inRacks is a problem of pods that are spread over the label rack, whose value the options say for a cheap pool and
// for an expensive one: some pools set it, others leave it open.
func inRacks(cheap, dear st.NodePoolOption, pods int) scheduling.Problem {
	small := st.Type("m.small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", st.Cents(10)), st.Spot("a", st.Cents(3)))
	large := st.Type("m.large", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", st.Cents(38)), st.Spot("a", st.Cents(11)))
	return scheduling.Problem{
		Catalog: st.MustCatalog(small, large),
		NodePools: []*scheduling.NodePool{
			st.NodePool("cheap", st.Where(st.In(offerings.CapacityTypeLabel, "spot")), cheap), st.NodePool("dear", st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")), dear),
		},
		Pods: st.Pods(pods, "p", st.Requests(st.Cores(1)), st.Label("app", "web"), st.Spread("rack")),
	}
}

// TestSpreadOverAnyLabel: certificates are proven for spreads over any label, also one that pools leave open among a
// few values.
func TestSpreadOverAnyLabel(t *testing.T) {
	rack := func(values ...string) st.NodePoolOption { return st.Where(st.In("rack", values...)) }
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
