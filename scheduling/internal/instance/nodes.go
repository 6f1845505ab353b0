package instance

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingNode is a node that runs or is in flight, ready to receive pods.
type ExistingNode struct {
	host   *hosts.Host
	flying bool // it is in flight
	Node   *corev1.Node
	pool   *scheduling.NodePool // nil for nodes of no known pool
	Labels map[string]string
	Taints []corev1.Taint
	Room   []int64
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
func existing(c *Instance) []*ExistingNode {
	all := c.Cluster.Hosts
	kept := &nodeTable{}
	if r := c.Memory.nodeTable.Load(); c.Classes.Volumes == nil && r.suits(c) {
		kept = r
	}
	if len(kept.hosts) > 0 && slices.Equal(kept.hosts, all) {
		c.NodeRooms = kept.inOrder(c.Dims())
		return kept.ordered
	}
	now := &nodeTable{
		names: c.Table.Names, daemons: c.Daemons, pools: c.Problem.NodePools, catalogs: CatalogsOf(c.Problem),
		shops: c.Problem.PoolCatalogs, hosts: all, nodes: make([]*ExistingNode, len(all)),
	}
	columns := usedColumns(c)
	from := 0
	ready, flying := make([]*ExistingNode, 0, len(all)), []*ExistingNode(nil)
	for i, h := range all {
		for from < len(kept.hosts) && kept.hosts[from].Name < h.Name {
			from++
		}
		switch {
		case from < len(kept.hosts) && kept.hosts[from] == h:
			now.nodes[i] = kept.nodes[from]
		case h.Node != nil && !podspec.Going(h.Node):
			x := existingNode(c, h, columns)
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
		c.NodeRooms = now.orderedAs(kept, c.Dims())
	}
	if c.Classes.Volumes == nil {
		c.Memory.nodeTable.Store(now)
	}
	return now.ordered
}

// usedColumns is, by number of the instance's table, the cluster's number of the same
// resource; -1 where nothing that runs has it.
func usedColumns(c *Instance) []int {
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
func existingNode(c *Instance, h *hosts.Host, columns []int) ExistingNode {
	node := h.Node
	x := ExistingNode{host: h, flying: InFlight(node), Node: node, pool: c.PoolNamed(node.Labels[scheduling.NodePoolLabel]), Labels: nodeLabels(node), Ports: h.Ports}
	x.Taints = EffectiveTaints(node, x.pool)
	if x.flying {
		c.Classes.Volumes.CompleteLabels(x.Labels)
	}
	_, x.Named = x.Labels[corev1.LabelHostname]
	allocatable := NodeAllocatable(c.Problem, node)
	x.Room = c.Table.Vector(allocatable)
	limitNode(c.Classes.Volumes, &x, h.Claims, c.Table, allocatable)
	for d, n := range columns {
		if n >= 0 && n < len(h.Used) {
			x.Room[d] = max(0, x.Room[d]-h.Used[n])
		}
	}
	for _, d := range c.Daemons {
		hard, _ := podspec.Untolerated(d.Constraint.Tolerations, x.Taints)
		if hard != nil || slices.Contains(h.DaemonOwners, key(d)) || !d.Constraint.MatchesNode(node.Name, x.Labels) {
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
func EffectiveTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
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
func NodeAllocatable(p *scheduling.Problem, node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Allocatable
	}
	_, allocatable := catalogued(p, node)
	return reported(node.Status.Allocatable, allocatable)
}

// NodeCapacity is what a node counts for towards its pool's limits.
func NodeCapacity(p *scheduling.Problem, node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Capacity
	}
	capacity, _ := catalogued(p, node)
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
func catalogued(p *scheduling.Problem, node *corev1.Node) (capacity, allocatable corev1.ResourceList) {
	catalog := p.CatalogOf(node.Labels[scheduling.NodePoolLabel])
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

// nodeTable is the nodes as they were ready to receive pods.
type nodeTable struct {
	names    []corev1.ResourceName
	daemons  []*offers.Daemon
	pools    []*scheduling.NodePool
	catalogs []*instancetypes.Catalog
	shops    map[string]*instancetypes.Catalog
	hosts    []*hosts.Host
	nodes    []*ExistingNode // by host; nil for those that receive none
	ordered  []*ExistingNode // those that receive some, as existing returns them
	// rooms are in order from the second plan on: one alone would not gain by it.
	rooms   *model.Rooms
	arrange sync.Once
}

// suits reports whether what was worked out for nodes still holds for those that have
// not changed.
func (r *nodeTable) suits(c *Instance) bool {
	return r != nil && slices.Equal(r.names, c.Table.Names) && slices.Equal(r.pools, c.Problem.NodePools) &&
		slices.Equal(r.catalogs, CatalogsOf(c.Problem)) && maps.Equal(r.shops, c.Problem.PoolCatalogs) &&
		sameDaemons(r.daemons, c.Daemons)
}

// inOrder is the room of the nodes in order.
func (r *nodeTable) inOrder(dims int) *model.Rooms {
	r.arrange.Do(func() { r.rooms = model.NewRooms(dims, r.roomOf()) })
	return r.rooms
}

// orderedAs is the same, made of that of a roll in which most nodes are the same.
func (r *nodeTable) orderedAs(old *nodeTable, dims int) *model.Rooms {
	known := old.inOrder(dims)
	r.arrange.Do(func() {
		r.rooms = known.Renewed(numbersIn(r.ordered, old.ordered, (*ExistingNode).compare), r.roomOf())
	})
	return r.rooms
}

// roomOf is the room of each node.
func (r *nodeTable) roomOf() [][]int64 {
	out := make([][]int64, len(r.ordered))
	for i, x := range r.ordered {
		out[i] = x.Room
	}
	return out
}

// numbersIn is the place of each of some things in a list of such things, -1 where it is not. Both
// are in order.
func numbersIn[T comparable](list, things []T, compare func(a, b T) int) []int32 {
	out := make([]int32, len(things))
	at := 0
	for i, x := range things {
		for at < len(list) && list[at] != x && compare(list[at], x) <= 0 {
			at++
		}
		if out[i] = -1; at < len(list) && list[at] == x {
			out[i] = int32(at)
			at++
		}
	}
	return out
}

// compare orders nodes as existing returns them.
func (x *ExistingNode) compare(y *ExistingNode) int {
	if x.flying != y.flying {
		if y.flying {
			return -1
		}
		return 1
	}
	return strings.Compare(x.host.Name, y.host.Name)
}

// nodeCompatibility is the bins of some nodes for some groups. It is not changed any more.
type nodeCompatibility struct {
	nodes      []*ExistingNode
	signatures []string     // by group
	suits      []model.Bits // by node, the groups that its labels and taints allow there
	open       []model.Bits // by group, the nodes of these that let its pods in
	wary       []model.Bits // by group, the nodes of these whose taints it would rather avoid
	bins       []model.Bin
}

// buildBins states the nodes that run or are in flight.
func buildBins(c *Instance) {
	c.Nodes = existing(c)
	b, plain := c.Memory.nodeCompatibility, c.Classes.Volumes == nil
	if b == nil || !plain || !slices.Equal(b.nodes, c.Nodes) || !slices.Equal(b.signatures, c.Classes.Signatures) {
		b = newNodeCompatibility(c)
	}
	c.Suits, c.Open, c.wary, c.Bins = b.suits, b.open, b.wary, b.bins
	if plain {
		c.Memory.nodeCompatibility = b
	}
}

// newNodeCompatibility works out the bins.
func newNodeCompatibility(c *Instance) *nodeCompatibility {
	b := &nodeCompatibility{nodes: c.Nodes, signatures: c.Classes.Signatures, suits: make([]model.Bits, len(c.Nodes)), bins: make([]model.Bin, len(c.Nodes))}
	words := len(model.NewBits(len(c.Classes.Groups)))
	rows := make([]uint64, 3*words*len(c.Nodes))
	for i, x := range c.Nodes {
		row := rows[3*words*i:][: 3*words : 3*words]
		b.suits[i] = row[:words:words]
		b.bins[i] = model.Bin{Room: x.Room, Admits: row[words : 2*words : 2*words], Soft: row[2*words:]}
	}
	for g, group := range c.Classes.Groups {
		open, wary := model.NewBits(len(c.Nodes)), model.NewBits(len(c.Nodes))
		for i, x := range c.Nodes {
			hard, soft := podspec.Untolerated(group.Tolerations, x.Taints)
			if hard != nil || !group.MatchesNode(x.Node.Name, x.Labels) {
				continue
			}
			b.suits[i].Set(g)
			if podspec.PortsClash(group.Ports, x.Ports) || x.Attached.TurnsAway(group) != "" {
				continue
			}
			open.Set(i)
			b.bins[i].Admits.Set(g)
			if soft {
				wary.Set(i)
				b.bins[i].Soft.Set(g)
			}
		}
		b.open, b.wary = append(b.open, open), append(b.wary, wary)
	}
	return b
}
