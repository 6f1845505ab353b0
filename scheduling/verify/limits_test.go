package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestLimits covers P68–P75: what counts towards the limits of a pool, to the last unit.
func TestLimits(t *testing.T) {
	two := st.Type("two", st.Capacity(st.Cores(2), st.GiB(4)), st.KubeReserved(st.MilliCPU(100)), st.OnDemand("a", 10), st.OnDemand("b", 11))
	eight := st.Type("eight", st.Capacity(st.Cores(8), st.GiB(16), st.Count(gpus, 1)), st.OnDemand("a", 40),
		st.Offer(offerings.Offering{Zone: "b", CapacityType: offerings.OnDemand, Price: 41, Capacity: st.Resources(st.Cores(10))}))
	one := buy{pool: "pool", pods: "p-1", options: []string{"two/a/on-demand"}}
	wide := buy{pool: "pool", pods: "p-1", options: []string{"two/a/on-demand", "two/b/on-demand", "eight/a/on-demand"}}
	wider := buy{pool: "pool", pods: "p-1", options: []string{"two/a/on-demand", "eight/a/on-demand", "eight/b/on-demand"}}
	second := buy{pool: "pool", pods: "p-2", options: []string{"eight/a/on-demand"}}
	node := func(opts ...st.NodeOption) *corev1.Node {
		return st.Node("n", append([]st.NodeOption{st.OfType(eight, eight.Offerings[0]), st.OfPool("pool"), st.Taint("full", "", corev1.TaintEffectNoSchedule)}, opts...)...)
	}
	starting := func(reported corev1.ResourceList) *corev1.Node {
		n := node(st.InFlight())
		n.Status.Capacity = reported
		return n
	}
	otherPools := st.Node("n", st.OfType(eight, eight.Offerings[0]), st.OfPool("other"), st.Taint("full", "", corev1.TaintEffectNoSchedule))
	limit := st.Limit
	for _, tc := range []struct {
		name  string
		least st.NodePoolOption // the limit that is just enough
		short st.NodePoolOption // and one that is not
		nodes []*corev1.Node
		buys  []buy
	}{
		{"capacity counts, not what is left for pods", limit(st.Cores(2)), limit(st.MilliCPU(1999)), nil, []buy{one}},
		{"memory", limit(st.GiB(4)), limit(st.MiB(4095)), nil, []buy{one}},
		{"a fraction", limit(st.ResourceAmount{Name: "cpu", Quantity: quantity("2000.5m")}), limit(st.ResourceAmount{Name: "cpu", Quantity: quantity("1999.5m")}), nil, []buy{one}},
		{"the number of nodes", st.MaxNodes(1), st.MaxNodes(0), nil, []buy{one}},
		{"pods", limit(st.Count("pods", 110)), limit(st.Count("pods", 109)), nil, []buy{one}},
		{"two launches", limit(st.Cores(10)), limit(st.MilliCPU(9999)), nil, []buy{one, second}},
		{"two launches, by number (P72)", st.MaxNodes(2), st.MaxNodes(1), nil, []buy{one, second}},
		{"devices", limit(st.Count(gpus, 1)), limit(st.Count(gpus, 0)), nil, []buy{one, second}},
		{"another option of a launch", limit(st.Cores(8)), limit(st.MilliCPU(7999)), nil, []buy{wide}},
		{"another option of one of two launches", limit(st.Cores(16)), limit(st.MilliCPU(15999)), nil, []buy{wide, second}},
		{"another option of each of two launches", limit(st.Cores(16)), limit(st.MilliCPU(15999)), nil, []buy{wide, {pool: "pool", pods: "p-2", options: wide.options}}},
		{"another option with devices", limit(st.Count(gpus, 1)), limit(st.Count(gpus, 0)), nil, []buy{wide}},
		{"an option that overrides the capacity (P52)", limit(st.Cores(10)), limit(st.MilliCPU(9999)), nil, []buy{wider}},
		{"a node of the pool", limit(st.Cores(10)), limit(st.MilliCPU(9999)), []*corev1.Node{node()}, []buy{one}},
		{"a node of the pool, by number", st.MaxNodes(2), st.MaxNodes(1), []*corev1.Node{node()}, []buy{one}},
		{"a node that is cordoned", limit(st.Cores(10)), limit(st.MilliCPU(9999)), []*corev1.Node{node(st.Cordoned())}, []buy{one}},
		{"a node in flight that reports nothing (P80)", limit(st.Cores(10)), limit(st.MilliCPU(9999)), []*corev1.Node{starting(nil)}, []buy{one}},
		{"a node in flight that reports no devices yet", limit(st.Count(gpus, 1)), limit(st.Count(gpus, 0)),
			[]*corev1.Node{starting(st.Resources(st.Cores(8), st.Count(gpus, 0)))}, []buy{one}},
		{"a node in flight that reports something else", limit(st.Cores(9)), limit(st.MilliCPU(8999)),
			[]*corev1.Node{starting(st.Resources(st.Cores(7)))}, []buy{one}},
		{"a node of another pool does not count", limit(st.Cores(2)), limit(st.MilliCPU(1999)), []*corev1.Node{otherPools}, []buy{one}},
		{"a node of nobody does not count", limit(st.Cores(2)), limit(st.MilliCPU(1999)),
			[]*corev1.Node{st.Node("n", st.Allocatable(st.Cores(64)), st.Taint("full", "", corev1.TaintEffectNoSchedule))}, []buy{one}},
		{"a node that is being deleted does not count", st.MaxNodes(1), st.MaxNodes(0), []*corev1.Node{node(st.Deleting())}, []buy{one}},
		{"a node that is marked to be removed", st.MaxNodes(2), st.MaxNodes(1), []*corev1.Node{node(st.Disrupted())}, []buy{one}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, limit := range []struct {
				option st.NodePoolOption
				breaks []verify.Code
			}{{tc.least, nil}, {tc.short, broken(verify.CodeLimits)}} {
				p := scheduling.Problem{
					Catalog: st.MustCatalog(two, eight), Nodes: tc.nodes,
					NodePools: []*scheduling.NodePool{st.NodePool("pool", limit.option)},
				}
				for _, b := range tc.buys {
					p.Pods = append(p.Pods, st.Pod(b.pods, st.Requests(st.Cores(1))))
				}
				assert.Equal(t, limit.breaks, codes(buying(p, tc.buys...).violations(t)))
			}
		})
	}
}

