package instance

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingNode is a node that may receive pods, ready or in flight. Room is its allocatable less the requests of its
// pods and of daemons that will run there, in the order of the instance's Table.
type ExistingNode struct {
	host   *hosts.Host
	flying bool // whether it is in flight, see [InFlight]
	Node   *corev1.Node
	pool   *scheduling.NodePool // nil for nodes of no known pool
	Labels map[string]string
	Taints []corev1.Taint
	Room   []int64
	Named  bool               // whether it has a host name label
	Ports  []podspec.HostPort // host ports bound by its pods and by daemons that will run there
	// Attached are the volumes of its running pods that count for attach limits.
	Attached podspec.Attachments
}

// Fit is the answer of kube-scheduler's filters about an existing node with the pods that run there already, without room
// and topology terms, to which planned pods matter.
type Fit struct {
	Node       podspec.NodeFit
	PortBound  bool   // NodePorts: a pod that runs there, or a daemon that will, binds one of the host ports
	FullDriver string // NodeVolumeLimits: the driver of which the node takes no further volume that the pods need; "" for none
}

// Admits reports whether none of the filters refuses the pods.
func (f Fit) Admits() bool { return f.Node.Admits() && !f.PortBound && f.FullDriver == "" }

// Fit asks the filters about pods of a group.
func (x *ExistingNode) Fit(group *podspec.Constraint) Fit {
	return Fit{
		Node: group.FitOn(x.Node.Name, x.Labels, x.Taints), PortBound: podspec.PortsClash(group.Ports, x.Ports),
		FullDriver: x.Attached.FullDriver(group),
	}
}

// InFlight reports whether a node of a NodePool is not initialized yet, as Karpenter labels it.
func InFlight(node *corev1.Node) bool {
	return node.Labels[scheduling.NodePoolLabel] != "" && node.Labels[scheduling.InitializedLabel] != "true"
}

// existing returns the nodes that may receive pods: ready nodes by name, then nodes in flight by name, so that of two
// equal nodes the ready one is used. Nodes that have not changed since the last plan are taken from memory.
func existing(c *Instance) []*ExistingNode {
	all := c.Facts.Cluster.Hosts
	kept := &nodeTable{}
	if r := c.Facts.Memory.nodeTable.Load(); c.Classes.Volumes == nil && r.suits(c) {
		kept = r
	}
	if len(kept.hosts) > 0 && slices.Equal(kept.hosts, all) {
		c.NodeRooms = kept.inOrder(c.Dims())
		return kept.ordered
	}
	now := &nodeTable{
		names: c.Table.Names, daemons: c.Daemons, pools: c.Facts.Problem.NodePools, catalogs: CatalogsOf(c.Facts.Problem),
		shops: c.Facts.Problem.PoolCatalogs, hosts: all, nodes: make([]*ExistingNode, len(all)),
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
		c.Facts.Memory.nodeTable.Store(now)
	}
	return now.ordered
}

// usedColumns maps resources of the instance's table to those of the cluster's; -1 where no running pod requests the
// resource.
func usedColumns(c *Instance) []int {
	out := make([]int, len(c.Table.Names))
	for i, name := range c.Table.Names {
		out[i] = -1
		if n, ok := c.Facts.Cluster.Table.Index[name]; ok {
			out[i] = n
		}
	}
	return out
}

