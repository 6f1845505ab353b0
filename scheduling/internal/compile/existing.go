package compile

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingNode is a node that runs or is in flight, ready to receive pods.
type ExistingNode struct {
	host   *Host
	flying bool // it is in flight
	Node   *corev1.Node
	pool   *scheduling.NodePool // nil for nodes of no known pool
	Labels map[string]string
	Taints []corev1.Taint
	Room   []int64
	Zone   string             // "" where it is in none
	Zoned  bool               // it is in one, if only ""
	Named  bool               // it has a host name
	Ports  []podspec.HostPort // bound by what runs there, daemons to come included
	// attached are the volumes of what runs there.
	Attached podspec.Attachments
}

// InFlight reports whether a node of a pool has not become ready yet.
func InFlight(node *corev1.Node) bool {
	return node.Labels[scheduling.NodePoolLabel] != "" && node.Labels[scheduling.InitializedLabel] != "true"
}

// existing returns the nodes that may receive pods: those that are ready first, so
// that of two equal places the one that is there already is used, then by name. Nodes
// that have not changed since another plan are as they were then.
func (c *Compiler) existing() []*ExistingNode {
	hosts := c.Cluster.Hosts
	kept := &nodeTable{}
	if r := c.Memory.nodeTable.Load(); c.Classes.Volumes == nil && r.suits(c) {
		kept = r
	}
	if len(kept.hosts) > 0 && slices.Equal(kept.hosts, hosts) {
		c.Model.Rooms = kept.inOrder(c.Model.Dims)
		return kept.ordered
	}
	now := &nodeTable{
		names: c.Table.Names, daemons: c.Daemons, pools: c.Problem.NodePools, catalogs: CatalogsOf(c.Problem),
		shops: c.Problem.PoolCatalogs, hosts: hosts, nodes: make([]*ExistingNode, len(hosts)),
	}
	columns := c.usedColumns()
	from := 0
	ready, flying := make([]*ExistingNode, 0, len(hosts)), []*ExistingNode(nil)
	for i, h := range hosts {
		for from < len(kept.hosts) && kept.hosts[from].Name < h.Name {
			from++
		}
		switch {
		case from < len(kept.hosts) && kept.hosts[from] == h:
			now.nodes[i] = kept.nodes[from]
		case h.Node != nil && !podspec.Going(h.Node):
			x := c.existingNode(h, columns)
			now.nodes[i] = &x
		}
		if x := now.nodes[i]; x != nil && x.flying {
			flying = append(flying, x)
		} else if x != nil {
			ready = append(ready, x)
		}
	}
	ready = append(ready, flying...)
	now.ordered = ready
	if len(kept.hosts) > 0 {
		c.Model.Rooms = now.orderedAs(kept, c.Model.Dims)
	}
	if c.Classes.Volumes == nil {
		c.Memory.nodeTable.Store(now)
	}
	return now.ordered
}

// usedColumns is, by number of the compiler's table, the cluster's number of the same
// resource; -1 where nothing that runs has it.
func (c *Compiler) usedColumns() []int {
	out := make([]int, len(c.Table.Names))
	for i, name := range c.Table.Names {
		out[i] = -1
		if n, ok := c.Cluster.Table.Index[name]; ok {
			out[i] = n
		}
	}
	return out
}

// existingNode works out what room a node has left.
func (c *Compiler) existingNode(h *Host, columns []int) ExistingNode {
	node := h.Node
	x := ExistingNode{host: h, flying: InFlight(node), Node: node, pool: c.PoolNamed(node.Labels[scheduling.NodePoolLabel]), Labels: nodeLabels(node), Ports: h.ports}
	x.Taints = c.EffectiveTaints(node, x.pool)
	if x.flying {
		c.Classes.Volumes.CompleteLabels(x.Labels)
	}
	x.Zone, x.Zoned = x.Labels[corev1.LabelTopologyZone]
	_, x.Named = x.Labels[corev1.LabelHostname]
	allocatable := c.NodeAllocatable(node)
	x.Room = c.Table.Vector(allocatable)
	limitNode(c.Classes.Volumes, &x, h.claims, c.Table, allocatable)
	for d, n := range columns {
		if n >= 0 && n < len(h.used) {
			x.Room[d] = max(0, x.Room[d]-h.used[n])
		}
	}
	for _, d := range c.Daemons {
		hard, _ := podspec.Untolerated(d.Constraint.Tolerations, x.Taints)
		if hard != nil || slices.Contains(h.daemonOwners, key(d)) || !d.Constraint.MatchesNode(node.Name, x.Labels) {
			continue
		}
		for i, n := range d.Requests {
			x.Room[i] = max(0, x.Room[i]-n)
		}
		x.Ports = slices.Concat(x.Ports, d.Constraint.Ports)
	}
	for i, n := range x.Room {
		x.Room[i] = max(n, 0)
	}
	return x
}

// nodeLabels are a node's labels; one in flight has by then what every ready node of
// a pool has.
func nodeLabels(node *corev1.Node) map[string]string {
	if !InFlight(node) {
		return node.Labels
	}
	labels := maps.Clone(node.Labels)
	labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = "true", "true"
	return labels
}

// EffectiveTaints are the taints that count for pods planned onto a node. On a node
// in flight, taints that go away while it starts do not; an unschedulable node has
// the taint that says so even before the node controller puts it there.
func (c *Compiler) EffectiveTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if pool != nil && InFlight(node) && node.Labels[scheduling.RegisteredLabel] != "true" {
		// Until it has joined, a node may not show yet what its pool gives it.
		for _, t := range pool.Spec.Template.Spec.Taints {
			if !slices.ContainsFunc(taints, func(have corev1.Taint) bool { return have.MatchTaint(&t) }) {
				taints = append(taints, t)
			}
		}
	}
	if InFlight(node) {
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
			if podspec.Ephemeral(&t) {
				return true
			}
			return pool != nil && slices.ContainsFunc(pool.Spec.Template.Spec.StartupTaints, func(s corev1.Taint) bool {
				return s.Key == t.Key && s.Effect == t.Effect
			})
		})
	}
	unschedulable := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&unschedulable) }) {
		taints = append(taints, unschedulable)
	}
	return taints
}

// NodeAllocatable is what a node offers. Until it is ready, what it does not report
// yet is taken from the catalog.
func (c *Compiler) NodeAllocatable(node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Allocatable
	}
	_, allocatable := c.catalogued(node)
	return reported(node.Status.Allocatable, allocatable)
}

// nodeCapacity is what a node counts for towards its pool's limits.
func (c *Compiler) nodeCapacity(node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Capacity
	}
	capacity, _ := c.catalogued(node)
	return reported(node.Status.Capacity, capacity)
}

// reported completes what a node reports from what it should have.
func reported(status, expected corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range expected {
		out[name] = q
	}
	for name, q := range status {
		if !q.IsZero() {
			out[name] = q
		}
	}
	return out
}

// catalogued looks up what machines like the node have.
func (c *Compiler) catalogued(node *corev1.Node) (capacity, allocatable corev1.ResourceList) {
	catalog := c.Problem.CatalogOf(node.Labels[scheduling.NodePoolLabel])
	if catalog == nil {
		return nil, nil
	}
	it, ok := catalog.Get(node.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return nil, nil
	}
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if o.Zone == node.Labels[corev1.LabelTopologyZone] && string(o.CapacityType) == node.Labels[scheduling.CapacityTypeLabel] {
			return it.CapacityOf(*o), it.AllocatableOf(*o)
		}
	}
	return it.Capacity, it.Allocatable()
}