// TestAPoolBeyondItsLimitLaunchesNothing covers P69: a pool whose nodes exceed a limit may launch nothing, not even
// machines without that resource.
func TestAPoolBeyondItsLimitLaunchesNothing(t *testing.T) {
	two := st.Type("two", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(two),
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Limit(st.Count(gpus, 0)))},
		Nodes:     []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(1), st.Count(gpus, 1)), st.OfPool("pool"))},
		Pods:      []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)))},
	}
	assert.Equal(t, broken(verify.CodeLimits), codes(buying(p, buy{pool: "pool", pods: "p", options: []string{"two/a/on-demand"}}).violations(t)))
	assert.Empty(t, buying(p).refusing("p").violations(t))
}

// TestReservations covers P149 and P157: machines of a reservation are counted by its id over all pools, types and
// zones.
func TestReservations(t *testing.T) {
	catalog := func(first, second int) *instancetypes.Catalog {
		return st.MustCatalog(
			st.Type("two", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10), st.Reserved("a", 1, "cr-1", first), st.Reserved("b", 2, "cr-2", 1)),
			st.Type("four", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("a", 20), st.Reserved("b", 3, "cr-1", second)))
	}
	in := func(pool, pod string, options ...string) buy { return buy{pool: pool, pods: pod, options: options} }
	const twoR1, twoR2, fourR1, two, four = "two/a/reserved/cr-1", "two/b/reserved/cr-2", "four/b/reserved/cr-1", "two/a/on-demand", "four/a/on-demand"
	for _, tc := range []struct {
		name   string
		left   [2]int
		buys   []buy
		breaks []verify.Code
	}{
		{"one of one", [2]int{1, 1}, []buy{in("x", "p-1", twoR1)}, nil},
		{"one of none", [2]int{0, 1}, []buy{in("x", "p-1", twoR1)}, broken(verify.CodeReservation)},
		{"the lower count holds", [2]int{2, 1}, []buy{in("x", "p-1", twoR1), in("x", "p-2", twoR1)}, broken(verify.CodeReservation)},
		{"two of two", [2]int{2, 2}, []buy{in("x", "p-1", twoR1), in("x", "p-2", twoR1)}, nil},
		{"over pools", [2]int{1, 1}, []buy{in("x", "p-1", twoR1), in("y", "p-2", twoR1)}, broken(verify.CodeReservation)},
		{"over types and zones", [2]int{1, 1}, []buy{in("x", "p-1", twoR1), in("x", "p-2", fourR1)}, broken(verify.CodeReservation)},
		{"two reservations", [2]int{1, 1}, []buy{in("x", "p-1", twoR1), in("x", "p-2", twoR2)}, nil},
		{"several pods share a machine", [2]int{1, 1}, []buy{in("x", "p-1 p-2", fourR1)}, nil},
		{"another option of the same reservation", [2]int{1, 1}, []buy{in("x", "p-1", twoR1, fourR1, two)}, nil},
		{"another option of another reservation", [2]int{1, 1}, []buy{in("x", "p-1", twoR1, twoR2, two)}, nil},
		{"another option of a reservation in use", [2]int{1, 1}, []buy{in("x", "p-1", twoR1), in("y", "p-2", twoR2, fourR1)}, broken(verify.CodeReservation)},
		{"two launches with the same second choice", [2]int{1, 1}, []buy{in("x", "p-1", twoR1, twoR2, two), in("y", "p-2", two)}, nil},
		{"none in use, each may fall back on it", [2]int{2, 2}, []buy{in("x", "p-1", twoR1), in("y", "p-2", twoR2, fourR1)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: catalog(tc.left[0], tc.left[1]), NodePools: []*scheduling.NodePool{st.NodePool("x"), st.NodePool("y")}}
			p.Pods = st.Pods(2, "p", st.Requests(st.Cores(1)))
			placed := map[string]bool{}
			for _, b := range tc.buys {
				placed[b.pods] = true
			}
			if !placed["p-2"] && !placed["p-1 p-2"] {
				p.Pods = p.Pods[:1]
			}
			assert.Equal(t, tc.breaks, codes(buying(p, tc.buys...).violations(t)))
		})
	}
}

