package verify_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestRefusals: a plan refuses the one pod of a problem with one pool or one node; the checker reports it exactly where
// the pod has a place.
func TestRefusals(t *testing.T) {
	m := st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))
	n := st.Type("n", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("b", 20), st.Reserved("b", 1, "cr-1", 1))
	catalog := st.MustCatalog(m, n)
	pool := func(opts ...st.NodePoolOption) *scheduling.NodePool { return st.NodePool("pool", opts...) }
	node := func(opts ...st.NodeOption) *corev1.Node {
		return st.Node("n1", append([]st.NodeOption{st.Allocatable(st.Cores(2), st.GiB(4))}, opts...)...)
	}
	pod := func(opts ...st.PodOption) *corev1.Pod {
		return st.Pod("p", append([]st.PodOption{st.Requests(st.Cores(1))}, opts...)...)
	}
	for _, tc := range []struct {
		name    string
		pod     *corev1.Pod
		pool    *scheduling.NodePool
		node    *corev1.Node
		running []*corev1.Pod
		fits    bool
	}{
		{"a pool", pod(), pool(), nil, nil, true},
		{"nothing", pod(), nil, nil, nil, false},
		{"a static pool (P173)", pod(), pool(st.Replicas(2)), nil, nil, false},
		{"a pod that is too large", pod(st.Requests(st.Cores(5))), pool(), nil, nil, false},
		{"a pod that only the larger type holds", pod(st.Requests(st.Cores(3))), pool(), nil, nil, true},
		{"a pod for the larger type, and a limit below it", pod(st.Requests(st.Cores(3))), pool(st.Limit(st.Cores(3))), nil, nil, false},
		{"a pod for the smaller type, and a limit below the larger", pod(), pool(st.Limit(st.Cores(3))), nil, nil, true},
		{"a device that nobody has", pod(st.Requests(st.Count(gpus, 1))), pool(), nil, nil, false},
		{"a taint", pod(), pool(st.Taint("k", "", corev1.TaintEffectNoExecute)), nil, nil, false},
		{"a soft taint (T14)", pod(), pool(st.Taint("k", "", corev1.TaintEffectPreferNoSchedule)), nil, nil, true},
		{"a start-up taint (T7)", pod(), pool(st.StartupTaint("k", "", corev1.TaintEffectNoSchedule)), nil, nil, true},
		{"a zone", pod(st.Select(zoneOf, "b")), pool(), nil, nil, true},
		{"a zone that is not there", pod(st.Select(zoneOf, "c")), pool(), nil, nil, false},
		{"a zone that the pool excludes", pod(st.Select(zoneOf, "b")), pool(st.Where(st.In(zoneOf, "a"))), nil, nil, false},
		{"a custom label that nobody defines (R33)", pod(st.Select(team, "red")), pool(), nil, nil, false},
		{"a custom label that the pool leaves open", pod(st.Select(team, "red")), pool(st.Where(st.Exists(team))), nil, nil, true},
		{"a custom label that the pool excludes", pod(st.Select(team, "red")), pool(st.Where(st.NotIn(team, "red"))), nil, nil, false},
		{"a region, which the provider knows", pod(st.Select(corev1.LabelTopologyRegion, "r1")), pool(), nil, nil, true},
		{"a region that the pool excludes", pod(st.Select(corev1.LabelTopologyRegion, "r1")), pool(st.Where(st.NotIn(corev1.LabelTopologyRegion, "r1"))), nil, nil, false},
		{"a reservation", pod(st.Select(offerings.CapacityTypeLabel, "reserved")), pool(), nil, nil, true},
		{"minValues that can be met", pod(), pool(st.Where(st.AtLeast(2, st.Exists(typeOf)))), nil, nil, true},
		{"minValues that cannot be met by what holds the pod", pod(st.Requests(st.Cores(3))), pool(st.Where(st.AtLeast(2, st.Exists(typeOf)))), nil, nil, false},
		{"minValues that cannot be met within the limits", pod(), pool(st.Where(st.AtLeast(2, st.Exists(typeOf))), st.Limit(st.Cores(3))), nil, nil, false},
		{"a label of Karpenter's own (R42)", pod(st.Select("karpenter.sh/initialized", "true")), pool(), nil, nil, false},
		{"a host (R41)", pod(st.Select(corev1.LabelHostname, "h")), pool(), nil, nil, false},
		{"a node", pod(), nil, node(), nil, true},
		{"a node that is full", pod(), nil, node(), []*corev1.Pod{st.Pod("r", st.OnNode("n1"), st.Requests(st.MilliCPU(1001)))}, false},
		{"a node that has just enough left", pod(), nil, node(), []*corev1.Pod{st.Pod("r", st.OnNode("n1"), st.Requests(st.MilliCPU(1000)))}, true},
		{"a node that is overcommitted in what the pod does not ask for", pod(), nil, node(), []*corev1.Pod{st.Pod("r", st.OnNode("n1"), st.Requests(st.GiB(9)))}, true},
		{"a node without pod slots", pod(), nil, node(st.Allocatable(st.Cores(2), st.Count("pods", 1))), []*corev1.Pod{st.Pod("r", st.OnNode("n1"))}, false},
		{"a node with a taint", pod(), nil, node(st.Taint("k", "v", corev1.TaintEffectNoSchedule)), nil, false},
		{"a node with a taint that the pod tolerates", pod(st.Tolerate("k", "v", "")), nil, node(st.Taint("k", "v", corev1.TaintEffectNoSchedule)), nil, true},
		{"a node that is cordoned", pod(), nil, node(st.Cordoned()), nil, false},
		{"a node that is being deleted", pod(), nil, node(st.Deleting()), nil, false},
		{"a node that is being disrupted", pod(st.TolerateAll()), nil, node(st.Disrupted()), nil, false},
		{"a node by name", pod(st.Select(corev1.LabelHostname, "n1")), nil, node(), nil, true},
		{"another node by name", pod(st.Select(corev1.LabelHostname, "n2")), nil, node(), nil, false},
		{"a node without a label that is well known (P77)", pod(st.Select(zoneOf, "a")), nil, node(), nil, false},
		{"a node whose port is free", pod(st.HostPort(80)), nil, node(), []*corev1.Pod{st.Pod("r", st.OnNode("n1"), st.HostPort(81))}, true},
		{"a node whose port is taken", pod(st.HostPort(80)), nil, node(), []*corev1.Pod{st.Pod("r", st.OnNode("n1"), st.HostPort(80))}, false},
		{"a node of a static pool (P173)", pod(), pool(st.Replicas(1)), node(st.OfPool("pool")), nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: catalog, Pods: []*corev1.Pod{tc.pod}, Running: tc.running}
			if tc.pool != nil {
				p.NodePools = append(p.NodePools, tc.pool)
			}
			if tc.node != nil {
				p.Nodes = append(p.Nodes, tc.node)
			}
			var want []verify.Code
			if tc.fits {
				want = broken(verify.CodeRefusedForNothing)
			}
			assert.Equal(t, want, codes(buying(p).refusing("p").violations(t)))
		})
	}
}

