package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

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
func Steps(c disruption.Cluster, plan *disruption.Plan) error {
	return StepsChecker{}.Steps(c, plan)
}

// Steps carries a plan out, step by step, on the objects of the cluster that it is for. It
// returns nil if every step is allowed and possible when its turn comes and the plan says
// the truth about it, otherwise a *[Report] in which objects of a step begin with
// "steps[0]/". A plan that passes is right wherever it is broken off: no step is judged
// by those behind it, but that no pod moves twice; only pods of nodes that had to go may move
// on once, where that saves something. The cluster is taken to be valid, and neither it nor
// the plan is changed.
func (c StepsChecker) Steps(cluster disruption.Cluster, plan *disruption.Plan) error {
	report := &Report{}
	if plan == nil {
		report.add(NoPlan, "plan", "is nil")
		return report.err()
	}
	cluster.Nodes = drainedAlready(cluster)
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
	g.verdicts(report)
	g.addsUp(report, start, frontier)
	if !c.SkipBound {
		c.freshBound(report, cluster, plan)
	}
	return report.err()
}

// clusterState is the cluster as it stands between two steps.
type clusterState struct {
	*snapshot.State
	checker StepsChecker
	plan    *disruption.Plan
	now     time.Time
	// original are the nodes of the cluster, machines what is told of them, by name.
	original   map[string]*corev1.Node
	machines   map[string]*disruption.Machine
	there      map[string]*clusterNode
	row        []*clusterNode // the same, by name
	leavers    []*clusterNode // nodes that are being removed already
	nodeCounts map[*snapshot.Pool]*nodeCount
	// topology is who sits where, running the pods by name, order the names of all there were.
	topology *binding.Topology
	running  map[string]*runningPod
	order    []string
	tied     bool // some pod has ties
	waiting  map[string]*snapshot.Pod
	budgets  []*podBudget
	// moved, drains and bought are the numbers of the steps in which a pod has moved, a
	// node goes, and a machine has been launched.
	moved, drains, bought map[string]int
	// stirred are the nodes that steps have moved pods to, where the cluster tells of such.
	stirred map[string]bool
}

// runningPod is a pod with its node and what rules see of it.
type runningPod struct {
	pod   *corev1.Pod
	node  string
	group *binding.Group
}

func newClusterState(c StepsChecker, cluster disruption.Cluster, plan *disruption.Plan) *clusterState {
	cluster.Nodes = shuttingDown(cluster)
	g := &clusterState{
		State: snapshot.New(cluster.Problem, c.Planner.Policy), checker: c, plan: plan, now: c.Planner.Now,
		original: make(map[string]*corev1.Node), machines: make(map[string]*disruption.Machine), there: make(map[string]*clusterNode),
		running: make(map[string]*runningPod), nodeCounts: make(map[*snapshot.Pool]*nodeCount), topology: binding.NewTopology(), budgets: podBudgetsOf(cluster),
		moved: make(map[string]int), drains: make(map[string]int), bought: make(map[string]int), stirred: make(map[string]bool),
	}
	if g.now.IsZero() {
		g.now = cluster.Now
	}
	g.waiting, g.Residents, g.Workloads = g.State.Pods, nil, snapshot.NewWorkloadCounts() // the topology knows them
	for i := range cluster.Machines {
		g.machines[cluster.Machines[i].Node] = &cluster.Machines[i]
	}
	for _, object := range cluster.Nodes {
		g.original[object.Name] = object
		g.enlist(g.newClusterNode(g.Nodes[object.Name]))
	}
	pods := make(map[string]*corev1.Pod)
	for _, pod := range slices.Concat(cluster.Running, cluster.Pods) {
		if pod.Spec.NodeName == "" || snapshot.Finished(pod) || pods[snapshot.ObjectName(pod)] != nil {
			continue
		}
		pods[snapshot.ObjectName(pod)] = pod
		if at := g.there[pod.Spec.NodeName]; at != nil {
			at.seat(append(at.pods, pod))
		}
		g.tied = g.tied || !g.TiesOf(pod, false).None()
	}
	g.spend(cluster.Underway, pods)
	g.order = slices.Sorted(maps.Keys(pods))
	for _, name := range g.order {
		g.sit(pods[name], pods[name].Spec.NodeName)
	}
	for i := range plan.Steps {
		for _, name := range plan.Steps[i].Drain {
			if g.drains[name] == 0 {
				g.drains[name] = i + 1
			}
		}
	}
	return g
}

// shuttingDown are the nodes of a cluster, those of machines that are being shut down marked
// as such: their objects may not show it yet.
func shuttingDown(c disruption.Cluster) []*corev1.Node {
	gone := make(map[string]bool)
	for i := range c.Machines {
		gone[c.Machines[i].Node] = c.Machines[i].Terminating
	}
	return marked(c.Nodes, gone)
}

// drainedAlready are the nodes of a cluster, those that steps under way remove marked as such.
func drainedAlready(c disruption.Cluster) []*corev1.Node {
	gone := make(map[string]bool)
	for i := range c.Underway {
		for _, name := range c.Underway[i].Drain {
			gone[name] = true
		}
	}
	return marked(c.Nodes, gone)
}

