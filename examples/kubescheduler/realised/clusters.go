package realised

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// ClusterKind is a kind of cluster that was packed well once and has lost half of its pods since.
type ClusterKind struct {
	// Name names it, About is one sentence about it.
	Name, About string
	options     st.ClusterOptions
	own         bool // with pools and machines of the catalog that is asked for
}

// ClusterKinds are the clusters that steps are carried out on, of 15 to 80 nodes.
func ClusterKinds() []ClusterKind {
	return []ClusterKind{
		{Name: "plain", About: "Deployments that need nothing but room"},
		{
			Name: "budgets", options: st.ClusterOptions{PDBs: true},
			About: "half of the Deployments have a PodDisruptionBudget",
		},
		{
			Name: "spread", options: st.ClusterOptions{Spread: true, Apart: true},
			About: "a third of them is spread over zones, an eighth keeps to one pod a host",
		},
		{
			Name: "spot", options: st.ClusterOptions{Spot: true, DaemonSets: 2},
			About: "half of the pods may run on spot machines, and two DaemonSets run everywhere",
		},
		{
			Name: "mixed", options: st.ClusterOptions{PDBs: true, Spread: true, Apart: true, Spot: true, Various: true, DaemonSets: 2},
			About: "all of that, softly spread Deployments, and StatefulSets with volumes",
		},
		{
			Name: "production", own: true,
			options: st.ClusterOptions{PodsPerNode: 8, MaxCPU: 8, Spot: true, PDBs: true, Spread: true, Apart: true, Various: true, DaemonSets: 5, Batches: 8, Unmanaged: 3},
			About:   "the same with two NodePools, which let a tenth of their nodes go at a time, and machines that were bought bit by bit",
		},
	}
}

// Cluster is the kind drawn with a seed; those that are as in production buy from the catalog.
func (k *ClusterKind) Cluster(seed uint64, catalog *instancetypes.Catalog) disruption.Cluster {
	o := k.options
	o.Nodes, o.Removed = 15+newDice(seed).IntN(66), 0.5
	if k.own {
		o.Catalog = catalog
		for _, way := range []offerings.CapacityType{offerings.OnDemand, offerings.Spot} {
			pool := pool(catalog, []string{string(way)})
			pool.Name = string(way)
			o.Pools = append(o.Pools, pool)
		}
	}
	return st.Cluster(seed, o)
}
