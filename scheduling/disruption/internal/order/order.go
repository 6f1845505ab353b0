package order

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/landing"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// Task is a step to split.
type Task struct {
	// Trial is the cluster before the step. The order moves its pods.
	Trial *landing.Trial
	// Nodes are to be removed: those in First before the others, in that order, then those with the highest price for
	// their disruption cost.
	Nodes []Node
	First []string
	// Moves are the pods of these nodes with the nodes and launches where they are expected, Launches these launches.
	Moves    []landing.Move
	Launches []scheduling.Launch
	// Pods are the pods on nodes, by name. Weight is the share that the requests of a pod have of all free capacity.
	Pods   map[string]*corev1.Pod
	Weight func(pod string) float64
	// Price is the expected price of a launch in USD per hour. MustSave says that the nodes of a part must cost more than
	// its launches.
	Price    func(*scheduling.Launch) offerings.Price
	MustSave bool
	// WithinBudgets reports whether nodes may be removed together.
	WithinBudgets func(nodes []string) bool
	// Decide reports whether a part is a step. The part is made then.
	Decide func(context.Context, *Part) (bool, error)
}

// Node is a node to be removed.
type Node struct {
	Name string
	// Price is its expected price in USD per hour, Cost its disruption cost.
	Price offerings.Price
	Cost  float64
}

// Part is a part of a step: nodes and launches by name, and the pods of these nodes, by name.
type Part struct {
	Nodes    []string
	Launches []string
	Moves    []landing.Move
}

// Order splits a step.
type Order struct {
	task  Task
	trial *landing.Trial
	// destinations counts, by kind and node, the pods that the node still takes in; launches are the launches among
	// these nodes, launched those that exist already.
	destinations     map[string]map[string]int
	destinationOrder map[string][]string // by kind, the names of its destinations
	launches         map[string]*scheduling.Launch
	launched         map[string]bool
	lastLaunched     []string           // the launches of the last group
	weight           map[string]float64 // by kind
	remaining        []*leaving
}

// leaving is a node to be removed, with its pods by kind.
type leaving struct {
	node  Node
	kinds []string
	pods  map[string][]string
}

// New begins with no node removed.
func New(t Task) *Order {
	o := &Order{
		task: t, trial: t.Trial, destinations: map[string]map[string]int{}, destinationOrder: map[string][]string{},
		launches: map[string]*scheduling.Launch{}, launched: map[string]bool{}, weight: map[string]float64{},
	}
	for i := range t.Launches {
		o.launches[t.Launches[i].Name] = &t.Launches[i]
		o.trial.CountNode(t.Launches[i].Name, -1)
	}
	at := make(map[string]*leaving, len(t.Nodes))
	for _, n := range t.Nodes {
		at[n.Name] = &leaving{node: n, pods: map[string][]string{}}
		o.remaining = append(o.remaining, at[n.Name])
	}
	known := map[string]string{}
	for _, m := range t.Moves {
		kind := t.exchangeKind(m.Pod)
		if name, ok := known[kind]; ok {
			kind = name // one string for all of them
		}
		known[kind] = kind
		at[m.From].pods[kind] = append(at[m.From].pods[kind], m.Pod)
		if o.destinations[kind] == nil {
			o.destinations[kind] = map[string]int{}
			o.weight[kind] = 1e-9 + t.Weight(m.Pod)
		}
		o.destinations[kind][m.To]++
	}
	for kind, places := range o.destinations {
		o.destinationOrder[kind] = slices.Sorted(maps.Keys(places))
	}
	for _, l := range o.remaining {
		l.kinds = slices.Sorted(maps.Keys(l.pods))
	}
	turn := func(l *leaving) int {
		if i := slices.Index(t.First, l.node.Name); i >= 0 {
			return i
		}
		return len(t.First)
	}
	slices.SortStableFunc(o.remaining, func(a, b *leaving) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(pricing.Ratio(b.node.Price, b.node.Cost), pricing.Ratio(a.node.Price, a.node.Cost)))
	})
	return o
}

// Remaining are the nodes that have not been removed, in the order in which they are tried.
func (o *Order) Remaining() []string { return namesOf(o.remaining) }

// Len is the number of nodes that have not been removed.
func (o *Order) Len() int { return len(o.remaining) }

