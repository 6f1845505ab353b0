package verify_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

const (
	team   = "example.com/team"
	role   = "example.com/role"
	typeOf = corev1.LabelInstanceTypeStable
	zoneOf = corev1.LabelTopologyZone
	gpuOf  = "karpenter.k8s.aws/instance-gpu-count"
	gpus   = corev1.ResourceName("nvidia.com/gpu")
)

// fixture is a problem with a plan.
type fixture struct {
	p      scheduling.Problem
	plan   *scheduling.Plan
	solver scheduling.Policy
	skip   bool // the search for better places
}

// handmade returns a valid plan that was worked out by hand, and has each part of a plan at least once: launches from
// four pools, one from a reservation and one with a label that the pool leaves open, a running node, a starting node,
// and a refused pod.
func handmade() *fixture {
	small := st.Type("small", st.Capacity(st.Cores(2), st.GiB(4)),
		st.Spot("a", st.Cents(3)), st.OnDemand("a", st.Cents(10)), st.OnDemand("b", st.Cents(11)))
	large := st.Type("large", st.Capacity(st.Cores(8), st.GiB(16)),
		st.Spot("a", st.Cents(12)), st.OnDemand("a", st.Cents(40)), st.Reserved("a", 0, "cr-1", 1))
	gpu := st.Type("gpu", st.Capacity(st.Cores(8), st.GiB(32), st.Count(gpus, 1)), st.Label(gpuOf, "1"),
		st.OnDemand("a", st.Cents(100)))

	shop := st.Namespace("shop")
	p := scheduling.Problem{
		Now:     time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC),
		Catalog: st.MustCatalog(small, large, gpu),
		Pods: slices.Concat(
			st.Pods(3, "web", shop, st.Requests(st.MilliCPU(500), st.GiB(1))),
			[]*corev1.Pod{
				st.Pod("gpu-1", shop, st.Requests(st.Cores(1), st.Count(gpus, 1)), st.TolerateKey("nvidia.com/gpu", "")),
				st.Pod("res-1", shop, st.Requests(st.Cores(1)), st.TolerateKey("example.com/reserved", ""),
					st.Select(offerings.CapacityTypeLabel, "reserved")),
				st.Pod("red-1", shop, st.Requests(st.MilliCPU(500)), st.Where(st.In(team, "red", "blue"))),
				st.Pod("db-1", shop, st.Requests(st.MilliCPU(500)), st.Tolerate("example.com/dedicated", "db", corev1.TaintEffectNoSchedule),
					st.Select(role, "db")),
				st.Pod("fly-1", st.Requests(st.MilliCPU(500)), st.HostPort(8080)),
				st.Pod("big-1", shop, st.Requests(st.Cores(100))),
			}),
		DaemonSets: nil,
		NodePools: []*scheduling.NodePool{
			st.NodePool("default", st.Weight(10), st.Limit(st.Cores(12)), st.MaxNodes(3), st.Label("tier", "web"),
				st.Where(st.AtLeast(2, st.Exists(typeOf)), st.In(offerings.CapacityTypeLabel, "spot", "on-demand")),
				st.StartupTaint("example.com/starting", "", corev1.TaintEffectNoSchedule)),
			st.NodePool("gpu", st.Taint("nvidia.com/gpu", "", corev1.TaintEffectNoSchedule), st.Where(st.In(typeOf, "gpu"))),
			st.NodePool("reserved", st.Taint("example.com/reserved", "", corev1.TaintEffectNoSchedule),
				st.Where(st.In(offerings.CapacityTypeLabel, "reserved"))),
			st.NodePool("static", st.Replicas(1)),
			st.NodePool("team", st.Where(st.Exists(team), st.NotIn(offerings.CapacityTypeLabel, "reserved"))),
		},
		Nodes: []*corev1.Node{
			st.Node("n1", st.OfType(small, small.Offerings[0]), st.Label(role, "db"),
				st.Taint("example.com/dedicated", "db", corev1.TaintEffectNoSchedule)),
			st.Node("n2", st.OfType(small, small.Offerings[1])),
			st.Node("n3", st.OfType(small, small.Offerings[0]), st.OfPool("default"), st.InFlight(),
				st.Taint("example.com/starting", "", corev1.TaintEffectNoSchedule),
				st.Taint(corev1.TaintNodeNotReady, "", corev1.TaintEffectNoExecute)),
			st.Node("n4", st.OfType(large, large.Offerings[0]), st.OfPool("default"), st.Deleting()),
		},
		Running: []*corev1.Pod{
			st.Pod("logs-n1", st.OnNode("n1"), st.OwnedByDaemonSet("logs"), st.Requests(st.MilliCPU(100), st.MiB(128))),
			st.Pod("cache", st.OnNode("n1"), st.Requests(st.MilliCPU(400))),
			st.Pod("full", st.OnNode("n2"), st.Requests(st.MilliCPU(1900))),
			st.Pod("done", st.OnNode("n1"), st.PodPhase(corev1.PodSucceeded), st.Requests(st.Cores(2))),
		},
	}
	p.DaemonSets = append(p.DaemonSets,
		st.DaemonSet("logs", st.Requests(st.MilliCPU(100), st.MiB(128)), st.TolerateAll()),
		st.DaemonSet("gpu-plugin", st.Requests(st.MilliCPU(50)), st.Select(gpuOf, "1"), st.TolerateAll()))

	plan := &scheduling.Plan{
		Launches: []scheduling.Launch{
			{
				Name: "default-1", NodePool: "default", Price: st.Cents(3), Pods: []string{"shop/web-1", "shop/web-2", "shop/web-3"},
				Options: []scheduling.LaunchOption{
					option("small", "a", offerings.Spot, 3), option("small", "a", offerings.OnDemand, 10), option("small", "b", offerings.OnDemand, 11),
					option("large", "a", offerings.Spot, 12), option("large", "a", offerings.OnDemand, 40),
				},
				Requests:      st.Resources(st.MilliCPU(1600), st.MiB(3*1024+128), st.Count(corev1.ResourcePods, 4)),
				Labels:        map[string]string{scheduling.NodePoolLabel: "default", "tier": "web"},
				StartupTaints: []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}},
				Requirements:  []requirements.Selector{st.In(typeOf, "small", "large"), st.In(offerings.CapacityTypeLabel, "spot", "on-demand")},
			},
			{
				Name: "gpu-1", NodePool: "gpu", Price: st.Cents(100), Pods: []string{"shop/gpu-1"},
				Options:      []scheduling.LaunchOption{option("gpu", "a", offerings.OnDemand, 100)},
				Requests:     st.Resources(st.MilliCPU(1150), st.MiB(128), st.Count(gpus, 1), st.Count(corev1.ResourcePods, 3)),
				Taints:       []corev1.Taint{{Key: "nvidia.com/gpu", Effect: corev1.TaintEffectNoSchedule}},
				Requirements: []requirements.Selector{st.In(typeOf, "gpu")},
			},
			{
				Name: "reserved-1", NodePool: "reserved", Price: 0, Pods: []string{"shop/res-1"},
				Options:  []scheduling.LaunchOption{{InstanceType: "large", Zone: "a", CapacityType: offerings.Reserved, ReservationID: "cr-1"}},
				Requests: st.Resources(st.MilliCPU(1100), st.MiB(128), st.Count(corev1.ResourcePods, 2)),
				Taints:   []corev1.Taint{{Key: "example.com/reserved", Effect: corev1.TaintEffectNoSchedule}},
			},
			{
				Name: "team-1", NodePool: "team", Price: st.Cents(3), Pods: []string{"shop/red-1"},
				Options:  []scheduling.LaunchOption{option("small", "a", offerings.Spot, 3), option("small", "b", offerings.OnDemand, 11)},
				Requests: st.Resources(st.MilliCPU(600), st.MiB(128), st.Count(corev1.ResourcePods, 2)),
				Labels:   map[string]string{team: "red"},
			},
		},
		Existing: []scheduling.Assignment{{Node: "n1", Pods: []string{"shop/db-1"}}, {Node: "n3", Pods: []string{"default/fly-1"}}},
		Unschedulable: []scheduling.Unschedulable{{
			Pod: "shop/big-1", Message: "no machine has 100 cores",
			Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonResources, Count: 20, Detail: "too little cpu"}, {Code: scheduling.ReasonNodeNotReady, Count: 1}},
			Fixes:   []string{"fits if cpu ≤ 8"},
		}},
	}
	f := &fixture{p: p, plan: plan}
	plan.Summary.Status = scheduling.StatusComplete
	// 5 cores at 15,000 nano-USD a millicore are worth 0.075; the reservation may hold
	// the core of res-1 for nothing, n1 the half core of db-1, n3 1.9 cores.
	plan.Summary.LowerBoundPerHour = offerings.MustPrice("0.024")
	plan.Summary.Certificate = &certificate.Certificate{Kind: "resource", Values: map[string]string{"cpu": "15000"}}
	plan.Summary.Resources = []scheduling.ResourceUse{
		{Resource: "cpu", Capacity: 20000, Daemons: 450, Pods: 4000, Free: 15550},
		{Resource: string(gpus), Capacity: 1, Pods: 1},
	}
	f.sum()
	return f
}