// TestRefusalsCountWhatThePlanUses: limits and reservations that launches of the plan use are not left for a refused
// pod.
func TestRefusalsCountWhatThePlanUses(t *testing.T) {
	catalog := func(left int) *instancetypes.Catalog {
		return st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.Reserved("a", 1, "cr-1", left)),
			st.Type("big", st.Capacity(st.Cores(8), st.GiB(8)), st.OnDemand("a", 50)))
	}
	two := st.Pods(2, "p", st.Requests(st.MilliCPU(1500)))
	first := buy{pool: "pool", pods: "p-1", options: []string{"m/a/reserved/cr-1"}}
	orBig := buy{pool: "pool", pods: "p-1", options: []string{"m/a/reserved/cr-1", "big/a/on-demand"}}
	onlySmall := st.Where(st.In(typeOf, "m"))
	for _, tc := range []struct {
		name string
		left int
		pool []st.NodePoolOption
		buy  buy
		fits bool
	}{
		{"the reservation has another machine", 2, []st.NodePoolOption{onlySmall}, first, true},
		{"the reservation is used up", 1, []st.NodePoolOption{onlySmall}, first, false},
		{"there are other machines", 1, nil, first, true},
		{"the limit has room for another machine", 2, []st.NodePoolOption{st.Limit(st.Cores(4))}, first, true},
		{"the limit has none", 2, []st.NodePoolOption{st.Limit(st.MilliCPU(3999))}, first, false},
		{"the limit has room unless the first machine turns out large", 2, []st.NodePoolOption{st.Limit(st.Cores(9))}, orBig, false},
		{"the limit has room even so", 2, []st.NodePoolOption{st.Limit(st.Cores(10))}, orBig, true},
		{"the pool may have one more node", 2, []st.NodePoolOption{st.MaxNodes(2)}, first, true},
		{"the pool may have no more nodes", 2, []st.NodePoolOption{st.MaxNodes(1)}, first, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: catalog(tc.left), NodePools: []*scheduling.NodePool{st.NodePool("pool", tc.pool...)}, Pods: two}
			var want []verify.Code
			if tc.fits {
				want = broken(verify.CodeRefusedForNothing)
			}
			assert.Equal(t, want, codes(buying(p, tc.buy).refusing("p-2").violations(t)))
		})
	}
	t.Run("a node is filled by the plan", func(t *testing.T) {
		p := scheduling.Problem{Pods: two, Nodes: []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(3000)))}}
		assert.Equal(t, broken(verify.CodeRefusedForNothing), codes(buying(p).onto("n", "p-1").refusing("p-2").violations(t)))
		p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(2999)))}
		assert.Empty(t, buying(p).onto("n", "p-1").refusing("p-2").violations(t))
	})
	t.Run("a port is taken by the plan", func(t *testing.T) {
		p := scheduling.Problem{Pods: st.Pods(2, "p", st.Requests(st.Cores(1)), st.HostPort(80)), Nodes: []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(9)))}}
		assert.Empty(t, buying(p).onto("n", "p-1").refusing("p-2").violations(t))
		assert.Equal(t, broken(verify.CodeHostPorts), codes(buying(p).onto("n", "p-1", "p-2").violations(t)))
	})
}

