package disruption_test

import (
	"fmt"
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
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// fewDomains is a cluster of a few nodes in a few zones and racks over which small workloads are spread, not all of
// their pods with the constraint. A rack is a label of pools.
func fewDomains(seed uint64) disruption.Cluster {
	rng := rand.New(rand.NewPCG(seed, 5))
	zones := []string{"a", "b", "c", "d"}[:2+rng.IntN(3)]
	large, small := []st.TypeOption{st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(20))}, []st.TypeOption{st.Capacity(st.Cores(2), st.GiB(8))}
	for _, zone := range zones {
		if zone > "a" && rng.IntN(6) > 0 {
			large = append(large, st.OnDemand(zone, st.Cents(20+rng.Int64N(3))))
		}
		small = append(small, st.OnDemand(zone, st.Cents(11+rng.Int64N(3))))
	}
	types := []*instancetypes.InstanceType{st.Type("m.large", large...), st.Type("m.small", small...)}
	c := disruption.Cluster{Problem: scheduling.Problem{
		Now: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC), Catalog: st.MustCatalog(types...),
		NodePools: []*scheduling.NodePool{st.NodePool("first", st.Where(st.In("rack", "1"))), st.NodePool("others", st.Where(st.In("rack", "2", "3")))},
	}}
	for _, p := range c.NodePools {
		p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	}
	room := map[string]int64{}
	for i := range 2 + rng.IntN(5) {
		name, pool, rack, size := fmt.Sprintf("n%d", i), "first", "1", min(1, rng.IntN(3))
		if rng.IntN(3) > 0 {
			pool, rack = "others", []string{"2", "3"}[rng.IntN(2)]
		}
		o := offerings.Offering{Zone: zones[rng.IntN(len(zones))], CapacityType: offerings.OnDemand}
		c.Nodes = append(c.Nodes, st.Node(name, st.OfPool(pool), st.OfType(types[1-size], o), st.Label("rack", rack)))
		room[name] = 2000 << size
		m := disruption.Machine{Node: name, Created: c.Now.Add(-100 * time.Hour)}
		if rng.IntN(8) == 0 {
			m.Drift = "AMIDrift"
		}
		c.Machines = append(c.Machines, m)
	}
	for app := range 1 + rng.IntN(3) {
		name, key, skew, cpu := fmt.Sprintf("app%d", app), []string{corev1.LabelTopologyZone, "rack"}[rng.IntN(2)], 1+rng.Int32N(2), 200+100*rng.Int64N(8)
		for i := range 2 + rng.IntN(4) {
			node := c.Nodes[rng.IntN(len(c.Nodes))].Name
			if room[node] -= cpu; room[node] < 0 {
				continue
			}
			options := []st.PodOption{st.OnNode(node), st.Label("app", name), st.Requests(st.MilliCPU(cpu), st.MiB(256))}
			if rng.IntN(8) > 0 {
				options = append(options, st.Spread(key, st.Of("app", name), st.Skew(skew)))
			}
			c.Running = append(c.Running, st.Pod(fmt.Sprintf("%s-%d", name, i), options...))
		}
	}
	return c
}

// Whoever places the pods, no step moves those that are spread over domains into fewer of them (P95). In the first of these
// clusters a machine that is bought opens a domain after other pods have found their places.
func TestStepsKeepDomains(t *testing.T) {
	for _, seed := range slices.AppendSeq([]uint64{746}, soak.Cases(7)) {
		p := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}
		if seed%2 == 1 {
			p = freely(p)
		}
		c := fewDomains(seed)
		plan, err := p.Plan(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, verify.StepsChecker{Planner: p, SkipBound: true}.Steps(c, plan), "seed %d", seed)
	}
}
