package steps

import (
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// clusterState is the cluster as it stands between two steps.
type clusterState struct {
	state *snapshot.State
	plan  *disruption.ConsolidationPlan
	costs *costs
	rules *nodeRules
	// original are the nodes of the cluster, machines the cluster's statements about them, by name.
	original map[string]*corev1.Node
	machines map[string]*disruption.Machine
	nodes    map[string]*clusterNode
	topology *binding.Topology // nodes with their pods
	anyTerms bool              // some pod has topology terms
	budgets  podBudgets
	// moved, drains and bought are the numbers of the steps, counted from 1, in which a pod has moved, a node is drained,
	// and a machine has been launched, by name.
	moved, drains, bought map[string]int
	// received are the nodes with a machine of the cluster that steps have moved pods to.
	received map[string]bool
}

// newClusterState returns the cluster before the first step.
func newClusterState(planner *disruption.Planner, cluster disruption.Cluster, plan *disruption.ConsolidationPlan) *clusterState {
	// The objects of machines that are being shut down may not show it yet.
	cluster.Nodes = changed(cluster.Nodes, markShutDown, lo.FilterMap(cluster.Machines, func(m disruption.Machine, _ int) (string, bool) { return m.Node, m.Terminating }))
	g := &clusterState{
		state: snapshot.New(cluster.Problem, planner.Policy), plan: plan, rules: &nodeRules{planner, planner.Now},
		original: make(map[string]*corev1.Node), machines: make(map[string]*disruption.Machine), nodes: make(map[string]*clusterNode),
		topology: binding.NewTopology(), budgets: podBudgetsOf(cluster),
		moved: make(map[string]int), drains: make(map[string]int), bought: make(map[string]int), received: make(map[string]bool),
	}
	if g.rules.now.IsZero() {
		g.rules.now = cluster.Now
	}
	g.costs = &costs{g.state, planner}
	for i := range cluster.Machines {
		g.machines[cluster.Machines[i].Node] = &cluster.Machines[i]
	}
	for _, object := range cluster.Nodes {
		g.original[object.Name] = object
		s := g.newClusterNode(g.state.Nodes[object.Name])
		g.nodes[object.Name] = s
		g.topology.AddNode(s.node)
	}
	for _, name := range slices.Sorted(maps.Keys(g.state.Running)) {
		pod := g.state.Running[name]
		if at := g.nodes[pod.Spec.NodeName]; at != nil {
			at.setPods(append(at.pods, pod))
		}
		g.anyTerms = g.anyTerms || !g.state.Reader.TermsOf(pod, false).None()
		g.addPod(pod)
	}
	g.budgets.spend(cluster.Underway, g.state.Running)
	for i := range plan.Steps {
		for _, name := range plan.Steps[i].Drain {
			if g.drains[name] == 0 {
				g.drains[name] = i + 1
			}
		}
	}
	return g
}

// changed returns the nodes, with changed copies of the named ones.
func changed(nodes []*corev1.Node, change func(*corev1.Node), names []string) []*corev1.Node {
	return lo.Map(nodes, func(object *corev1.Node, _ int) *corev1.Node {
		if !slices.Contains(names, object.Name) {
			return object
		}
		own := *object
		change(&own)
		return &own
	})
}

// markDrained marks a node that a step under way drains: it is being removed, but takes of limits until it is gone.
func markDrained(node *corev1.Node) {
	if node.DeletionTimestamp = nil; !snapshot.Leaving(node) {
		node.Spec.Taints = append(slices.Clone(node.Spec.Taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
	}
}

// markShutDown marks a node whose machine is being shut down as one that is being deleted, unless it is marked already.
func markShutDown(node *corev1.Node) {
	if !snapshot.Leaving(node) {
		node.DeletionTimestamp = &metav1.Time{}
	}
}

// newClusterNode returns the node with its machine and price, without pods.
func (g *clusterState) newClusterNode(n *snapshot.Node) *clusterNode {
	bare, expected, priced := g.costs.priceOf(n.Running)
	return &clusterNode{node: n, machine: g.machineOf(n.Name), bare: int64(bare), price: int64(expected), priced: priced}
}

// addNode adds a node, with its share of the usage of its pool.
func (g *clusterState) addNode(s *clusterNode) {
	g.state.AddNode(s.node)
	g.nodes[s.node.Name] = s
	g.topology.AddNode(s.node)
}

// removeNode removes a node, with its share of the usage of its pool.
func (g *clusterState) removeNode(s *clusterNode) {
	g.state.RemoveNode(s.node)
	g.topology.RemoveNode(s.node)
	delete(g.nodes, s.node.Name)
}

// group returns the group of a running pod.
func (g *clusterState) group(pod *corev1.Pod) *binding.Group {
	return g.topology.Group(g.state.Reader.IdentityOf(pod), g.state.Reader.TermsOf(pod, true))
}

// addPod puts a pod onto its node.
func (g *clusterState) addPod(pod *corev1.Pod) {
	g.state.AddPod(pod)
	g.topology.Add(g.group(pod), g.topology.Named[pod.Spec.NodeName], 1)
}

// removePod takes a pod out of the cluster.
func (g *clusterState) removePod(pod *corev1.Pod) {
	g.topology.Add(g.group(pod), g.topology.Named[pod.Spec.NodeName], -1)
	g.state.RemovePod(pod)
}

// machineOf returns the statements of the cluster about the machine of a node, empty without any.
func (g *clusterState) machineOf(node string) *disruption.Machine {
	if m := g.machines[node]; m != nil {
		return m
	}
	return &disruption.Machine{}
}

// totals are sums over the nodes that belong to pools.
type totals struct {
	price, bare     *big.Int // as in clusterNode
	nodes, unpriced int
}

// totals adds up the nodes as they stand.
func (g *clusterState) totals() totals {
	t := totals{price: new(big.Int), bare: new(big.Int)}
	for _, s := range g.nodes {
		switch {
		case s.node.Pool == nil:
		case !s.priced:
			t.unpriced++
		default:
			t.nodes++
			t.price.Add(t.price, big.NewInt(s.price))
			t.bare.Add(t.bare, big.NewInt(s.bare))
		}
	}
	return t
}

// rereadDaemons reads the DaemonSets again where the newest pod of one is gone, and then all nodes.
func (g *clusterState) rereadDaemons() {
	if g.state.RereadDaemons() {
		for _, s := range g.nodes {
			g.state.Reread(s.node, s.pods)
		}
	}
}
