package costs

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Machine is a machine that the prices of a plan's summary count, today or after some of its
// steps: one of a NodePool, whose price is known.
type Machine struct {
	// Name is that of the node or launch.
	Name     string
	NodePool string
	Offering offerings.Key
	// Launched is the step that launches it, counted from 1, 0 where it is there today; Removed the
	// step that drains it, 0 where it stays.
	Launched, Removed int
	// Stages are how it stands as steps are done, first things first.
	Stages []Stage
}

// Stage is how a machine stands from the time that a number of steps is done.
type Stage struct {
	Steps int
	// Pods are its pods, without pods of DaemonSets.
	Pods []*corev1.Pod
	Node Node
	// Shares are the parts of the node's price; pods are in the order of Pods.
	Shares Shares
}

// At returns the machine's stage when the given number of steps is done; nil where it does not exist then.
func (m *Machine) At(steps int) *Stage {
	return At(steps, m.Removed, m.Stages, func(s *Stage) int { return s.Steps })
}

// At returns the last of the stages that has begun once the given number of steps is done; from
// returns the number of steps at which a stage begins. It is nil before the first stage, and from
// the step removed on; removed 0 is never.
func At[T any](steps, removed int, stages []T, from func(*T) int) (at *T) {
	if removed > 0 && steps >= removed {
		return nil
	}
	for i := range stages {
		if from(&stages[i]) <= steps {
			at = &stages[i]
		}
	}
	return at
}

// Machines are the machines of a cluster and the launches of a plan that was made for it under
// a policy: existing machines by name, then launches in their order. Without a plan
// there are no steps.
func Machines(c *disruption.Cluster, plan *disruption.ConsolidationPlan, policy scheduling.Policy) []*Machine {
	b := &builder{cluster: c, policy: policy, on: map[string]*held{}, requests: map[string]corev1.ResourceList{}}
	b.today()
	if plan != nil {
		for i := range plan.Steps {
			b.step(i+1, &plan.Steps[i])
		}
	}
	return b.machines
}

// builder carries steps out.
type builder struct {
	cluster  *disruption.Cluster
	policy   scheduling.Policy
	machines []*Machine
	on       map[string]*held // by node or launch
	requests map[string]corev1.ResourceList
}

// held is a machine with its present pods.
type held struct {
	machine *Machine // nil where the bill does not count it
	node    Node     // without pods
	pods    []*corev1.Pod
}

// today puts pods onto the nodes that there are.
func (b *builder) today() {
	pools := map[string]bool{}
	for _, pool := range b.cluster.NodePools {
		pools[pool.Name] = true
	}
	nodes := slices.Clone(b.cluster.Nodes)
	slices.SortFunc(nodes, func(x, y *corev1.Node) int { return strings.Compare(x.Name, y.Name) })
	for _, node := range nodes {
		h := &held{node: Node{Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable, Daemons: corev1.ResourceList{}}}
		b.on[node.Name] = h
		pool, key := node.Labels[scheduling.NodePoolLabel], instancetypes.OfferingOf(node)
		if pools[pool] && b.price(&h.node, pool, key) {
			h.machine = &Machine{Name: node.Name, NodePool: pool, Offering: key}
			b.machines = append(b.machines, h.machine)
		}
	}
	for i, requests := range provisioning.PodRequests(b.cluster.Running) {
		pod := b.cluster.Running[i]
		h := b.on[pod.Spec.NodeName]
		switch {
		case h == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		case Daemon(pod):
			add(h.node.Daemons, requests, 1)
		default:
			b.requests[scheduling.PodName(pod)] = requests
			h.pods = append(h.pods, pod)
		}
	}
	for _, m := range b.machines {
		b.stage(b.on[m.Name], 0)
	}
}

// price sets the price of a node that was bought at an offering, and reports whether it is known.
func (b *builder) price(n *Node, pool string, key offerings.Key) (ok bool) {
	n.Price, n.Beside, ok = Expected(b.cluster.CatalogOf(pool), b.policy, key)
	return ok
}

// Expected returns the expected price of a node that was bought at an offering, all in all, and the part
// of it beside the instance's; not ok where the catalog does not have the offering.
func Expected(catalog *instancetypes.Catalog, policy scheduling.Policy, key offerings.Key) (price, beside offerings.Price, ok bool) {
	o, ok := catalog.Lookup(key)
	if !ok {
		return 0, 0, false
	}
	t, _ := catalog.Get(key.InstanceType)
	price = policy.ExpectedPrice(t, &o)
	return price, price - o.Price, true
}

// step carries a step out.
func (b *builder) step(number int, s *disruption.Step) {
	changed := map[*held]bool{}
	for i := range s.Launches {
		changed[b.launch(number, &s.Launches[i])] = true
	}
	for i := range s.Evictions {
		e := &s.Evictions[i]
		from, to := b.on[e.From], b.on[e.To]
		if from == nil {
			continue
		}
		at := slices.IndexFunc(from.pods, func(p *corev1.Pod) bool { return scheduling.PodName(p) == e.Pod })
		if at < 0 {
			continue
		}
		pod := from.pods[at]
		from.pods = slices.Delete(from.pods, at, at+1)
		changed[from] = true
		if to != nil {
			to.pods = append(to.pods, pod)
			changed[to] = true
		}
	}
	for _, name := range s.Drain {
		h := b.on[name]
		if h == nil {
			continue
		}
		delete(changed, h)
		if delete(b.on, name); h.machine != nil {
			h.machine.Removed = number
		}
	}
	for h := range changed {
		b.stage(h, number)
	}
}

// launch buys a machine.
func (b *builder) launch(number int, l *scheduling.Launch) *held {
	o := &l.Options[0]
	h := &held{machine: &Machine{Name: l.Name, NodePool: l.NodePool, Offering: o.Key(), Launched: number}}
	if node, err := l.Node(l.Name, o, b.cluster.CatalogOf(l.NodePool)); err == nil {
		h.node.Capacity, h.node.Allocatable = node.Status.Capacity, node.Status.Allocatable
	}
	if !b.price(&h.node, l.NodePool, o.Key()) {
		h.node.Price = l.Price
	}
	h.node.Daemons = corev1.ResourceList{}
	add(h.node.Daemons, l.Requests, 1)
	for _, pod := range l.Pods {
		add(h.node.Daemons, b.requests[pod], -1)
	}
	b.on[l.Name] = h
	b.machines = append(b.machines, h.machine)
	return h
}

// stage notes how a machine stands from now on.
func (b *builder) stage(h *held, steps int) {
	if h.machine == nil {
		return
	}
	slices.SortFunc(h.pods, func(x, y *corev1.Pod) int {
		return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	s := Stage{Steps: steps, Pods: slices.Clone(h.pods), Node: h.node}
	for _, pod := range s.Pods {
		s.Node.Pods = append(s.Node.Pods, b.requests[scheduling.PodName(pod)])
	}
	s.Shares = s.Node.Divide()
	h.machine.Stages = append(h.machine.Stages, s)
}

// Daemon reports whether a pod is there because its node is: one of a DaemonSet, or a static one.
func Daemon(pod *corev1.Pod) bool {
	c := metav1.GetControllerOf(pod)
	return c != nil && (c.Kind == "DaemonSet" || c.Kind == "Node")
}

// add adds the amounts of list to sum, or subtracts them with sign -1.
func add(sum, list corev1.ResourceList, sign int) {
	for name, q := range list {
		total := sum[name]
		if sign > 0 {
			total.Add(q)
		} else {
			total.Sub(q)
		}
		sum[name] = total
	}
}