// TestWeights covers P9, P24, T15 and WeightStrict: which pools of a higher weight must be used.
func TestWeights(t *testing.T) {
	catalog := st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10), st.OnDemand("b", 12)))
	low := buy{pool: "low", pods: "p", options: []string{"m/a/on-demand"}}
	for _, tc := range []struct {
		name    string
		high    *scheduling.NodePool
		pod     *corev1.Pod
		ignored bool
	}{
		{"higher", st.NodePool("high", st.Weight(2)), st.Pod("p", st.Requests(st.Cores(1))), true},
		{"equal", st.NodePool("high", st.Weight(1)), st.Pod("p", st.Requests(st.Cores(1))), false},
		{"lower", st.NodePool("high"), st.Pod("p", st.Requests(st.Cores(1))), false},
		{"higher and dearer", st.NodePool("high", st.Weight(2), st.Where(st.In(zoneOf, "b"))), st.Pod("p", st.Requests(st.Cores(1))), true},
		{"higher, and the pod asks for the other pool", st.NodePool("high", st.Weight(2)),
			st.Pod("p", st.Requests(st.Cores(1)), st.Select(scheduling.NodePoolLabel, "low")), false},
		{"higher and unsuitable", st.NodePool("high", st.Weight(2), st.Where(st.In(zoneOf, "b"))),
			st.Pod("p", st.Requests(st.Cores(1)), st.Select(zoneOf, "a")), false},
		{"higher and used up", st.NodePool("high", st.Weight(2), st.MaxNodes(0)), st.Pod("p", st.Requests(st.Cores(1))), false},
		{"higher and shunned", st.NodePool("high", st.Weight(2), st.Taint("k", "", corev1.TaintEffectPreferNoSchedule)), st.Pod("p", st.Requests(st.Cores(1))), false},
		{"higher and shunned, but not by this pod", st.NodePool("high", st.Weight(2), st.Taint("k", "", corev1.TaintEffectPreferNoSchedule)),
			st.Pod("p", st.Requests(st.Cores(1)), st.TolerateKey("k", "")), true},
		{"higher and static", st.NodePool("high", st.Weight(2), st.Replicas(1)), st.Pod("p", st.Requests(st.Cores(1))), false},
		{"higher, and the pod has preferences", st.NodePool("high", st.Weight(2)),
			st.Pod("p", st.Requests(st.Cores(1)), st.Prefer(1, st.In(zoneOf, "a"))), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("low", st.Weight(1)), tc.high}, Pods: []*corev1.Pod{tc.pod}}
			f := buying(p, low)
			var want []verify.Code
			if tc.ignored {
				want = broken(verify.CodeWeightIgnored)
			}
			assert.Equal(t, want, codes(f.violations(t)))
			f.solver.Weights = scheduling.WeightIgnore
			assert.Empty(t, f.violations(t))
		})
	}
}

// TestUnavailableOfferings: an unavailable offering is no place for a refused pod, and no option of a launch.
func TestUnavailableOfferings(t *testing.T) {
	now := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	catalog := st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10)))
	for name, tc := range map[string]struct {
		key    offerings.Key
		failed time.Duration // ago
		gone   bool
	}{
		"this offering":           {offerings.Key{InstanceType: "m", Zone: "a", CapacityType: offerings.OnDemand}, time.Minute, true},
		"the whole type":          {offerings.Key{InstanceType: "m"}, time.Minute, true},
		"the whole zone":          {offerings.Key{Zone: "a"}, time.Minute, true},
		"the whole capacity type": {offerings.Key{CapacityType: offerings.OnDemand}, time.Minute, true},
		"another zone":            {offerings.Key{Zone: "b"}, time.Minute, false},
		"another capacity type":   {offerings.Key{InstanceType: "m", CapacityType: offerings.Spot}, time.Minute, false},
		"until just now":          {offerings.Key{InstanceType: "m"}, offerings.DefaultUnavailableTTL, false},
		"for a moment longer":     {offerings.Key{InstanceType: "m"}, offerings.DefaultUnavailableTTL - 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := scheduling.Problem{
				Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Pods: []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)))},
				Unavailable: &offerings.Unavailable{}, Now: now,
			}
			p.Unavailable.Mark(tc.key, now.Add(-tc.failed), 0)
			bought := codes(buying(p, buy{pool: "pool", pods: "p", options: []string{"m/a/on-demand"}}).violations(t))
			refused := codes(buying(p).refusing("p").violations(t))
			if tc.gone {
				assert.Equal(t, broken(verify.CodeOfferingUnavailable), bought)
				assert.Empty(t, refused)
			} else {
				assert.Empty(t, bought)
				assert.Equal(t, broken(verify.CodeRefusedForNothing), refused)
			}
		})
	}
}
