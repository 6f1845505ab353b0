package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// machine is an order, from the first call of the provider until the machine is gone.
//
// Until its node is there it is in flight, and the session has a node for it that is named by the order.
type machine struct {
	Machine
	id string
	// ordered is when, as elapsed time. Below 0 it is the next round: this one began before its plan, which takes time.
	ordered time.Duration
	// confirmed says that the provider has returned or listed it.
	confirmed bool
	// node is the node's name once it is there, ready says that it has been ready.
	node  string
	ready bool
	// shown is how the session has the order's node.
	shown shown
	// unlisted counts the lists in a row that lack it since it was confirmed.
	unlisted int
	// terminating says that it is to be terminated, terminated that the provider was asked to.
	terminating, terminated bool
	// replanAt is when its node is planned for again after an interruption notice, as elapsed time, unless a step removes it by then.
	replanAt time.Duration
}

// shown is how the session has the node of a machine that has no node yet.
type shown int

const (
	absent   shown = iota
	inFlight       // it takes in the pods that it was ordered for, and others
	closing        // it counts for the limits of its pool and takes in no pods, because it is to be terminated
)

// show is how the session must have the order's node now.
func (m *machine) show() shown {
	switch {
	case m.node != "" || m.terminated || m.Order.Option.InstanceType == "":
		return absent
	case m.terminating:
		return closing
	}
	return inFlight
}

// at is the name of the machine's node in the session.
func (m *machine) at() string { return cmp.Or(m.node, m.inFlightName()) }

// inFlightName is the name of the machine's node in the session until the node is there; no node has it.
func (m *machine) inFlightName() string { return "order-" + m.id }

// names are the names by which a machine's node is found.
func (m *machine) names() []string {
	return slices.DeleteFunc([]string{m.inFlightName(), m.node, m.Node, m.Name, providerName(m.ProviderID)}, func(name string) bool { return name == "" })
}

// providerName is the name for a spec.providerID; no node has such a name.
func providerName(id string) string {
	if id == "" {
		return ""
	}
	return "providerID " + id
}

// keep notes a machine under its names.
func (c *Controller) keep(m *machine) {
	c.machines[m.id] = m
	for _, name := range m.names() {
		c.byName[name] = m
	}
}

// forget leaves out a machine that is gone.
func (c *Controller) forget(m *machine) {
	delete(c.machines, m.id)
	for _, name := range m.names() {
		if c.byName[name] == m {
			delete(c.byName, name)
		}
	}
	if m.shown != absent {
		c.forgotten = append(c.forgotten, m.inFlightName())
	}
	if m.node != "" {
		c.refresh[m.node] = true
	}
}

// gone reports whether pods must not wait for the machine.
func (c *Controller) gone(m *machine) bool { return m.terminating || c.machines[m.id] != m }

// ofNode returns the machine of a node, or nil.
func (c *Controller) ofNode(node *corev1.Node) *machine {
	if m := c.byName[providerName(node.Spec.ProviderID)]; m != nil {
		return m
	}
	return c.byName[node.Name]
}

// nodeSeen joins a node and its machine.
func (c *Controller) nodeSeen(node *corev1.Node) {
	m := c.ofNode(node)
	if m == nil {
		return
	}
	if m.node != node.Name {
		m.node, c.refresh[node.Name] = node.Name, true
		c.keep(m)
	}
	if !m.ready && isReady(node, m.Order.Launch.StartupTaints) {
		m.ready, c.refresh[node.Name] = true, true
		c.opts.Log.Info("node is ready", "node", node.Name, "machine", m.Name, "order", m.id)
	}
}

// nodeGone terminates the machine of a node that was deleted.
func (c *Controller) nodeGone(name string) {
	if m := c.byName[name]; m != nil && m.node == name {
		m.terminating = true
	}
}

// isReady reports whether a node is ready and has lost its start-up taints.
func isReady(node *corev1.Node, startup []corev1.Taint) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady || slices.ContainsFunc(startup, func(s corev1.Taint) bool { return s.Key == t.Key && s.Effect == t.Effect }) {
			return false
		}
	}
	ready := lifecycle.Ready(node)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// asPlanned is a node as plans see it: with the labels of its order that it does not have yet, initialized once it has
// been ready without its start-up taints and not before, whatever its label says, and with the taint if and only if a step will
// remove it: after an abandoned step the node itself has the taint for some time, and plans would count it as being removed.
// Plans ignore the start-up taints of nodes that are not initialized: of one that is, they would keep the pods away that it was
// launched for, and remove it as empty.
func (c *Controller) asPlanned(node *corev1.Node) *corev1.Node {
	m := c.ofNode(node)
	closed := c.closed(node.Name)
	if m == nil && closed == HasTaint(node, Taint()) {
		return node
	}
	out := node.DeepCopy()
	ApplyTaint(out, Taint(), closed)
	if m == nil {
		return out
	}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	for k, v := range m.Order.Launch.Labels {
		if _, ok := out.Labels[k]; !ok {
			out.Labels[k] = v
		}
	}
	if pool := m.Order.Launch.NodePool; pool != "" {
		out.Labels[scheduling.NodePoolLabel] = pool
	}
	if m.ready || isReady(node, m.Order.Launch.StartupTaints) {
		out.Labels[scheduling.RegisteredLabel], out.Labels[scheduling.InitializedLabel] = "true", "true"
	} else {
		delete(out.Labels, scheduling.InitializedLabel)
	}
	return out
}