// marked are nodes, some of them marked as being removed.
func marked(nodes []*corev1.Node, gone map[string]bool) []*corev1.Node {
	return lo.Map(nodes, func(object *corev1.Node, _ int) *corev1.Node {
		if !gone[object.Name] || snapshot.Leaving(object) {
			return object
		}
		marked := *object
		marked.Spec.Taints = append(slices.Clone(object.Spec.Taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		return &marked
	})
}

// step judges one step and carries it out.
func (g *clusterState) step(r *Report, number int, step *disruption.Step) {
	a := &stepCheck{clusterState: g, Report: r, number: number, step: step, left: make(map[string][]*binding.Group)}
	a.head()
	a.drained()
	a.movers()
	a.nodeBudgets()
	a.podBudgets()
	a.worth()
	a.leave()
	a.place()
	a.waves()
	a.arrive()
}

// stepCheck is one step as it is judged.
type stepCheck struct {
	*clusterState
	*Report
	number int
	step   *disruption.Step
	// going are the nodes that it removes, in its order; moves the evictions that can be
	// carried out; launched the nodes that its launches become.
	going    []*clusterNode
	moves    []move
	launched map[string]*corev1.Node
	// left are the pods that go with their nodes, by node.
	left map[string][]*binding.Group
	// used are the machines that it takes out of reservations.
	used map[string]int
}

// move is an eviction with its pod.
type move struct {
	*disruption.Eviction
	pod    *corev1.Pod
	tenant *snapshot.Pod
	// was and will are what rules see of it where it is, and where it goes.
	was, will *binding.Group
}

// clusterNode is a node that is there.
type clusterNode struct {
	*snapshot.Node
	machine *disruption.Machine
	// pods are those there that have not finished; only seat changes them.
	pods []*corev1.Pod
	// removal is what removing the node counts, once that is known for these pods.
	removal *float64
	// price is what it is expected to cost, bare what its machine costs, in nano-USD, where
	// that is known.
	price, bare int64
	priced      bool
	// fresh is set for a machine that a step has launched.
	fresh bool
}

// seat says which pods are there now.
func (s *clusterNode) seat(pods []*corev1.Pod) { s.pods, s.removal = pods, nil }

// nodeCount is how many nodes of a pool budgets count, those that have become ready once and are
// not shut down, and how many of them do not work or are being removed.
type nodeCount struct{ counted, away int }

func (g *clusterState) newClusterNode(n *snapshot.Node) *clusterNode {
	bare, expected, priced := g.priceOf(n.Running)
	return &clusterNode{Node: n, machine: g.machineOf(n.Name), bare: int64(bare), price: int64(expected), priced: priced}
}

// enlist takes in a node.
func (g *clusterState) enlist(s *clusterNode) {
	g.Nodes[s.Name], g.there[s.Name] = s.Node, s
	i, _ := g.find(s.Name)
	g.row = slices.Insert(g.row, i, s)
	if s.Leaves() {
		g.leavers = append(g.leavers, s)
	}
	g.count(s, 1)
	g.topology.Enter(s.Node)
}

// retire removes a node, and what its pool's limits count of it.
func (g *clusterState) retire(s *clusterNode) {
	s.Charge(-1)
	g.topology.Leave(s.Node)
	g.count(s, -1)
	i, _ := g.find(s.Name)
	g.row = slices.Delete(g.row, i, i+1)
	delete(g.there, s.Name)
	delete(g.Nodes, s.Name)
}

// find is where a node is in the row, or belongs.
func (g *clusterState) find(name string) (int, bool) {
	return slices.BinarySearchFunc(g.row, name, func(s *clusterNode, name string) int { return strings.Compare(s.Name, name) })
}

// count notes n nodes more such as this one for the budgets of its pool.
func (g *clusterState) count(s *clusterNode, n int) {
	if snapshot.InFlight(s.Running) || s.machine.Terminating {
		return
	}
	if g.nodeCounts[s.Pool] == nil {
		g.nodeCounts[s.Pool] = &nodeCount{}
	}
	g.nodeCounts[s.Pool].counted += n
	if !readyNode(s.Running) || s.Leaves() {
		g.nodeCounts[s.Pool].away += n
	}
}

// rebuild works out anew what the pods on a node leave of it.
func (g *clusterState) rebuild(s *clusterNode) { *s.Node = *g.NewNode(s.Running, s.pods) }

// sit puts a pod onto a node.
func (g *clusterState) sit(pod *corev1.Pod, at string) {
	p := &runningPod{pod, at, g.topology.Group(g.FaceOf(pod), g.TiesOf(pod, true))}
	g.running[snapshot.ObjectName(pod)] = p
	g.topology.Sit(p.group, g.topology.Named[at], 1)
	g.CountWorkload(pod, at, 1)
}

// drop takes a pod out of the cluster.
func (g *clusterState) drop(pod *corev1.Pod) {
	p := g.running[snapshot.ObjectName(pod)]
	g.Storage.Release(pod)
	g.topology.Sit(p.group, g.topology.Named[p.node], -1)
	g.CountWorkload(pod, p.node, -1)
	delete(g.running, snapshot.ObjectName(pod))
}

// poolOf is the pool that the node says it belongs to.
func poolOf(node *corev1.Node) string { return node.Labels[scheduling.NodePoolLabel] }