// TestMinValues covers P61–P67: minValues counts the distinct values of the options of the launch, not of all that the
// pool could launch.
func TestMinValues(t *testing.T) {
	c := st.MustCatalog(
		st.Type("c5", st.Capacity(st.Cores(2), st.GiB(4)), st.Label("family", "c"), st.OnDemand("a", 10), st.OnDemand("b", 11)),
		st.Type("c6", st.Capacity(st.Cores(2), st.GiB(4)), st.Label("family", "c"), st.OnDemand("a", 12), st.Spot("a", 9)),
		st.Type("m5", st.Capacity(st.Cores(2), st.GiB(8)), st.Label("family", "m"), st.OnDemand("c", 13)),
		st.Type("t3", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 14)))
	all := []string{"c6/a/spot", "c5/a/on-demand", "c5/b/on-demand", "c6/a/on-demand", "m5/c/on-demand", "t3/a/on-demand"}
	for _, tc := range []struct {
		name    string
		where   st.NodePoolOption
		options []string
		breaks  []verify.Code
	}{
		{"four types", st.Where(st.AtLeast(4, st.Exists(typeOf))), all, nil},
		{"five types", st.Where(st.AtLeast(5, st.Exists(typeOf))), all, broken(verify.CodeMinValues)},
		{"three zones", st.Where(st.AtLeast(3, st.Exists(zoneOf))), all, nil},
		{"three zones by an alias", st.Where(st.AtLeast(3, st.Exists(corev1.LabelFailureDomainBetaZone))), all, nil},
		{"zones of options that are not there", st.Where(st.AtLeast(3, st.Exists(zoneOf))), all[:4], broken(verify.CodeMinValues)},
		{"two capacity types", st.Where(st.AtLeast(2, st.Exists(offerings.CapacityTypeLabel))), all[:2], nil},
		{"one capacity type", st.Where(st.AtLeast(2, st.Exists(offerings.CapacityTypeLabel))), all[1:], broken(verify.CodeMinValues)},
		{"types without the label do not count", st.Where(st.AtLeast(2, st.NotIn("family", "x"))), all, nil},
		{"nor do they make a value", st.Where(st.AtLeast(3, st.NotIn("family", "x"))), all, broken(verify.CodeMinValues)},
		{"the larger of two (P64)", st.Where(st.AtLeast(1, st.Exists(typeOf)), st.AtLeast(3, st.NotIn(typeOf, "x"))), all[:3], broken(verify.CodeMinValues)},
		{"several keys", st.Where(st.AtLeast(2, st.Exists(typeOf)), st.AtLeast(2, st.Exists(zoneOf))), all[:3], nil},
		{"several keys, one short", st.Where(st.AtLeast(2, st.Exists(typeOf)), st.AtLeast(2, st.Exists(zoneOf))), all[:2], broken(verify.CodeMinValues)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: c, NodePools: []*scheduling.NodePool{st.NodePool("pool", tc.where)}, Pods: []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)))}}
			f := buying(p, buy{pool: "pool", pods: "p", options: tc.options})
			assert.Equal(t, tc.breaks, codes(f.violations(t)))
			f.solver.MinValues = scheduling.MinValuesBestEffort
			assert.Empty(t, f.violations(t), "best effort")
		})
	}
}