// existingNode works out labels, taints, ports and room of a node. columns is the result of [usedColumns].
func existingNode(c *Instance, h *hosts.Host, columns []int) ExistingNode {
	node := h.Node
	x := ExistingNode{host: h, flying: InFlight(node), Node: node, pool: c.PoolNamed(node.Labels[scheduling.NodePoolLabel]), Labels: nodeLabels(node), Ports: h.Ports}
	x.Taints = EffectiveTaints(node, x.pool)
	if x.flying {
		c.Classes.Volumes.CompleteLabels(x.Labels)
	}
	_, x.Named = x.Labels[corev1.LabelHostname]
	allocatable := NodeAllocatable(c.Facts.Problem, node)
	x.Room = c.Table.Vector(allocatable)
	limitNode(c.Classes.Volumes, &x, h.Claims, c.Table, allocatable)
	for d, n := range columns {
		if n >= 0 && n < len(h.Used) {
			x.Room[d] = max(0, x.Room[d]-h.Used[n])
		}
	}
	for _, d := range c.Daemons {
		if slices.Contains(h.DaemonOwners, key(d)) || !d.Constraint.FitOn(node.Name, x.Labels, x.Taints).Admits() {
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

// nodeLabels are a node's labels. A node in flight has the labels that Karpenter sets when it is registered and
// initialized.
func nodeLabels(node *corev1.Node) map[string]string {
	if !InFlight(node) {
		return node.Labels
	}
	labels := maps.Clone(node.Labels)
	labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = "true", "true"
	return labels
}

// EffectiveTaints are the taints that pods planned onto a node must tolerate. Startup and ephemeral taints of a node in
// flight are left out, because they are removed while it starts. An unschedulable node has its taint even before the
// node controller sets it. pool is nil for a node of no known NodePool.
func EffectiveTaints(node *corev1.Node, pool *scheduling.NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if pool != nil && InFlight(node) && node.Labels[scheduling.RegisteredLabel] != "true" {
		// A node that is not registered may still lack the taints of its NodePool.
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

// NodeAllocatable is the allocatable of a node. Until the node is initialized, resources that it does not report are
// taken from the catalog.
func NodeAllocatable(p *scheduling.Problem, node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Allocatable
	}
	_, allocatable := catalogued(p, node)
	return reported(node.Status.Allocatable, allocatable)
}

// NodeCapacity is the capacity of a node, which counts for its NodePool's limits. Until the node is initialized,
// resources that it does not report are taken from the catalog.
func NodeCapacity(p *scheduling.Problem, node *corev1.Node) corev1.ResourceList {
	if !InFlight(node) {
		return node.Status.Capacity
	}
	capacity, _ := catalogued(p, node)
	return reported(node.Status.Capacity, capacity)
}

// reported is expected, replaced by the values in status that are not zero.
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

// catalogued is the catalog's capacity and allocatable for the node's instance type, of its offering if the catalog has
// that; nil if it does not have the type.
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
		if o.Zone == node.Labels[corev1.LabelTopologyZone] && string(o.CapacityType) == node.Labels[offerings.CapacityTypeLabel] {
			return it.CapacityOf(*o), it.AllocatableOf(*o)
		}
	}
	return it.Capacity, it.Allocatable()
}

// nodeTable remembers the nodes of a plan with the inputs from which their room was worked out.
type nodeTable struct {
	names    []corev1.ResourceName
	daemons  []*offers.Daemon
	pools    []*scheduling.NodePool
	catalogs []*instancetypes.Catalog
	shops    map[string]*instancetypes.Catalog
	hosts    []*hosts.Host
	nodes    []*ExistingNode // by host; nil where the node receives no pods
	ordered  []*ExistingNode // the result of [existing]
	// rooms is built from the second plan on, because sorting does not pay for one plan.
	rooms   *model.Rooms
	arrange sync.Once
}

// suits reports whether resources, daemons, NodePools and catalogs are equal to those of c, so that rows of unchanged
// nodes hold.
func (r *nodeTable) suits(c *Instance) bool {
	return r != nil && slices.Equal(r.names, c.Table.Names) && slices.Equal(r.pools, c.Facts.Problem.NodePools) &&
		slices.Equal(r.catalogs, CatalogsOf(c.Facts.Problem)) && maps.Equal(r.shops, c.Facts.Problem.PoolCatalogs) &&
		sameDaemons(r.daemons, c.Daemons)
}

// inOrder is the index of the nodes by room. It is built at the first call.
func (r *nodeTable) inOrder(dims int) *model.Rooms {
	r.arrange.Do(func() { r.rooms = model.NewRooms(dims, r.roomOf()) })
	return r.rooms
}

// orderedAs is the index of r by room, built from that of old, which takes less time because most nodes are the same.
func (r *nodeTable) orderedAs(old *nodeTable, dims int) *model.Rooms {
	known := old.inOrder(dims)
	r.arrange.Do(func() {
		r.rooms = known.Renewed(numbersIn(r.ordered, old.ordered, (*ExistingNode).compare), r.roomOf())
	})
	return r.rooms
}

// roomOf is the room of each node in ordered.
func (r *nodeTable) roomOf() [][]int64 {
	out := make([][]int64, len(r.ordered))
	for i, x := range r.ordered {
		out[i] = x.Room
	}
	return out
}

// numbersIn is the index in list of each of things, -1 where it is absent. Both must be sorted by compare.
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

// compare is the order of [existing].
func (x *ExistingNode) compare(y *ExistingNode) int {
	if x.flying != y.flying {
		if y.flying {
			return -1
		}
		return 1
	}
	return strings.Compare(x.host.Name, y.host.Name)
}

// nodeCompatibility is which groups may run on which nodes. It is not changed after it is made.
type nodeCompatibility struct {
	nodes      []*ExistingNode
	signatures []string     // by group
	suits      []model.Bits // by node, the groups that its labels and taints allow there
	open       []model.Bits // by group, the nodes that admit it: as suits, with ports and volumes
	wary       []model.Bits // by group, the nodes in open with a PreferNoSchedule taint that it does not tolerate
	bins       []model.Bin
}

// buildBins fills Nodes, Bins and the sets of nodes by group, from memory where nodes and groups are equal.
func buildBins(c *Instance) {
	c.Nodes = existing(c)
	b, plain := c.Facts.Memory.nodeCompatibility, c.Classes.Volumes == nil
	if b == nil || !plain || !slices.Equal(b.nodes, c.Nodes) || !slices.Equal(b.signatures, c.Classes.Signatures) {
		b = newNodeCompatibility(c)
	}
	c.Suits, c.Open, c.wary, c.Bins = b.suits, b.open, b.wary, b.bins
	if plain {
		c.Facts.Memory.nodeCompatibility = b
	}
}

// newNodeCompatibility compares each group with each node of c.
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
			fit := x.Fit(group)
			if !fit.Node.Admits() {
				continue
			}
			b.suits[i].Set(g)
			if !fit.Admits() {
				continue
			}
			open.Set(i)
			b.bins[i].Admits.Set(g)
			if fit.Node.Avoids {
				wary.Set(i)
				b.bins[i].Soft.Set(g)
			}
		}
		b.open, b.wary = append(b.open, open), append(b.wary, wary)
	}
	return b
}