// listMachines asks the provider for its machines, when it is time to.
func (c *Controller) listMachines(ctx context.Context) error {
	if c.listed && c.clock.elapsed < c.listAt {
		return nil
	}
	list, err := c.provider.Machines(ctx)
	if err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	c.listed, c.listAt = true, c.clock.elapsed+c.opts.ListEvery
	there := map[string]bool{}
	for _, found := range list {
		m := c.machines[cmp.Or(found.Order.ID, found.Name)]
		if m == nil {
			m = &machine{id: cmp.Or(found.Order.ID, found.Name), ordered: c.clock.elapsed, Machine: found}
			if !there[m.id] {
				c.count(func(s *Stats) { s.Adopted++ })
			}
		}
		order := m.Order
		m.Machine, m.confirmed, m.unlisted = found, true, 0
		if order.ID != "" {
			m.Order = order // this run knows all of it
		}
		c.keep(m)
		there[m.id] = true
	}
	for id, m := range c.machines {
		switch {
		case there[id]:
		case m.terminating, m.confirmed && m.unlisted > 0:
			if !m.terminating && m.node == "" {
				c.count(func(s *Stats) { s.Lost++ })
				c.opts.Log.Warn("machine is gone before it had a node", "machine", m.Name, "order", id)
			}
			c.forget(m)
		case m.confirmed:
			m.unlisted++
		}
	}
	for _, node := range c.state.Nodes() {
		c.nodeSeen(node)
	}
	return nil
}

// expireOrders terminates machines that have no node in time, and those whose node is gone.
func (c *Controller) expireOrders(ctx context.Context) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(c.machines)) {
		m := c.machines[id]
		if m.ordered < 0 {
			m.ordered = c.clock.elapsed
		}
		if !m.ready && !m.terminating && c.clock.elapsed-m.ordered > c.opts.RegistrationTimeout {
			m.terminating = true
			c.count(func(s *Stats) { s.Unregistered++ })
			c.opts.Log.Warn("node was not ready in time", "machine", m.Name, "order", id, "after", c.opts.RegistrationTimeout)
		}
		if !m.terminating {
			continue
		}
		if !m.confirmed {
			c.forget(m) // if it is there after all, the next list has it
			continue
		}
		if err := c.terminate(ctx, m); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// terminate stops a machine. It stays in the list until the provider lists it no longer.
func (c *Controller) terminate(ctx context.Context, m *machine) error {
	if err := c.provider.Terminate(ctx, m.Machine); err != nil {
		return fmt.Errorf("terminate machine %s: %w", m.Name, err)
	}
	if !m.terminated {
		c.count(func(s *Stats) { s.Terminated++ })
		c.opts.Log.Info("machine terminated", "machine", m.Name, "node", m.node)
	}
	m.terminating, m.terminated = true, true
	return nil
}

// tryOrder asks the provider for a launch, option by option. It returns nil where none can be had. It reads nothing of the
// controller that changes, so that several may run at a time.
func (c *Controller) tryOrder(ctx context.Context, id string, launch *scheduling.Launch, saving offerings.Price) *machine {
	for i := range launch.Options {
		o := &launch.Options[i]
		if saving > 0 && o.Price >= launch.Price+saving || c.unavailable.Has(o.Key(), c.clock.now) {
			continue
		}
		m := &machine{id: fmt.Sprintf("%s-%d", id, i), ordered: -1}
		m.Order = Order{ID: m.id, Option: *o, Launch: *launch}
		if c.confirm(ctx, m) {
			return m
		}
	}
	return nil
}

// confirm calls the provider for an order. It returns false where the offering cannot be had. Where the result is
// unknown the machine stays unconfirmed.
func (c *Controller) confirm(ctx context.Context, m *machine) bool {
	name, err := c.provider.Launch(ctx, m.Order)
	log := c.opts.Log.With("order", m.id, "nodepool", m.Order.Launch.NodePool, "type", m.Order.Option.InstanceType, "zone", m.Order.Option.Zone, "capacity", m.Order.Option.CapacityType)
	switch {
	case err == nil:
		m.Name, m.confirmed = name, true
		c.count(func(s *Stats) { s.Launched++ })
		log.Info("machine launched", "machine", name, "price", m.Order.Option.Price, "pods", len(m.Order.Launch.Pods))
		return true
	case errors.Is(err, ErrInsufficientCapacity):
		c.unavailable.Mark(m.Order.Option.Key(), c.clock.now, 0)
		c.count(func(s *Stats) { s.CapacityFailures++ })
		log.Warn("offering is not available", "error", err)
		return false
	}
	c.count(func(s *Stats) { s.LaunchFailures++ })
	log.Warn("launch failed; it will be repeated", "error", err)
	return true
}

// repeatOrders calls the provider again for the orders whose result is unknown.
func (c *Controller) repeatOrders(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(c.machines)) {
		m := c.machines[id]
		if m.confirmed || m.terminating {
			continue
		}
		if c.confirm(ctx, m) {
			c.keep(m)
		} else {
			c.forget(m)
		}
	}
}

// orderID returns an ID that no other order has.
func (c *Controller) orderID() string {
	c.orders++
	return fmt.Sprintf("%s-%d", c.opts.Run, c.orders)
}
