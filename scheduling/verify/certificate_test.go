package verify_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/samber/lo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// placing is a plan that places all pods on a node that does not exist, with a certificate of the values of resources.
// Only violations about its bound are of interest.
func placing(p scheduling.Problem, scale int, values map[string]string) *fixture {
	plan := &scheduling.Plan{Existing: []scheduling.Assignment{{Node: "none"}}}
	for _, pod := range p.Pods {
		plan.Existing[0].Pods = append(plan.Existing[0].Pods, "default/"+pod.Name)
	}
	plan.Summary.Certificate = &certificate.Certificate{Kind: "resource", Values: values, Scale: scale}
	return &fixture{p: p, plan: plan, skip: true}
}

// boundCodes returns the codes of the violations about the bound, for the plan with that bound.
func boundCodes(t *testing.T, f *fixture, bound offerings.Price) []verify.Code {
	f.claim(bound)
	var out []verify.Code
	for _, c := range codes(f.violations(t)) {
		switch c {
		case verify.CodeBoundUnproven, verify.CodeCertificateOption, verify.CodeCertificateMalformed, verify.CodeCertificateMissing:
			out = append(out, c)
		}
	}
	return out
}

// market sells machines of two cores and 8 GiB.
func market(pods []*corev1.Pod, change func(*scheduling.Problem), offered ...st.TypeOption) scheduling.Problem {
	m := st.Type("m", append([]st.TypeOption{st.Capacity(st.Cores(2), st.GiB(8))}, offered...)...)
	p := scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: st.MustCatalog(m)}
	if change != nil {
		change(&p)
	}
	return p
}

