package schedulingtest

import (
	"cmp"
	"time"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// ClusterOptions are the parameters of [Cluster]. The zero value is a hundred on-demand nodes of
// plain pods, without PodDisruptionBudgets.
type ClusterOptions struct {
	// Nodes is about how many nodes there are; 0 is 100. PodsPerNode is about how many pods
	// were on one before pods were removed; 0 is 20.
	Nodes       int
	PodsPerNode int
	// Catalog is the catalog of the nodes; nil is a small one of general, compute and memory
	// nodes in three zones. MaxCPU is the largest number of cores of a node; 0 is 16, enough
	// for about twenty pods. The smallest is half of it.
	Catalog *instancetypes.Catalog
	MaxCPU  int64
	// Spot allows half of the pods on spot nodes; all other pods require on-demand.
	Spot bool
	// Removed is the share of the pods that were removed, 0 to 1; 0 draws it, from a fifth to three fifths.
	Removed float64
	// PDBs gives half of the workloads a PodDisruptionBudget, and one in forty a budget that allows
	// no eviction.
	PDBs bool
	// Spread spreads a third of the workloads over zones; Apart allows one in eight only one pod a node.
	Spread, Apart bool
	// Various makes workloads as various as in production clusters: half of the spreads are soft
	// (ScheduleAnyway), one workload in ten is a StatefulSet whose pods have volumes in their
	// zones, and half of the PodDisruptionBudgets say minAvailable.
	Various bool
	// DaemonSets is the number of DaemonSets, at most five, that run on every node.
	DaemonSets int
	// Batches is the number of parts in which the workloads came; nodes were launched for each part
	// when the parts before it had their places. 0 is 1.
	Batches int
	// Unmanaged is how many of the nodes no pool owns.
	Unmanaged int
	// Pools are the NodePools of the nodes; nil is one pool.
	Pools []*scheduling.NodePool
	// Budgets, Consolidation and ConsolidateAfter are settings of the pool where Pools is nil; no
	// budgets are one of 100%, and "" and nil the defaults of NodePools.
	Budgets          []scheduling.Budget
	Consolidation    scheduling.ConsolidationPolicy
	ConsolidateAfter *scheduling.NillableDuration
	// Policy packs the pods; its bounds on sizes come from MaxCPU. Zero effort is fast.
	Policy scheduling.Policy
}

func (o ClusterOptions) orDefaults() ClusterOptions {
	o.Nodes = max(cmp.Or(o.Nodes, 100), 1)
	o.PodsPerNode = max(cmp.Or(o.PodsPerNode, 20), 1)
	o.MaxCPU = cmp.Or(o.MaxCPU, 16)
	o.Batches = max(o.Batches, 1)
	if o.Catalog == nil {
		o.Catalog = clusterCatalog()
	}
	if o.Policy.Effort == 0 {
		o.Policy.Effort = scheduling.EffortFast
	}
	if o.Budgets == nil {
		o.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	}
	o.Policy.Size = scheduling.NodeSize{Smallest: Resources(MilliCPU(o.MaxCPU * 500)), Largest: Resources(Cores(o.MaxCPU))}
	return o
}

// clusterTime is when generated clusters are looked at: a Monday.
func clusterTime() time.Time { return time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC) }

// clusterCatalog has machines at prices like those of EC2 in us-east-1: on-demand prices grow with the size, spot
// prices are another share of that in each zone.
func clusterCatalog() *instancetypes.Catalog {
	families := []struct {
		name   string
		memory int64           // GiB per core
		price  offerings.Price // per core and hour
	}{
		{"c5", 2, 42_500_000},
		{"m5", 4, 48_000_000},
		{"m6i", 4, 48_000_000},
		{"r5", 8, 63_000_000},
	}
	sizes := []struct {
		name  string
		cores int64
		pods  int64
	}{
		{"large", 2, 29}, {"xlarge", 4, 58}, {"2xlarge", 8, 58}, {"4xlarge", 16, 234}, {"8xlarge", 32, 234},
	}
	d := dice.New(1)
	var types []*instancetypes.InstanceType
	for _, f := range families {
		for _, s := range sizes {
			opts := []TypeOption{
				Capacity(Cores(s.cores), GiB(s.cores*f.memory), Count("pods", s.pods)),
				KubeReserved(MilliCPU(60+10*s.cores/2), MiB(255+11*s.pods)),
				Label(familyKey, f.name),
			}
			for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
				price := offerings.Price(s.cores) * f.price
				opts = append(opts, OnDemand(zone, price), Spot(zone, price/1000*offerings.Price(d.Between(300, 550))))
			}
			types = append(types, Type(f.name+"."+s.name, opts...))
		}
	}
	return MustCatalog(types...)
}
