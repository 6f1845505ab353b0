package corpus

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Clusters is a kind of clusters that have seen better days.
type Clusters struct {
	// Market sells EC2's types.
	Market Market
	// Budget is the nodes budget of the pool, e.g. 100% or 10%.
	Budget string
}

// families and sizes are those of the clusters' nodes; a pool may buy any size.
func families() []string { return []string{"c5", "m5", "m6i", "r5"} }
func sizes() []string    { return []string{"xlarge", "2xlarge", "4xlarge"} }

// Cluster is n nodes on demand in three zones, of c5, m5, m6i and r5 in sizes from xlarge
// to 4xlarge, all filled with pods of up to half a core and up to 2 GiB, of which every other
// pod has gone since: about thirteen are left on each. One pool owns them all; it may buy any size
// of those families and has Karpenter's default policy.
func (k Clusters) Cluster(n int, seed uint64) (disruption.Cluster, error) {
	d := newDice(seed)
	zones := k.Market.zones()
	zones = zones[:min(3, len(zones))]
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pool := schedulingtest.NodePool("default", schedulingtest.Where(
		schedulingtest.In("karpenter.k8s.aws/instance-family", families()...),
		schedulingtest.In(offerings.CapacityTypeLabel, string(offerings.OnDemand)),
		schedulingtest.In(corev1.LabelTopologyZone, zones...),
	))
	pool.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: k.Budget}}
	c := disruption.Cluster{Problem: scheduling.Problem{NodePools: []*scheduling.NodePool{pool}, Catalog: k.Market.Catalog, Now: now}}
	for i := range n {
		name := families()[d.IntN(len(families()))] + "." + sizes()[d.IntN(len(sizes()))]
		option := scheduling.LaunchOption{InstanceType: name, Zone: zones[d.IntN(len(zones))], CapacityType: offerings.OnDemand}
		launch := scheduling.Launch{Name: fmt.Sprintf("node-%04d", i), NodePool: pool.Name}
		node, err := launch.Node(launch.Name, &option, k.Market.Catalog)
		if err != nil {
			return c, err
		}
		node.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(1+d.IntN(200)) * time.Hour))
		c.Nodes = append(c.Nodes, node)
		for j, pod := range filling(d, node) {
			if d.IntN(2) == 0 {
				continue
			}
			pod.Name = fmt.Sprintf("pod-%04d-%03d", i, j)
			pod.Spec.NodeName = node.Name
			pod.CreationTimestamp = node.CreationTimestamp
			c.Running = append(c.Running, pod)
		}
	}
	return c, nil
}

// filling is pods until the next one does not fit the node.
func filling(d dice, node *corev1.Node) []*corev1.Pod {
	var out []*corev1.Pod
	room := node.Status.Allocatable.DeepCopy()
	for {
		milliCPU, mib := []int64{100, 250, 500}[d.IntN(3)], []int64{256, 512, 1024, 2048}[d.IntN(4)]
		pod := schedulingtest.Pod("", schedulingtest.Requests(schedulingtest.MilliCPU(milliCPU), schedulingtest.MiB(mib)))
		requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
		for name, q := range requests {
			left := room[name].DeepCopy()
			if left.Sub(q); left.Sign() < 0 || int64(len(out)) == room.Pods().Value() {
				return out
			}
			room[name] = left
		}
		pod.Status.Phase = corev1.PodRunning
		out = append(out, pod)
	}
}