func TestWhatACertificateProves(t *testing.T) {
	twoCores := st.Capacity(st.Cores(2), st.GiB(8))
	onSale := st.OnDemand("a", 200) // 200 nano-USD for 2,000m
	pods := func(n int, opts ...st.PodOption) []*corev1.Pod {
		return st.Pods(n, "p", append([]st.PodOption{st.Requests(st.Cores(1))}, opts...)...)
	}
	pool := func(opts ...st.NodePoolOption) *scheduling.NodePool { return st.NodePool("pool", opts...) }
	tenth := map[string]string{"cpu": "1"}
	node := func(opts ...st.NodeOption) *corev1.Node {
		return st.Node("n", append([]st.NodeOption{st.Allocatable(st.MilliCPU(1500), st.GiB(4))}, opts...)...)
	}
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		scale  int
		values map[string]string
		proven offerings.Price // below 0: the certificate breaks a rule
	}{
		{"the worth of the pods", scheduling.Problem{Pods: pods(5), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, onSale))}, 4, tenth, 313}, // 5000 ÷ 16, rounded up
		{"exactly the price", scheduling.Problem{Pods: pods(5), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 2000)))}, 0, tenth, 5000},
		{"above the price", scheduling.Problem{Pods: pods(5), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1999)))}, 0, tenth, -1},
		{"pods are worth something, too", scheduling.Problem{Pods: pods(5), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8), st.Count(corev1.ResourcePods, 2)), st.OnDemand("a", 2000)))}, 0,
			map[string]string{"pods": "1000"}, 5000},
		{"no more pods sit on a machine than there are", scheduling.Problem{Pods: pods(1), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1999)))}, 0, tenth, 1000},
		{"only pods that may sit on it", scheduling.Problem{Pods: append(pods(1), st.Pod("q", st.Requests(st.Cores(1)), st.Select(zoneOf, "b"))),
			NodePools: []*scheduling.NodePool{pool()},
			Catalog:   st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1999), st.OnDemand("b", 5000)))}, 0, tenth, 2000},
		{"only pods that fit on it", scheduling.Problem{Pods: append(pods(1), st.Pod("q", st.Requests(st.MilliCPU(2001)))),
			NodePools: []*scheduling.NodePool{pool()},
			Catalog:   st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1999)))}, 0, tenth, 3001},
		{"machines that no pool may buy may cost anything", scheduling.Problem{Pods: pods(2), NodePools: []*scheduling.NodePool{
			pool(st.Where(st.NotIn(typeOf, "m"))), st.NodePool("static", st.Replicas(2))},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1)))}, 0, tenth, 2000},
		{"machines that no pod tolerates may cost anything", scheduling.Problem{Pods: pods(2), NodePools: []*scheduling.NodePool{
			pool(st.Taint("k", "", corev1.TaintEffectNoSchedule))},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1)))}, 0, tenth, 2000},
		{"daemons take their part", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool()},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, 3000},
		{"daemons that another label would keep away do not", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(team, "x", "y")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(team, "x"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, -1},
		{"unless every pod asks for that label", scheduling.Problem{Pods: pods(3, st.Select(team, "x")), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(team, "x", "y")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(team, "x"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, 3000},
		{"daemons of which only one can be kept away", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(team, "x", "y")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(team, "x")), st.DaemonSet("e", st.Requests(st.MilliCPU(600)), st.Select(team, "y"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, 3000},
		{"the smaller of them counts", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(team, "x", "y")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(team, "x")), st.DaemonSet("e", st.Requests(st.MilliCPU(600)), st.Select(team, "y"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1499)))}, 0, tenth, -1},
		{"a daemon in the provider's region counts where nobody asks for another", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(corev1.LabelTopologyRegion, "r1")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(corev1.LabelTopologyRegion, "r1"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, 3000},
		{"a daemon in the provider's region may be elsewhere", scheduling.Problem{Pods: pods(3), NodePools: []*scheduling.NodePool{pool()},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(corev1.LabelTopologyRegion, "r1"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, -1},
		{"a daemon in the region that every pod asks for", scheduling.Problem{Pods: pods(3, st.Select(corev1.LabelTopologyRegion, "r1")), NodePools: []*scheduling.NodePool{pool()},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(500)), st.Select(corev1.LabelTopologyRegion, "r1"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1500)))}, 0, tenth, 3000},
		{"a daemon whose port keeps the pods away", scheduling.Problem{Pods: pods(3, st.HostPort(80)), NodePools: []*scheduling.NodePool{pool()},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.HostPort(80))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1)))}, 0, tenth, 3000},
		{"a daemon whose port keeps the pods away under one label only", scheduling.Problem{Pods: pods(3, st.HostPort(80)), NodePools: []*scheduling.NodePool{pool(st.Where(st.In(team, "x", "y")))},
			DaemonSets: []*appsv1.DaemonSet{st.DaemonSet("d", st.HostPort(80), st.Select(team, "x"))},
			Catalog:    st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 1)))}, 0, tenth, -1},
		{"a reservation holds worth for less, as often as machines are left", scheduling.Problem{Pods: pods(9), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 2000), st.Reserved("a", 300, "cr", 2)))}, 0, tenth, 9000 - 2*1700},
		{"a reservation that several types draw on counts once, by the best of them", scheduling.Problem{Pods: pods(9), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 2000), st.Reserved("a", 300, "cr", 3)),
				st.Type("n", st.Capacity(st.Cores(3), st.GiB(8)), st.Reserved("b", 0, "cr", 1)))}, 0, tenth, 9000 - 3000},
		{"a reservation that is used up holds nothing", scheduling.Problem{Pods: pods(9), NodePools: []*scheduling.NodePool{pool()},
			Catalog: st.MustCatalog(st.Type("m", twoCores, st.OnDemand("a", 2000), st.Reserved("a", 300, "cr", 0)))}, 0, tenth, 9000},
		{"a node holds worth for nothing", scheduling.Problem{Pods: pods(3), Nodes: []*corev1.Node{node()}}, 0, tenth, 1500},
		{"no more than the pods that may go there", scheduling.Problem{
			Pods: append(pods(3, st.Select(zoneOf, "a")), st.Pod("q", st.Requests(st.MilliCPU(100)))), Nodes: []*corev1.Node{node()}}, 0, tenth, 3000},
		{"no more than the pods that fit there", scheduling.Problem{
			Pods: append(pods(1), st.Pod("q", st.Requests(st.MilliCPU(1501)))), Nodes: []*corev1.Node{node()}}, 0, tenth, 1501},
		{"a node that is being removed holds nothing", scheduling.Problem{Pods: pods(3), Nodes: []*corev1.Node{node(st.Disrupted())}}, 0, tenth, 3000},
		{"an overcommitted node holds nothing", scheduling.Problem{Pods: pods(3), Nodes: []*corev1.Node{node()},
			Running: []*corev1.Pod{st.Pod("r", st.OnNode("n"), st.Requests(st.Cores(7)))}}, 0, tenth, 3000},
		{"nodes may hold everything", scheduling.Problem{Pods: pods(1), Nodes: []*corev1.Node{node()}}, 0, tenth, 0},
		{"a scale", scheduling.Problem{Pods: pods(1)}, 1024, map[string]string{"cpu": new(big.Int).Lsh(big.NewInt(3), 1024).String()}, 3000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := placing(tc.p, tc.scale, tc.values)
			if tc.proven < 0 {
				assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1))
				return
			}
			assert.Empty(t, boundCodes(t, f, tc.proven))
			assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, tc.proven+1))
		})
	}
}

