package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Cluster is the cluster once a plan has been carried out and every machine is ready; the
// planned pods still have no node.
type Cluster struct {
	// Nodes are the nodes of the problem, then one for each launch.
	Nodes []Node
	// Placements are the planned pods in the order in which a scheduler takes them: by
	// priority, then by name.
	Placements []Placement
	// Left are the pods that the plan gives up on.
	Left []*corev1.Pod
	// DefaultSpread are the problem's default constraints.
	DefaultSpread []corev1.TopologySpreadConstraint
}

// Node is a node with the pods that run on it before the planned ones.
type Node struct {
	*corev1.Node
	// Launch is the launch for which the node was bought, Machine its offering; nil and
	// "" for nodes of the problem.
	Launch  *scheduling.Launch
	Machine string
	// Running are the running pods of the problem, Daemons those that DaemonSets add.
	Running, Daemons []*corev1.Pod
	// Late nodes join only when [Run] has seen every planned pod tried once, as
	// machines do that are bought for pods which wait already.
	Late bool
}

// Placement is a pod with the name of its planned node.
type Placement struct {
	Pod  *corev1.Pod
	Node string
}

// CarryOut returns the cluster that a plan leads to. choice gives the number of the
// option that each launch is bought as; nil is the first for all. Problem and plan are
// not changed. An error means that the plan names an object that the problem lacks.
func CarryOut(p *scheduling.Problem, plan *scheduling.Plan, choice []int) (*Cluster, error) {
	return newWorld(p).carryOut(plan, choice)
}

func (w *world) carryOut(plan *scheduling.Plan, choice []int) (*Cluster, error) {
	c := &Cluster{DefaultSpread: w.problem.DefaultSpread}
	running := map[string][]*corev1.Pod{}
	for _, pod := range w.running {
		running[pod.Spec.NodeName] = append(running[pod.Spec.NodeName], pod)
	}
	taken := map[string]bool{}
	for _, node := range w.nodes {
		taken[node.Name] = true
		c.Nodes = append(c.Nodes, Node{Node: node, Running: running[node.Name], Daemons: w.daemonsOf(node)})
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		at := 0
		if choice != nil {
			at = choice[i]
		}
		node, err := w.bought(freeName(l.Name, taken), l, at)
		if err != nil {
			return nil, err
		}
		taken[node.Name] = true
		c.Nodes = append(c.Nodes, node)
		if err := w.place(c, node.Name, l.Pods); err != nil {
			return nil, err
		}
	}
	for i := range plan.Existing {
		a := &plan.Existing[i]
		if !taken[a.Node] {
			return nil, fmt.Errorf("node %s of the plan is not in the problem", a.Node)
		}
		if err := w.place(c, a.Node, a.Pods); err != nil {
			return nil, err
		}
	}
	inTurn(c.Placements)
	for i := range plan.Unschedulable {
		pod, err := w.pendingPod(plan.Unschedulable[i].Pod)
		if err != nil {
			return nil, err
		}
		c.Left = append(c.Left, pod)
	}
	return c, nil
}

// bought is the node that a launch becomes when it is bought as one of its options.
func (w *world) bought(name string, l *scheduling.Launch, option int) (Node, error) {
	if option >= len(l.Options) {
		return Node{}, fmt.Errorf("launch %s has no option %d", l.Name, option)
	}
	node, err := w.launchNode(name, l, &l.Options[option])
	if err != nil {
		return Node{}, err
	}
	return Node{Node: node, Launch: l, Machine: describe(&l.Options[option]), Daemons: w.daemonsOn(node, w.problem.CatalogOf(l.NodePool))}, nil
}

// inTurn puts pods into the order in which a scheduler takes them.
func inTurn(pods []Placement) {
	slices.SortStableFunc(pods, func(a, b Placement) int {
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b.Pod), corev1helpers.PodPriority(a.Pod)), strings.Compare(scheduling.PodName(a.Pod), scheduling.PodName(b.Pod)))
	})
}

// place adds the placements of pods on a node.
func (w *world) place(c *Cluster, node string, pods []string) error {
	for _, name := range pods {
		pod, err := w.pendingPod(name)
		if err != nil {
			return err
		}
		c.Placements = append(c.Placements, Placement{Pod: pod, Node: node})
	}
	return nil
}

func (w *world) pendingPod(name string) (*corev1.Pod, error) {
	if pod, ok := w.pending[name]; ok {
		return pod, nil
	}
	return nil, fmt.Errorf("pod %s of the plan is not in the problem", name)
}

// freeName is a name like the wanted one that is not taken.
func freeName(name string, taken map[string]bool) string {
	for taken[name] {
		name += "-new"
	}
	return name
}
