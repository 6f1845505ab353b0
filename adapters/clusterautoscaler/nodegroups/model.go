package nodegroups

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// model is a cluster as a problem.
type model struct {
	Cluster
	problem scheduling.Problem
	// pools are the names of the NodePools of the groups, and group their inverse.
	pools []string
	group map[string]int
	// joined are the nodes of each group that are in the cluster and not being deleted.
	joined [][]*corev1.Node
	// prices are those of a new node of each group.
	prices []offerings.Price
}

// model reads a cluster. launches says that groups may grow. The error has all faults of the groups.
func (p *Planner) model(c Cluster, launches bool) (*model, error) {
	if err := p.check(&c); err != nil {
		return nil, err
	}
	m := &model{Cluster: c, problem: c.Problem, group: map[string]int{}, joined: make([][]*corev1.Node, len(c.Groups))}
	ids := map[string]int{}
	for g, group := range c.Groups {
		ids[group.ID] = g
		m.pools = append(m.pools, c.poolName(g))
		m.group[m.pools[g]] = g
		m.prices = append(m.prices, p.Prices.PriceOf(group.Template))
	}
	m.problem.Nodes = nil
	for _, node := range c.Problem.Nodes {
		if node == nil {
			continue
		}
		if id, ok := c.GroupOf[node.Name]; ok {
			g := ids[id]
			starting := c.starting(node)
			if node = m.member(g, node); starting {
				markInFlight(node)
			}
			if node.DeletionTimestamp == nil { // as limits of NodePools count
				m.joined[g] = append(m.joined[g], node)
			}
		}
		m.problem.Nodes = append(m.problem.Nodes, node)
	}
	m.problem.PoolCatalogs = map[string]*instancetypes.Catalog{}
	var errs []error
	for g := range c.Groups {
		catalog, err := m.catalog(p.Prices, g, launches)
		if err != nil {
			errs = append(errs, fmt.Errorf("node group %q: template node: %w", c.Groups[g].ID, err))
			continue
		}
		m.problem.PoolCatalogs[m.pools[g]] = catalog
		m.problem.NodePools = append(m.problem.NodePools, m.pool(g))
	}
	return m, errors.Join(errs...)
}

// poolName is the name of the NodePool of a group, which is none of a NodePool to which a node outside of the groups belongs.
func (c *Cluster) poolName(g int) string {
	taken := map[string]bool{}
	for _, node := range c.Problem.Nodes {
		if node != nil && c.GroupOf[node.Name] == "" {
			taken[node.Labels[scheduling.NodePoolLabel]] = true
		}
	}
	if id := c.Groups[g].ID; requirements.ValidLabelValue(id) && !taken[id] {
		return id
	}
	for _, other := range c.Groups {
		taken[other.ID] = true
	}
	name := fmt.Sprintf("group-%d", g)
	for taken[name] {
		name += "-x"
	}
	return name
}

// noZone is the zone of nodes without a label for one.
const noZone = "any"

// member is a copy of a node with the labels of a ready node of the group's NodePool.
func (m *model) member(g int, node *corev1.Node) *corev1.Node {
	out := manifest.PooledNode(m.pools[g], node)
	as := instancetypes.OfferingOf(node)
	out.Labels[corev1.LabelInstanceTypeStable] = cmp.Or(as.InstanceType, typeName(m.Groups[g].Template))
	out.Labels[corev1.LabelTopologyZone] = cmp.Or(as.Zone, noZone)
	if out.Labels[offerings.CapacityTypeLabel] == string(offerings.Reserved) {
		// The size of the group bounds the nodes of its reservation, and a NodePool's reservations would need their ids.
		out.Labels[offerings.CapacityTypeLabel] = string(offerings.OnDemand)
		delete(out.Labels, offerings.ReservationIDLabel)
	}
	return out
}

// markInFlight makes a node of a NodePool one that is not ready yet.
func markInFlight(node *corev1.Node) {
	delete(node.Labels, scheduling.RegisteredLabel)
	delete(node.Labels, scheduling.InitializedLabel)
}

// startupTime is how long a node may take to become ready (--max-node-start-up-time). Older nodes that are not ready are
// broken, and take in no pods.
const startupTime = 15 * time.Minute

// starting reports whether a node has joined and is not ready yet.
func (c *Cluster) starting(node *corev1.Node) bool {
	condition := lifecycle.Ready(node)
	ready := condition != nil && condition.Status == corev1.ConditionTrue && !slices.ContainsFunc(node.Spec.Taints, startupTaint)
	return !ready && c.Problem.Now.Sub(node.CreationTimestamp.Time) < startupTime
}

// startupTaint reports whether a taint is on new nodes until a controller removes it, by the prefixes that Cluster Autoscaler
// has for such taints.
func startupTaint(t corev1.Taint) bool {
	return strings.HasPrefix(t.Key, "startup-taint.cluster-autoscaler.kubernetes.io/") || strings.HasPrefix(t.Key, "ignore-taint.cluster-autoscaler.kubernetes.io/")
}

// promised is a node of a group that has not joined yet.
func (m *model) promised(g int, name string) *corev1.Node {
	out := m.member(g, m.Groups[g].Template)
	markInFlight(out)
	out.Name, out.UID, out.DeletionTimestamp = name, "", nil
	out.Labels[corev1.LabelHostname] = name
	out.Status.Allocatable = template.Allocatable(out)
	return out
}

// underway is the number of nodes of a group that its target promises.
func (m *model) underway(g int) int { return max(0, m.Groups[g].Target-len(m.joined[g])) }

// room is the number of nodes by which a group may grow.
func (m *model) room(g int) int {
	return max(0, m.Groups[g].Max-max(m.Groups[g].Target, len(m.joined[g])))
}