func option(instanceType, zone string, capacityType offerings.CapacityType, cents int64) scheduling.LaunchOption {
	return scheduling.LaunchOption{InstanceType: instanceType, Zone: zone, CapacityType: capacityType, Price: st.Cents(cents)}
}

// sum sets the counts, prices and shares of the summary to those of the plan.
func (f *fixture) sum() {
	s := &f.plan.Summary
	s.Placed, s.Nodes, s.PricePerHour = 0, len(f.plan.Launches), 0
	pools, capacityTypes := map[string]scheduling.Share{}, map[string]scheduling.Share{}
	put := func(m map[string]scheduling.Share, name string, price offerings.Price) {
		m[name] = scheduling.Share{Name: name, Nodes: m[name].Nodes + 1, PricePerHour: m[name].PricePerHour + price}
	}
	for _, l := range f.plan.Launches {
		s.Placed += len(l.Pods)
		s.PricePerHour += l.Price
		put(pools, l.NodePool, l.Price)
		if len(l.Options) > 0 {
			put(capacityTypes, string(l.Options[0].CapacityType), l.Price)
		}
	}
	for _, a := range f.plan.Existing {
		s.Placed += len(a.Pods)
	}
	s.Pods = s.Placed + len(f.plan.Unschedulable)
	byName := func(a, b scheduling.Share) int { return cmp.Compare(a.Name, b.Name) }
	s.Pools = slices.SortedFunc(maps.Values(pools), byName)
	s.CapacityTypes = slices.SortedFunc(maps.Values(capacityTypes), byName)
	s.Gap = 0
	if s.LowerBoundPerHour > 0 {
		s.Gap = float64(s.PricePerHour-s.LowerBoundPerHour) / float64(s.LowerBoundPerHour)
	}
}

