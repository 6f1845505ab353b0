package schedulingtest

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Cluster is a cluster that was packed well once and has lost pods since: the solver
// bought nodes for the pods of many workloads, and then a share of them went away, drawn
// at random. The same seed and options give the same cluster. It panics if the catalog
// cannot hold the pods, which are small.
func Cluster(seed uint64, o ClusterOptions) disruption.Cluster {
	o = o.orDefaults()
	b := &clusterBuilder{dice: newDice(seed), options: o}
	if b.options.Removed <= 0 {
		b.options.Removed = 0.2 + 0.4*b.Float64()
	}
	b.cluster.Problem = scheduling.Problem{
		Now:       clusterTime(),
		Catalog:   o.Catalog,
		NodePools: o.Pools,
	}
	if o.Pools == nil {
		b.cluster.NodePools = []*scheduling.NodePool{b.pool()}
	}
	for i, name := range []string{"cni", "logs", "proxy", "metrics", "csi"}[:o.DaemonSets] {
		b.cluster.DaemonSets = append(b.cluster.DaemonSets, DaemonSet(name, Namespace("kube-system"),
			Requests(MilliCPU([]int64{50, 100, 20, 50, 30}[i]), MiB([]int64{64, 200, 32, 128, 80}[i])), TolerateAll()))
	}
	pods := b.workloads()
	for batch := range o.Purchases {
		if err := b.buy(pods[batch*len(pods)/o.Purchases : (batch+1)*len(pods)/o.Purchases]); err != nil {
			panic(fmt.Sprintf("schedulingtest: no cluster for seed %d: %v", seed, err))
		}
	}
	b.settle()
	countBudgets(&b.cluster)
	return b.cluster
}

// clusterBuilder is what the parts of one cluster have in common.
type clusterBuilder struct {
	dice
	options ClusterOptions
	cluster disruption.Cluster
}

// pool buys everything; whether spot will do is for the pods to say.
func (b *clusterBuilder) pool() *scheduling.NodePool {
	kinds := []string{string(offerings.OnDemand)}
	if b.options.Spot {
		kinds = append(kinds, string(offerings.Spot))
	}
	pool := NodePool("default", Where(In(scheduling.CapacityTypeLabel, kinds...)))
	pool.Spec.Disruption = scheduling.Disruption{
		ConsolidationPolicy: b.options.Policy,
		ConsolidateAfter:    b.options.ConsolidateAfter,
		Budgets:             b.options.Budgets,
	}
	return pool
}

// buy places pods on the nodes that there are and on new ones.
func (b *clusterBuilder) buy(pods []*corev1.Pod) error {
	p := b.cluster.Problem
	p.Pods = pods
	plan, err := b.options.Solver.Solve(context.Background(), p)
	if err == nil && len(plan.Unschedulable) > 0 {
		err = fmt.Errorf("pod %s: %s", plan.Unschedulable[0].Pod, plan.Unschedulable[0].Message)
	}
	if err != nil {
		return err
	}
	known := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		known[podKey(pod)] = pod
	}
	c := &b.cluster
	land := func(node string, pods []string) {
		for _, name := range pods {
			c.Running = append(c.Running, runs(known[name], node, c.Now))
		}
	}
	for i := range plan.Existing {
		land(plan.Existing[i].Node, plan.Existing[i].Pods)
	}
	for i := range plan.Launches {
		node := mustNode(c, &plan.Launches[i], fmt.Sprintf("node-%05d", len(c.Nodes)+1))
		c.Nodes = append(c.Nodes, node)
		land(node.Name, plan.Launches[i].Pods)
	}
	return nil
}

// settle takes pods away, and tells when the nodes came. The first nodes lose their pool.
func (b *clusterBuilder) settle() {
	c := &b.cluster
	on := make(map[string][]*corev1.Pod, len(c.Nodes))
	for _, pod := range c.Running {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
	}
	c.Running = nil
	for i, node := range c.Nodes {
		created := c.Now.Add(-time.Duration(b.between(2*60, 200*60)) * time.Minute)
		ready := created.Add(90 * time.Second)
		node.CreationTimestamp = metav1.NewTime(created)
		m := disruption.Machine{
			Node: node.Name, Created: created, Initialized: ready,
			LastPodEvent: c.Now.Add(-time.Duration(b.between(10, 60)) * time.Minute),
		}
		if i < b.options.Foreign {
			delete(node.Labels, scheduling.NodePoolLabel)
		} else {
			c.Machines = append(c.Machines, m)
		}
		for _, pod := range on[node.Name] {
			if b.Float64() >= b.options.Removed {
				pod.Status.StartTime = &metav1.Time{Time: ready}
				b.volume(pod, node)
				c.Running = append(c.Running, pod)
			}
		}
		for _, ds := range c.DaemonSets {
			pod := Pod(ds.Name+"-"+node.Name, Namespace(ds.Namespace), OwnedByDaemonSet(ds.Name))
			pod.Labels, pod.Spec = ds.Spec.Template.Labels, ds.Spec.Template.Spec
			c.Running = append(c.Running, runs(pod, node.Name, ready))
		}
	}
}

// runs is the pod as it runs on a node since a time.
func runs(pod *corev1.Pod, node string, since time.Time) *corev1.Pod {
	out := pod.DeepCopy()
	out.Spec.NodeName = node
	start := metav1.NewTime(since)
	out.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &start,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	return out
}

// mustNode is the node that the first option of a launch becomes.
func mustNode(c *disruption.Cluster, l *scheduling.Launch, name string) *corev1.Node {
	catalog, own := c.PoolCatalogs[l.NodePool]
	if !own {
		catalog = c.Catalog
	}
	node, err := l.Node(name, &l.Options[0], catalog)
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: %v", err))
	}
	node.UID = types.UID(name)
	return node
}

// podKey names a pod as plans do.
func podKey(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return metav1.NamespaceDefault + "/" + pod.Name
	}
	return pod.Namespace + "/" + pod.Name
}
