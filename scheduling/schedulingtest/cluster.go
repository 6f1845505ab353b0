package schedulingtest

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Cluster returns a cluster that was packed well once and has lost pods since: nodes were launched for the pods of many
// workloads, and a random share of the pods was removed. The same seed and options give the same cluster. It panics if
// the catalog cannot hold the pods, which are small.
func Cluster(seed uint64, o ClusterOptions) disruption.Cluster {
	o = o.orDefaults()
	b := &clusterBuilder{dice: dice.New(seed), options: o}
	if b.options.Removed <= 0 {
		b.options.Removed = 0.2 + 0.4*b.dice.Float64()
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
	for batch := range o.Batches {
		if err := b.buy(pods[batch*len(pods)/o.Batches : (batch+1)*len(pods)/o.Batches]); err != nil {
			panic(fmt.Sprintf("schedulingtest: no cluster for seed %d: %v", seed, err))
		}
	}
	b.finish()
	countBudgets(&b.cluster)
	return b.cluster
}

// clusterBuilder is the shared state of the parts of one cluster.
type clusterBuilder struct {
	dice    dice.Dice
	options ClusterOptions
	cluster disruption.Cluster
}

// pool may launch every offering; whether spot is allowed is up to the pods.
func (b *clusterBuilder) pool() *scheduling.NodePool {
	kinds := []string{string(offerings.OnDemand)}
	if b.options.Spot {
		kinds = append(kinds, string(offerings.Spot))
	}
	pool := NodePool("default", Where(In(offerings.CapacityTypeLabel, kinds...)))
	pool.Spec.Disruption = scheduling.Disruption{
		ConsolidationPolicy: b.options.Consolidation,
		ConsolidateAfter:    b.options.ConsolidateAfter,
		Budgets:             b.options.Budgets,
	}
	return pool
}

// buy places pods on the nodes that there are and on new ones.
func (b *clusterBuilder) buy(pods []*corev1.Pod) error {
	p := b.cluster.Problem
	p.Pods = pods
	plan, err := provisioning.Planner{Policy: b.options.Policy}.Plan(context.Background(), p)
	if err == nil && len(plan.Unschedulable) > 0 {
		err = fmt.Errorf("pod %s: %s", plan.Unschedulable[0].Pod, plan.Unschedulable[0].Message)
	}
	if err != nil {
		return err
	}
	known := make(map[string]*corev1.Pod, len(pods))
	for _, pod := range pods {
		known[scheduling.PodName(pod)] = pod
	}
	c := &b.cluster
	bought := make(map[string]string, len(plan.Launches))
	for i := range plan.Launches {
		l := &plan.Launches[i]
		bought[l.Name] = fmt.Sprintf("node-%05d", len(c.Nodes)+1)
		c.Nodes = append(c.Nodes, mustNode(c, l, bought[l.Name]))
	}
	for pod, at := range plan.Placements() {
		node := at.Node
		if at.Launch != nil {
			node = bought[at.Launch.Name]
		}
		c.Running = append(c.Running, runs(known[pod.String()], node, c.Now))
	}
	return nil
}

// finish removes pods, and sets the ages of nodes. The first nodes lose their pool.
func (b *clusterBuilder) finish() {
	c := &b.cluster
	on := make(map[string][]*corev1.Pod, len(c.Nodes))
	for _, pod := range c.Running {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
	}
	c.Running = nil
	for i, node := range c.Nodes {
		created := c.Now.Add(-time.Duration(b.dice.Between(2*60, 200*60)) * time.Minute)
		ready := created.Add(90 * time.Second)
		node.CreationTimestamp = metav1.NewTime(created)
		m := disruption.Machine{
			Node: node.Name, Created: created, Initialized: ready,
			LastPodEvent: c.Now.Add(-time.Duration(b.dice.Between(10, 60)) * time.Minute),
		}
		if i < b.options.Unmanaged {
			delete(node.Labels, scheduling.NodePoolLabel)
		} else {
			c.Machines = append(c.Machines, m)
		}
		for _, pod := range on[node.Name] {
			if b.dice.Float64() >= b.options.Removed {
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
	node, err := l.Node(name, &l.Options[0], c.CatalogOf(l.NodePool))
	if err != nil {
		panic(fmt.Sprintf("schedulingtest: %v", err))
	}
	node.UID = types.UID(name)
	return node
}

type podBudget = policyv1.PodDisruptionBudget

// workloads returns the pods of Deployments of two to forty replicas, of the sizes of [MixedSizes], with the topology
// terms and budgets of the options.
func (b *clusterBuilder) workloads() []*corev1.Pod {
	n := b.options.Nodes * b.options.PodsPerNode
	pods := make([]*corev1.Pod, 0, n)
	for i := 0; len(pods) < n; i++ {
		name := fmt.Sprintf("app-%05d", i)
		replicas := min(b.dice.Between(2, 40), n-len(pods))
		kind := "ReplicaSet"
		if b.options.Various && b.dice.OneIn(10) {
			kind, replicas = "StatefulSet", min(replicas, 5)
		}
		opts := []PodOption{
			Label("app", name), OwnedBy(kind, name),
			Requests(MilliCPU(dice.Pick[int64](b.dice, 100, 250, 500, 1000, 1500)), MiB(dice.Pick[int64](b.dice, 100, 256, 512, 1024, 2048, 4096))),
		}
		if b.options.Spread && b.dice.OneIn(3) {
			opts = append(opts, b.spread())
		}
		if b.options.Apart && b.dice.OneIn(8) {
			// One pod a host is for workloads that have hosts enough.
			replicas = min(replicas, max(b.options.Nodes/4, 2))
			opts = append(opts, Apart(corev1.LabelHostname))
		}
		if b.options.Spot && b.dice.OneIn(2) {
			opts = append(opts, Select(offerings.CapacityTypeLabel, string(offerings.OnDemand)))
		}
		if b.options.PDBs && b.dice.OneIn(2) {
			b.cluster.PodDisruptionBudgets = append(b.cluster.PodDisruptionBudgets, b.budget(name))
		}
		pods = append(pods, Pods(replicas, name, opts...)...)
	}
	return pods
}

// budget is a PodDisruptionBudget for a workload.
func (b *clusterBuilder) budget(app string) *podBudget {
	most := dice.Pick(b.dice, intstr.FromInt32(1), intstr.FromString("10%"), intstr.FromString("25%"), intstr.FromInt32(5))
	if b.dice.OneIn(20) {
		most = intstr.FromInt32(0)
	}
	out := DisruptionBudget(app, map[string]string{"app": app}, most)
	if b.options.Various && b.dice.OneIn(2) {
		least := dice.Pick(b.dice, intstr.FromString("75%"), intstr.FromString("90%"), intstr.FromInt32(1))
		out.Spec.MaxUnavailable, out.Spec.MinAvailable = nil, &least
	}
	return out
}

// spread is one over zones.
func (b *clusterBuilder) spread() PodOption {
	if b.options.Various && b.dice.OneIn(2) {
		return Spread(corev1.LabelTopologyZone, Soft())
	}
	return Spread(corev1.LabelTopologyZone)
}

// volume gives a pod of a StatefulSet a volume in the zone of its node.
func (b *clusterBuilder) volume(pod *corev1.Pod, node *corev1.Node) {
	if pod.OwnerReferences[0].Kind != "StatefulSet" {
		return
	}
	name := "data-" + pod.Name
	UseClaim(name).Apply(pod)
	b.cluster.Claims = append(b.cluster.Claims, Claim(name, BoundTo(name)))
	b.cluster.Volumes = append(b.cluster.Volumes, Volume(name, Where(In(corev1.LabelTopologyZone, node.Labels[corev1.LabelTopologyZone]))))
}

// DisruptionBudget is a PodDisruptionBudget of the namespace "default" that lets so many of
// the pods with the labels be away. No controller has seen it yet.
func DisruptionBudget(name string, of map[string]string, maxUnavailable intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Generation: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: of},
			MaxUnavailable: &maxUnavailable,
		},
	}
}

// countBudgets writes the status of every PodDisruptionBudget as the disruption controller does,
// with the running pods as the expected ones.
func countBudgets(c *disruption.Cluster) {
	type label struct{ namespace, key, value string }
	spaces, labelled := make(map[string][]*corev1.Pod), make(map[label][]*corev1.Pod)
	for _, pod := range c.Running {
		spaces[pod.Namespace] = append(spaces[pod.Namespace], pod)
		for key, value := range pod.Labels {
			at := label{pod.Namespace, key, value}
			labelled[at] = append(labelled[at], pod)
		}
	}
	for _, b := range c.PodDisruptionBudgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || b.Spec.Selector == nil {
			continue
		}
		pods := spaces[b.Namespace]
		for key, value := range b.Spec.Selector.MatchLabels {
			// Only pods with the label are examined, because there may be thousands of budgets for
			// a hundred thousand pods.
			pods = labelled[label{b.Namespace, key, value}]
			break
		}
		tally(b, selected(pods, selector))
	}
}

// selected are the pods that count for a budget.
func selected(pods []*corev1.Pod, selector labels.Selector) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if done := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; !done && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out
}

// tally fills the status in for the pods that a budget is about.
func tally(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) {
	healthy := 0
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil && ready(pod) {
			healthy++
		}
	}
	// Shares are rounded up, of both.
	desired := 0
	switch {
	case b.Spec.MaxUnavailable != nil:
		n, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, len(pods), true)
		desired = max(len(pods)-n, 0)
	case b.Spec.MinAvailable != nil:
		desired, _ = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, len(pods), true)
	}
	b.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: b.Generation,
		DisruptionsAllowed: int32(max(healthy-desired, 0)),
		CurrentHealthy:     int32(healthy),
		DesiredHealthy:     int32(desired),
		ExpectedPods:       int32(len(pods)),
	}
}

func ready(pod *corev1.Pod) bool {
	for _, cond := range pod.Status.Conditions {
		if cond.Type == corev1.PodReady {
			return cond.Status == corev1.ConditionTrue
		}
	}
	return false
}
