package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// provision finds places for pending pods: on existing nodes, on nodes that are being launched,
// and on machines to buy.
func (l *loop) provision(ctx context.Context) error {
	unplanned := l.settle()
	if err := l.tell(); err != nil || !unplanned {
		return err
	}
	plan, err := l.session.Plan(ctx)
	if err != nil {
		return err
	}
	if l.opts.check {
		if err := verify.Plan(l.session.Problem(), plan); err != nil {
			return err
		}
	}
	clear(l.awaited)
	for i := range plan.Existing {
		l.await(plan.Existing[i].Pods, plan.Existing[i].Node)
	}
	for i := range plan.Launches {
		name, err := l.buy(&plan.Launches[i], 0)
		switch {
		case err == nil:
			l.await(plan.Launches[i].Pods, name)
		case !errors.Is(err, errNoCapacity):
			return err
		}
	}
	l.settle()
	l.ledger.unplaced += len(plan.Unschedulable)
	return l.tell()
}

// tell tells the session the changes, and the nominated node of each pod: nodes for which pods
// wait, and nodes that expect pods which a step has yet to evict. The session then keeps these
// places, and plans no other pod into their room.
func (l *loop) tell() error {
	d := l.cluster.delta()
	d.Now, d.Nominated = l.now, map[types.NamespacedName]string{}
	for pod := range l.promised {
		d.Nominated[pod] = ""
	}
	l.promised = map[types.NamespacedName]string{}
	promise := func(pod, node string) {
		namespace, name, _ := strings.Cut(pod, "/")
		l.promised[types.NamespacedName{Namespace: namespace, Name: name}] = node
	}
	for pod, node := range l.awaited {
		promise(pod, node)
	}
	for _, step := range l.underway() {
		for _, e := range step.Evictions {
			if p := l.cluster.pods[e.Pod]; p != nil && p.Spec.NodeName == e.From && l.cluster.nodes[e.To] != nil {
				promise(e.Pod, e.To)
			}
		}
	}
	maps.Copy(d.Nominated, l.promised)
	return l.session.Apply(d)
}

// buy launches the best option of a launch that can be had, and returns the name of the
// machine. An option that the cloud has run out of is remembered, so that no plan counts on
// it for a while. With a limit, options that cost more than the first by that much or more
// will not do.
func (l *loop) buy(launch *scheduling.Launch, limit offerings.Price) (string, error) {
	for i := range launch.Options {
		o := &launch.Options[i]
		if limit > 0 && o.Price >= launch.Price+limit || l.unavailable.Has(o.Key(), l.now) {
			continue
		}
		name, err := l.cloud.launch(launch.NodePool, o, l.now)
		if errors.Is(err, errNoCapacity) {
			l.unavailable.Mark(o.Key(), l.now, 0)
			l.ledger.refusals++
			continue
		}
		if err != nil {
			return "", err
		}
		node, err := launch.Node(name, o, l.cloud.sale)
		if err != nil {
			return "", err
		}
		// Until the node is ready it is in flight.
		delete(node.Labels, scheduling.InitializedLabel)
		delete(node.Labels, scheduling.RegisteredLabel)
		l.cluster.putNode(node)
		l.cluster.machines[name] = &disruption.Machine{Node: name, Created: l.now}
		l.ledger.launches++
		return name, nil
	}
	return "", fmt.Errorf("none of the %d options of launch %s can be had: %w", len(launch.Options), launch.Name, errNoCapacity)
}

// await notes that pods wait for a node on its way.
func (l *loop) await(pods []string, node string) {
	for _, pod := range pods {
		l.awaited[pod] = node
	}
}

// settle binds the pods whose node has joined, and reports whether there are pods without a
// planned node: new ones, and those whose node will not join or has no more room for them.
func (l *loop) settle() (unplanned bool) {
	for _, name := range slices.Sorted(maps.Keys(l.cluster.pods)) {
		pod, node := l.cluster.pods[name], l.awaited[name]
		switch {
		case pod.Spec.NodeName != "":
		case !l.cluster.open(node):
			unplanned = true
		case !l.cluster.ready(node):
		case !l.fits(pod, node):
			unplanned = true
		default:
			l.cluster.bind(name, node, l.now)
			l.ledger.bound++
		}
	}
	return unplanned
}