// namesOf are the names of nodes.
func namesOf(list []*leaving) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.node.Name
	}
	return out
}

// Apply takes note of a step that was made: kube-scheduler may have bound pods elsewhere than planned, and launches
// may exist that were not planned.
func (o *Order) Apply(drained []string, launches []scheduling.Launch, moves []landing.Move) {
	mark := o.trial.Mark()
	o.remaining = slices.DeleteFunc(o.remaining, func(l *leaving) bool { return slices.Contains(drained, l.node.Name) })
	for i := range launches {
		if l := &launches[i]; o.launches[l.Name] == nil {
			o.trial.Launch(l)
		}
	}
	for _, m := range moves {
		if a := o.trial.Pods[m.Pod]; a != nil && a.On != m.To {
			o.trial.Move(a, "")
			o.trial.Move(a, m.To)
		}
	}
	o.trial.Keep(mark)
}

// FitsLastLaunched reports whether the remaining node of an index has pods of a kind that the last launches still take
// in.
func (o *Order) FitsLastLaunched(i int) bool {
	return slices.ContainsFunc(o.remaining[i].kinds, func(kind string) bool {
		return slices.ContainsFunc(o.lastLaunched, func(name string) bool { return o.destinations[kind][name] > 0 })
	})
}

// RemoveOne reports whether the remaining node of an index can be removed by itself, without launches.
func (o *Order) RemoveOne(ctx context.Context, i int) (bool, error) {
	mark := o.trial.Mark()
	g := &group{unplaced: map[string][]string{}}
	o.drain(g, o.remaining[i])
	o.placeAll(g)
	if g.unplacedCount == 0 {
		if ok, err := o.decide(ctx, g, mark); ok || err != nil {
			return ok, err
		}
	}
	o.trial.Undo(mark)
	return false, nil
}

// decide reports whether a group whose pods have all found destinations since a mark is a step. Launches that have stayed
// empty are left out: a rule keeps the pods away for which they were planned, or these fit elsewhere by now.
func (o *Order) decide(ctx context.Context, g *group, mark int) (bool, error) {
	p := &Part{Nodes: namesOf(g.nodes)}
	for _, l := range g.nodes {
		for _, kind := range l.kinds {
			for _, pod := range l.pods[kind] {
				p.Moves = append(p.Moves, landing.Move{Pod: pod, From: l.node.Name, To: o.trial.Pods[pod].On})
			}
		}
	}
	slices.Sort(p.Nodes)
	slices.SortFunc(p.Moves, func(a, b landing.Move) int { return strings.Compare(a.Pod, b.Pod) })
	g.launches = slices.DeleteFunc(slices.Clone(g.launches), func(name string) bool {
		idle := !slices.ContainsFunc(p.Moves, func(m landing.Move) bool { return m.To == name })
		if idle {
			o.setLaunched(g, name, false)
		}
		return idle
	})
	// Pods have found destinations node by node, before all launches existed, but are away at the same time.
	all := make([]*landing.Pod, len(p.Moves))
	for i, m := range p.Moves {
		all[i] = o.trial.Pods[m.Pod]
	}
	if len(g.nodes)+len(g.launches) > 1 && !o.trial.Possible(all, true) {
		return false, nil
	}
	p.Launches = slices.Sorted(slices.Values(g.launches))
	ok, err := o.task.Decide(ctx, p)
	if ok {
		o.trial.Keep(mark)
	}
	return ok, err
}

// exchangeKind is the same for pods that may exchange their destinations, because they differ in nothing that matters to
// scheduling. A pod with something of its own, e.g. a volume, is a kind by itself.
func (t *Task) exchangeKind(name string) string {
	moving, pod := t.Trial.Pods[name], t.Pods[name]
	if pod == nil || moving.Class < 0 || len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(pod.Spec.Volumes, ownVolume) || slices.ContainsFunc(pod.Spec.Containers, ownPort) {
		return name
	}
	return "=" + t.Trial.Alike(moving)
}

// ownVolume reports whether a volume may restrict a pod to some nodes.
func ownVolume(v corev1.Volume) bool {
	return v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.HostPath == nil
}

// ownPort reports whether a container has a host port.
func ownPort(c corev1.Container) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort > 0 })
}
