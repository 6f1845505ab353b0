package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

type metaOwner = metav1.OwnerReference

// existingNode is a node that runs or is in flight, ready to receive pods.
type existingNode struct {
	host   *host
	flying bool // it is in flight
	node   *corev1.Node
	pool   *NodePool // nil for nodes of no known pool
	labels map[string]string
	taints []corev1.Taint
	room   []int64
	zone   string     // "" where it is in none
	zoned  bool       // it is in one, if only ""
	named  bool       // it has a host name
	ports  []hostPort // bound by what runs there, daemons to come included
	// attached are the volumes of what runs there.
	attached attachments
}

// going reports whether a node is being removed, so that it receives no pods and
// no longer counts towards its pool's limits.
func going(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
	})
}

// inFlight reports whether a node of a pool has not become ready yet.
func inFlight(node *corev1.Node) bool {
	return node.Labels[NodePoolLabel] != "" && node.Labels[InitializedLabel] != "true"
}

// existing returns the nodes that may receive pods: those that are ready first, so
// that of two equal places the one that is there already is used, then by name. Nodes
// that have not changed since another plan are as they were then.
func (c *compiler) existing() []*existingNode {
	hosts := c.cluster.hosts
	kept := &roll{}
	if r := c.memory.roll.Load(); c.classes.volumes == nil && r.suits(c) {
		kept = r
	}
	if len(kept.hosts) > 0 && slices.Equal(kept.hosts, hosts) {
		c.model.Rooms = kept.inOrder(c.model.Dims)
		return kept.ordered
	}
	now := &roll{
		names: c.table.names, daemons: c.daemons, pools: c.problem.NodePools, catalogs: catalogsOf(c.problem),
		shops: c.problem.PoolCatalogs, hosts: hosts, nodes: make([]*existingNode, len(hosts)),
	}
	columns := c.usedColumns()
	from := 0
	ready, flying := make([]*existingNode, 0, len(hosts)), []*existingNode(nil)
	for i, h := range hosts {
		for from < len(kept.hosts) && kept.hosts[from].name < h.name {
			from++
		}
		switch {
		case from < len(kept.hosts) && kept.hosts[from] == h:
			now.nodes[i] = kept.nodes[from]
		case h.node != nil && !going(h.node):
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
		c.model.Rooms = now.orderedAs(kept, c.model.Dims)
	}
	if c.classes.volumes == nil {
		c.memory.roll.Store(now)
	}
	return now.ordered
}

// usedColumns is, by number of the compiler's table, the cluster's number of the same
// resource; -1 where nothing that runs has it.
func (c *compiler) usedColumns() []int {
	out := make([]int, len(c.table.names))
	for i, name := range c.table.names {
		out[i] = -1
		if n, ok := c.cluster.table.index[name]; ok {
			out[i] = n
		}
	}
	return out
}

// existingNode works out what room a node has left.
func (c *compiler) existingNode(h *host, columns []int) existingNode {
	node := h.node
	x := existingNode{host: h, flying: inFlight(node), node: node, pool: c.poolNamed(node.Labels[NodePoolLabel]), labels: nodeLabels(node), ports: h.ports}
	x.taints = c.effectiveTaints(node, x.pool)
	if x.flying {
		c.classes.volumes.completeLabels(x.labels)
	}
	x.zone, x.zoned = x.labels[corev1.LabelTopologyZone]
	_, x.named = x.labels[corev1.LabelHostname]
	allocatable := c.nodeAllocatable(node)
	x.room = c.table.vector(allocatable)
	c.classes.volumes.limitNode(&x, h.claims, c.table, allocatable)
	for d, n := range columns {
		if n >= 0 && n < len(h.used) {
			x.room[d] = max(0, x.room[d]-h.used[n])
		}
	}
	for _, d := range c.daemons {
		hard, _ := untolerated(d.constraint.tolerations, x.taints)
		if hard != nil || slices.Contains(h.crew, d.key()) || !d.constraint.matchesNode(node.Name, x.labels) {
			continue
		}
		for i, n := range d.requests {
			x.room[i] = max(0, x.room[i]-n)
		}
		x.ports = slices.Concat(x.ports, d.constraint.ports)
	}
	for i, n := range x.room {
		x.room[i] = max(n, 0)
	}
	return x
}

// nodeLabels are a node's labels; one in flight has by then what every ready node of
// a pool has.
func nodeLabels(node *corev1.Node) map[string]string {
	if !inFlight(node) {
		return node.Labels
	}
	labels := maps.Clone(node.Labels)
	labels[RegisteredLabel], labels[InitializedLabel] = "true", "true"
	return labels
}

// effectiveTaints are the taints that count for pods planned onto a node. On a node
// in flight, taints that go away while it starts do not; an unschedulable node has
// the taint that says so even before the node controller puts it there.
func (c *compiler) effectiveTaints(node *corev1.Node, pool *NodePool) []corev1.Taint {
	taints := slices.Clone(node.Spec.Taints)
	if pool != nil && inFlight(node) && node.Labels[RegisteredLabel] != "true" {
		// Until it has joined, a node may not show yet what its pool gives it.
		for _, t := range pool.Spec.Template.Spec.Taints {
			if !slices.ContainsFunc(taints, func(have corev1.Taint) bool { return have.MatchTaint(&t) }) {
				taints = append(taints, t)
			}
		}
	}
	if inFlight(node) {
		taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
			if ephemeral(&t) {
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

// nodeAllocatable is what a node offers. Until it is ready, what it does not report
// yet is taken from the catalog.
func (c *compiler) nodeAllocatable(node *corev1.Node) corev1.ResourceList {
	if !inFlight(node) {
		return node.Status.Allocatable
	}
	_, allocatable := c.catalogued(node)
	return reported(node.Status.Allocatable, allocatable)
}

// nodeCapacity is what a node counts for towards its pool's limits.
func (c *compiler) nodeCapacity(node *corev1.Node) corev1.ResourceList {
	if !inFlight(node) {
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
func (c *compiler) catalogued(node *corev1.Node) (capacity, allocatable corev1.ResourceList) {
	catalog := c.problem.catalogOf(node.Labels[NodePoolLabel])
	if catalog == nil {
		return nil, nil
	}
	it, ok := catalog.Get(node.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return nil, nil
	}
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if o.Zone == node.Labels[corev1.LabelTopologyZone] && string(o.CapacityType) == node.Labels[CapacityTypeLabel] {
			return it.CapacityOf(*o), it.AllocatableOf(*o)
		}
	}
	return it.Capacity, it.Allocatable()
}

// catalogOf is the catalog that a pool buys from.
func (p *Problem) catalogOf(pool string) *instancetypes.Catalog {
	if c, ok := p.PoolCatalogs[pool]; ok {
		return c
	}
	return p.Catalog
}