// claim sets the lower bound, with the gap.
func (f *fixture) claim(bound offerings.Price) {
	f.plan.Summary.LowerBoundPerHour = bound
	f.sum()
}

func (f *fixture) launch(name string) *scheduling.Launch {
	i := slices.IndexFunc(f.plan.Launches, func(l scheduling.Launch) bool { return l.Name == name })
	return &f.plan.Launches[i]
}

func (f *fixture) pool(name string) *scheduling.NodePool {
	return find(f.p.NodePools, name, func(p *scheduling.NodePool) string { return p.Name })
}

func (f *fixture) node(name string) *corev1.Node {
	return find(f.p.Nodes, name, func(n *corev1.Node) string { return n.Name })
}

func (f *fixture) pod(name string) *corev1.Pod {
	return find(f.p.Pods, name, func(p *corev1.Pod) string { return p.Name })
}

func find[T any](list []T, name string, nameOf func(T) string) T {
	i := slices.IndexFunc(list, func(x T) bool { return nameOf(x) == name })
	if i < 0 {
		panic(fmt.Sprintf("the fixture has no %s", name))
	}
	return list[i]
}

// violations judges the plan.
func (f *fixture) violations(t testing.TB) []verify.Violation {
	t.Helper()
	err := verify.Checker{Policy: f.solver, SkipRefusals: f.skip}.Plan(f.p, f.plan)
	if err == nil {
		return nil
	}
	var report *verify.Report
	require.ErrorAs(t, err, &report)
	require.NotEmpty(t, report.Violations)
	return report.Violations
}

// codes returns the distinct codes of the violations, sorted.
func codes(violations []verify.Violation) []verify.Code {
	var out []verify.Code
	for _, v := range violations {
		out = append(out, v.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func TestTheHandmadePlanBreaksNoRule(t *testing.T) {
	f := handmade()
	require.Empty(t, f.violations(t))
	f.claim(f.plan.Summary.LowerBoundPerHour - 1)
	require.Empty(t, f.violations(t), "a weaker bound is as good")
}
