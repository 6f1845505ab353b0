package schedulingtest

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Shuffle is the problem with its pods, pools, nodes, running pods and DaemonSets,
// volumes and what else it lists in another order, which must not change the plan. The
// objects are shared with p;
// the order inside an object, of containers for example, has a meaning and stays.
func Shuffle(p scheduling.Problem, seed uint64) scheduling.Problem {
	d := newDice(seed)
	p.Pods = permuted(d, p.Pods)
	p.NodePools = permuted(d, p.NodePools)
	p.Nodes = permuted(d, p.Nodes)
	p.Running = permuted(d, p.Running)
	p.DaemonSets = permuted(d, p.DaemonSets)
	p.Claims = permuted(d, p.Claims)
	p.Volumes = permuted(d, p.Volumes)
	p.StorageClasses = permuted(d, p.StorageClasses)
	p.CSINodes = permuted(d, p.CSINodes)
	p.Namespaces = permuted(d, p.Namespaces)
	p.DefaultSpread = permuted(d, p.DefaultSpread)
	p.Services = permuted(d, p.Services)
	p.Owners.ReplicationControllers = permuted(d, p.Owners.ReplicationControllers)
	p.Owners.ReplicaSets = permuted(d, p.Owners.ReplicaSets)
	p.Owners.StatefulSets = permuted(d, p.Owners.StatefulSets)
	return p
}

func permuted[T any](d dice, list []T) []T {
	list = slices.Clone(list)
	d.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// ShuffleCluster is the cluster with everything that it lists in another order, which must
// not change the plan. The objects are shared with c.
func ShuffleCluster(c disruption.Cluster, seed uint64) disruption.Cluster {
	c.Problem = Shuffle(c.Problem, seed)
	d := newDice(seed + 1)
	c.Machines = permuted(d, c.Machines)
	c.PodDisruptionBudgets = permuted(d, c.PodDisruptionBudgets)
	return c
}
