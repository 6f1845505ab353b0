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
	p := scheduling.Problem{
		Now:       clusterTime(),
		Catalog:   o.Catalog,
		NodePools: []*scheduling.NodePool{b.pool()},
	}
	if o.Daemons {
		p.DaemonSets = append(p.DaemonSets,
			DaemonSet("cni", Namespace("kube-system"), Requests(MilliCPU(50), MiB(64)), TolerateAll()),
			DaemonSet("logs", Namespace("kube-system"), Requests(MilliCPU(100), MiB(200)), TolerateAll()))
	}
	p.Pods = b.workloads()
	plan, err := o.Solver.Solve(context.Background(), p)
	if err == nil && len(plan.Unschedulable) > 0 {
		err = fmt.Errorf("pod %s: %s", plan.Unschedulable[0].Pod, plan.Unschedulable[0].Message)
	}
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: no cluster for seed %d: %v", seed, err))
	}
	c := disruption.Cluster{Problem: p, PodDisruptionBudgets: b.budgets}
	b.settle(&c, plan)
	countBudgets(&c)
	return c
}

// clusterBuilder is what the parts of one cluster have in common.
type clusterBuilder struct {
	dice
	options ClusterOptions
	budgets []*podBudget
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

// settle turns the launches of the plan into nodes, with the pods on them that are left.
func (b *clusterBuilder) settle(c *disruption.Cluster, plan *scheduling.Plan) {
	pods := make(map[string]*corev1.Pod, len(c.Pods))
	for _, pod := range c.Pods {
		pods[podKey(pod)] = pod
	}
	c.Pods = nil
	for i := range plan.Launches {
		created := c.Now.Add(-time.Duration(b.between(2*60, 200*60)) * time.Minute)
		ready := created.Add(90 * time.Second)
		node := mustNode(c, &plan.Launches[i], fmt.Sprintf("node-%05d", i+1))
		node.CreationTimestamp = metav1.NewTime(created)
		c.Nodes = append(c.Nodes, node)
		c.Machines = append(c.Machines, disruption.Machine{
			Node: node.Name, Created: created, Initialized: ready,
			LastPodEvent: c.Now.Add(-time.Duration(b.between(10, 60)) * time.Minute),
		})
		for _, name := range plan.Launches[i].Pods {
			if b.Float64() >= b.options.Removed {
				c.Running = append(c.Running, runs(pods[name], node.Name, ready))
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
