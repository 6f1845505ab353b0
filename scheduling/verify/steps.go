package verify

import (
	"fmt"
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

// StepsChecker judges plans that disrupt nodes. The zero value judges those of the zero
// Planner.
type StepsChecker struct {
	// Planner holds the settings under which the plan was made. PodCost is called.
	Planner disruption.Planner
	// SkipBound leaves out the certificate of the lower bound, which takes longest.
	SkipBound bool
}

// Steps judges a plan of the zero Planner; see [StepsChecker.Steps].
func Steps(c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	return StepsChecker{}.Steps(c, plan)
}

// Steps carries a plan out, step by step, on the objects of the cluster that it is for. It returns nil if every step
// is allowed and possible when its turn comes and the plan's statements about it hold, otherwise a *[Report] in which
// objects of a step begin with "steps[0]/". A plan that passes is right wherever it is broken off, because no step is
// judged by later ones, except that no pod moves twice; only pods of nodes that had to go may move on once, in order
// to save. The cluster is taken to be valid, and neither it nor the plan is changed.
func (c StepsChecker) Steps(cluster disruption.Cluster, plan *disruption.ConsolidationPlan) error {
	_, err := c.Prove(cluster, plan)
	return err
}

// Prove judges a plan as [StepsChecker.Steps] does, and returns the proof of the plan's lower bound: the price of existing
// nodes that cannot be removed is among its terms. With an error it is the proof as far as the certificate could be read;
// without a plan, or with SkipBound, it is nil.
func (c StepsChecker) Prove(cluster disruption.Cluster, plan *disruption.ConsolidationPlan) (*Proof, error) {
	report := &Report{}
	if plan == nil {
		report.add(CodeNoPlan, "plan", "is nil")
		return nil, report.err()
	}
	cluster.Nodes = changed(lo.Compact(cluster.Nodes), markDrained, lo.FlatMap(cluster.Underway, func(s disruption.Step, _ int) []string { return s.Drain }))
	g := newClusterState(c, cluster, plan)
	start := g.totals()
	frontier := []disruption.Point{}
	sum := disruption.Point{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		own := &Report{}
		g.step(own, i+1, step)
		for _, v := range own.Violations {
			v.Object = fmt.Sprintf("steps[%d]/%s", i, v.Object)
			report.Violations = append(report.Violations, v)
		}
		sum.Steps++
		sum.SavingPerHour += step.SavingPerHour
		sum.PodsMoved += len(step.Evictions)
		sum.DisruptionCost += step.DisruptionCost
		frontier = append(frontier, sum)
	}
	whole := &planCheck{cluster: g, report: report, plan: plan}
	whole.verdicts()
	whole.pending(&cluster)
	whole.summary(start, frontier)
	if c.SkipBound {
		return nil, report.err()
	}
	return c.rebuildBound(report, cluster, plan), report.err()
}

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
	waiting  map[string]*snapshot.Pod
	budgets  podBudgets
	// moved, drains and bought are the numbers of the steps in which a pod has moved, a
	// node goes, and a machine has been launched.
	moved, drains, bought map[string]int
	// received are the machines of the cluster to whose nodes steps have moved pods, by node.
	received map[string]bool
}