// TestTooManyChoices: where there are too many ways to choose open labels, only DaemonSets that run for every choice
// are counted. The certificate then proves less than it could.
func TestTooManyChoices(t *testing.T) {
	p := scheduling.Problem{
		Pods:      st.Pods(3, "p", st.Requests(st.Cores(1))),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 1500))),
	}
	for i := range 5 {
		key := fmt.Sprintf("example.com/key-%d", i)
		values := []string{"0", "2", "4", "6", "8", "10", "12"}
		p.NodePools[0].Spec.Template.Spec.Requirements = append(p.NodePools[0].Spec.Template.Spec.Requirements, st.In(key, values...))
		// Each runs for one value of its key, and one of them for every value.
		p.DaemonSets = append(p.DaemonSets, st.DaemonSet("d-"+key[len(key)-1:], st.Requests(st.MilliCPU(100)), st.Select(key, "0")))
	}
	all := st.DaemonSet("all", st.Requests(st.MilliCPU(500)), st.Where(st.Exists("example.com/key-0")))
	assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, placing(p, 0, map[string]string{"cpu": "1"}), 3000))
	p.DaemonSets = append(p.DaemonSets, all)
	assert.Empty(t, boundCodes(t, placing(p, 0, map[string]string{"cpu": "1"}), 3000))
}

// TestNoCertificateProvesMoreThanAPlanCosts: for values of resources in random proportions, as high as the checker lets
// them be, the proven bound is never above the price of a plan.
func TestNoCertificateProvesMoreThanAPlanCosts(t *testing.T) {
	checked, strong := map[string]int{}, map[string]int{}
	for seed := range uint64(20) {
		p := schedulable(t, seed)
		solver := scheduling.Policy{Effort: scheduling.EffortFast, Weights: scheduling.WeightIgnore}
		plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		require.NoError(t, err)
		f := &fixture{p: p, plan: plan, solver: solver, skip: true}
		rng := rand.New(rand.NewPCG(seed, 6))
		mix := func() map[string]int64 {
			return map[string]int64{"cpu": rng.Int64N(4) << 20, "memory": rng.Int64N(3), "pods": rng.Int64N(2) << 29}
		}
		for _, kind := range []string{"resource", "assignment", "pattern"} {
			values, by := mix(), []map[string]int64(nil)
			if kind != "resource" {
				values, by = map[string]int64{}, []map[string]int64{mix(), mix(), mix()}
				for _, l := range plan.Launches {
					for _, pod := range l.Pods {
						values[pod] = (1 + rng.Int64N(5)) << 31
					}
				}
			}
			cert := func(factor int64) *certificate.Certificate {
				times := func(m map[string]int64) map[string]string {
					return lo.MapValues(m, func(n int64, _ string) string { return new(big.Int).Mul(big.NewInt(n), big.NewInt(factor)).String() })
				}
				return &certificate.Certificate{Kind: kind, Scale: 30, Values: times(values), Vectors: lo.Map(by, func(m map[string]int64, _ int) map[string]string { return times(m) })}
			}
			// The largest factor with which no machine holds more worth than it costs.
			low, high := int64(0), int64(1)<<40
			for low < high {
				middle := low + (high-low+1)/2
				plan.Summary.Certificate = cert(middle)
				if len(boundCodes(t, f, 0)) == 0 {
					low = middle
				} else {
					high = middle - 1
				}
			}
			if low == 1<<40 {
				continue // nothing on sale could hold these pods, or has what is valued
			}
			plan.Summary.Certificate = cert(low)
			price := plan.Summary.PricePerHour
			require.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, price+1), "seed %d, %s", seed, kind)
			checked[kind]++
			if len(boundCodes(t, f, price/4)) == 0 && price > 3 {
				strong[kind]++
			}
		}
	}
	for kind, n := range checked {
		assert.Greater(t, n, 10, kind)
		assert.Greater(t, strong[kind], n/6, "certificates of the kind %s prove next to nothing, which tests next to nothing", kind)
	}
}

// schedulable returns a random problem that the solver accepts; other problems are skipped.
func schedulable(t *testing.T, seed uint64) scheduling.Problem {
	t.Helper()
	for s := seed; ; s += 1000 {
		p := st.Random(s, st.Size{Pods: 15, Types: 5, Pools: 3, Nodes: 3})
		if err := provisioning.Validate(&p); err == nil {
			return p
		} else if s > 20000 {
			t.Fatal(fmt.Errorf("no seed makes a valid problem: %w", err))
		}
	}
}