func newClusterState(c StepsChecker, cluster disruption.Cluster, plan *disruption.ConsolidationPlan) *clusterState {
	// The objects of machines that are being shut down may not show it yet.
	cluster.Nodes = changed(cluster.Nodes, markShutDown, lo.FilterMap(cluster.Machines, func(m disruption.Machine, _ int) (string, bool) { return m.Node, m.Terminating }))
	g := &clusterState{
		state: snapshot.New(cluster.Problem, c.Planner.Policy), plan: plan, rules: &nodeRules{&c.Planner, c.Planner.Now},
		original: make(map[string]*corev1.Node), machines: make(map[string]*disruption.Machine), nodes: make(map[string]*clusterNode),
		topology: binding.NewTopology(), budgets: podBudgetsOf(cluster),
		moved: make(map[string]int), drains: make(map[string]int), bought: make(map[string]int), received: make(map[string]bool),
	}
	if g.rules.now.IsZero() {
		g.rules.now = cluster.Now
	}
	g.costs = &costs{g.state, &c.Planner}
	g.waiting, g.state.Residents = g.state.Pods, nil // the topology knows them
	for i := range cluster.Machines {
		g.machines[cluster.Machines[i].Node] = &cluster.Machines[i]
	}
	for _, object := range cluster.Nodes {
		g.original[object.Name] = object
		g.addNode(g.newClusterNode(g.state.Nodes[object.Name]))
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

// step judges one step and carries it out.
func (g *clusterState) step(r *Report, number int, step *disruption.Step) {
	a := &stepCheck{cluster: g, report: r, number: number, step: step, left: make(map[string][]*binding.Group)}
	a.checkStatements()
	a.checkDrained()
	a.checkEvictions()
	budgets := &budgetCheck{cluster: g, report: r, step: step, going: a.going, moves: a.moves}
	budgets.nodeBudgets()
	budgets.podBudgets()
	worth := &worthCheck{cluster: g, report: r, step: step, going: a.going, moves: a.moves}
	worth.worth()
	a.removeDrained()
	a.checkPlaces()
	waves := &waveCheck{cluster: g, report: r, going: a.going, moves: a.moves, left: a.left}
	waves.waves()
	a.complete()
}

// stepCheck is one step as it is judged.
type stepCheck struct {
	cluster *clusterState
	report  *Report
	number  int
	step    *disruption.Step
	// going are the nodes that it removes, in its order; moves the evictions that can be
	// carried out; launched the nodes that its launches become, and stands the machines until then.
	going       []*clusterNode
	moves       []move
	launched    map[string]*corev1.Node
	launchNodes []*snapshot.Node
	// left are the pods that go with their nodes, by node.
	left map[string][]*binding.Group
}

// move is an eviction with its pod.
type move struct {
	*disruption.Eviction
	pod       *corev1.Pod
	successor *snapshot.Pod
	// was and will are the groups of the pod where it is, and where it goes.
	was, will *binding.Group
}

// clusterNode is a node of the cluster as it stands.
type clusterNode struct {
	node    *snapshot.Node
	machine *disruption.Machine
	// pods are the pods there that have not finished; only setPods changes them.
	pods []*corev1.Pod
	// removal is the disruption cost of removing the node, nil until known for these pods.
	removal *float64
	// price is the expected cost of the node, bare that of its machine, in nano-USD per hour, if priced.
	price, bare int64
	priced      bool
	// launched is set for a machine that a step has launched.
	launched bool
}

// setPods replaces the pods of the node.
func (s *clusterNode) setPods(pods []*corev1.Pod) { s.pods, s.removal = pods, nil }

func (g *clusterState) newClusterNode(n *snapshot.Node) *clusterNode {
	bare, expected, priced := g.costs.priceOf(n.Running)
	return &clusterNode{node: n, machine: g.machineOf(n.Name), bare: int64(bare), price: int64(expected), priced: priced}
}

// addNode takes in a node.
func (g *clusterState) addNode(s *clusterNode) {
	g.state.Nodes[s.node.Name], g.nodes[s.node.Name] = s.node, s
	g.topology.AddNode(s.node)
}

// removeNode removes a node, with its share of the pool's usage.
func (g *clusterState) removeNode(s *clusterNode) {
	s.node.Charge(-1)
	g.topology.RemoveNode(s.node)
	delete(g.nodes, s.node.Name)
	delete(g.state.Nodes, s.node.Name)
}

// rebuild describes the node anew with the pods that are on it now.
func (g *clusterState) rebuild(s *clusterNode) { *s.node = *g.state.NewNode(s.node.Running, s.pods) }

// group returns the group of a running pod.
func (g *clusterState) group(pod *corev1.Pod) *binding.Group {
	return g.topology.Group(g.state.Reader.IdentityOf(pod), g.state.Reader.TermsOf(pod, true))
}

// addPod puts a pod onto its node.
func (g *clusterState) addPod(pod *corev1.Pod) {
	g.state.Running[snapshot.ObjectName(pod)] = pod
	g.topology.Add(g.group(pod), g.topology.Named[pod.Spec.NodeName], 1)
}

// removePod takes a pod out of the cluster.
func (g *clusterState) removePod(pod *corev1.Pod) {
	g.topology.Add(g.group(pod), g.topology.Named[pod.Spec.NodeName], -1)
	delete(g.state.Running, snapshot.ObjectName(pod))
}

// poolOf is the pool that the node says it belongs to.
func poolOf(node *corev1.Node) string { return node.Labels[scheduling.NodePoolLabel] }

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
