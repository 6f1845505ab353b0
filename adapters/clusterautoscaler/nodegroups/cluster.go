package nodegroups

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Group is a node group.
type Group struct {
	// ID names the group; required, and different from those of other groups.
	ID string
	// Min and Max bound its size. Min is a bound of scale-down: a smaller group is not grown for it, as without the
	// autoscaler's --enforce-node-group-min-size.
	Min, Max int
	// Target is the size that the cloud was asked for. Nodes beyond those of the cluster are under way.
	Target int
	// Template is the node that the group would add, without its DaemonSets' pods; required, with an allocatable or a capacity.
	Template *corev1.Node
	// Atomic groups have no node or all of them: they grow to Max and shrink to 0 in one step (ZeroOrMaxNodeScaling).
	Atomic bool
}

// Cluster is the input of a plan. Plans read it and change none of it.
type Cluster struct {
	// Groups are the node groups.
	Groups []Group
	// GroupOf is the id of the group of each node that has one, by the name of the node. Other nodes take in pods, and
	// are not removed.
	GroupOf map[string]string
	// Problem has pods, nodes, DaemonSets, volumes and so on. It has neither NodePools nor catalogs, because the groups
	// state these.
	Problem scheduling.Problem
	// PodDisruptionBudgets bound evictions.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
}

// Planner plans sizes of node groups. Any number of goroutines may use one.
type Planner struct {
	// Prices are the prices of nodes; required. [expander.Prices] has those of the large clouds.
	Prices expander.Pricer
	// Policy is how nodes are chosen; the zero value works. With [scheduling.PlacementFree] plans hold where
	// kube-scheduler assigns the pods to nodes.
	Policy scheduling.Policy
	// Balance shares new nodes out evenly among similar groups (--balance-similar-node-groups) where all pods fit then,
	// too.
	Balance bool
	// IgnoredLabels are labels in which similar groups may differ, beside those that [Similar] names
	// (--balancing-ignore-label).
	IgnoredLabels []string
	// ScaleDownSettings say which nodes may be removed.
	ScaleDownSettings ScaleDownSettings
}

// Resize is the change of a group's size.
type Resize struct {
	// Group is the id of the group.
	Group string
	// From is its target size, To the new one.
	From, To int
	// Pods are the pods on its new nodes, as namespace/name, sorted.
	Pods []string
	// PricePerHour is the price of its new nodes, or of those that are removed, in USD per hour.
	PricePerHour offerings.Price
	// Reason says why in words.
	Reason string
}

// model is a cluster as a problem.
type model struct {
	Cluster
	problem scheduling.Problem
	// pools are the names of the NodePools of the groups, and group their inverse.
	pools []string
	group map[string]int
	// joined are the nodes of each group that are in the cluster.
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
			node = m.member(g, node)
			m.joined[g] = append(m.joined[g], node)
			for _, key := range []string{scheduling.RegisteredLabel, scheduling.InitializedLabel} {
				node.Labels[key] = "true"
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

// check reports all faults of groups and settings.
func (p *Planner) check(c *Cluster) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Prices == nil {
		fault("prices: must be set")
	}
	if t := p.ScaleDownSettings.UtilizationThreshold; t < 0 || t != t {
		fault("utilization threshold %v: must not be negative", t)
	}
	if len(c.Problem.NodePools) > 0 || c.Problem.Catalog != nil || len(c.Problem.PoolCatalogs) > 0 {
		fault("problem: must have neither NodePools nor catalogs, because node groups state these")
	}
	ids := map[string]bool{}
	for i, g := range c.Groups {
		at := fmt.Sprintf("node group %q: ", g.ID)
		if g.ID == "" {
			at = fmt.Sprintf("groups[%d]: ", i)
			fault("%sid: must be set", at)
		} else if ids[g.ID] {
			fault("%sid: occurs twice", at)
		}
		ids[g.ID] = true
		if g.Template == nil {
			fault("%stemplate: must be set", at)
		}
		if g.Min < 0 {
			fault("%sminimum %d: must not be negative", at, g.Min)
		}
		if g.Max < g.Min {
			fault("%smaximum %d: must not be below the minimum %d", at, g.Max, g.Min)
		}
		if g.Target < 0 || g.Target > mostNodes {
			fault("%starget %d: must be between 0 and %d", at, g.Target, mostNodes)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.GroupOf)) {
		if !ids[c.GroupOf[name]] {
			fault("node %q: there is no node group %q", name, c.GroupOf[name])
		}
	}
	return errors.Join(errs...)
}

// mostNodes bounds the target size of a group, because each of its nodes is one in memory.
const mostNodes = 100_000

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

// member is a copy of a node with the labels by which it is a node of the group's NodePool.
func (m *model) member(g int, node *corev1.Node) *corev1.Node {
	out := manifest.PaidFor(node)
	as := instancetypes.OfferingOf(node)
	out.Labels[scheduling.NodePoolLabel] = m.pools[g]
	out.Labels[corev1.LabelInstanceTypeStable] = cmp.Or(as.InstanceType, typeName(m.Groups[g].Template))
	out.Labels[corev1.LabelTopologyZone] = cmp.Or(as.Zone, noZone)
	if out.Labels[offerings.CapacityTypeLabel] == string(offerings.Reserved) {
		// The size of the group bounds the nodes of its reservation, and a NodePool's reservations would need their ids.
		out.Labels[offerings.CapacityTypeLabel] = string(offerings.OnDemand)
		delete(out.Labels, offerings.ReservationIDLabel)
	}
	return out
}

// typeName is the instance type of a template.
func typeName(node *corev1.Node) string {
	return cmp.Or(instancetypes.OfferingOf(node).InstanceType, "template")
}

// promised is a node of a group that has not joined yet.
func (m *model) promised(g int, name string) *corev1.Node {
	out := m.member(g, m.Groups[g].Template)
	out.Name = name
	out.DeletionTimestamp = nil
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

// catalog has the instance types of a group: that of its template, with the offering that it launches, and those of its
// nodes, which it does not.
func (m *model) catalog(prices expander.Pricer, g int, launches bool) (*instancetypes.Catalog, error) {
	group := &m.Groups[g]
	types := map[string]*instancetypes.InstanceType{}
	var order []*instancetypes.InstanceType
	add := func(node *corev1.Node, launched bool) {
		as := instancetypes.OfferingOf(node)
		t, ok := types[as.InstanceType]
		if !ok {
			t = template.InstanceType(as.InstanceType, template.Allocatable(node))
			t.Labels = typeLabels(node)
			types[as.InstanceType] = t
			order = append(order, t)
		}
		o := offerings.Offering{Zone: as.Zone, CapacityType: as.CapacityType, Price: prices.PriceOf(node), Unavailable: !launched}
		if !slices.ContainsFunc(t.Offerings, func(other offerings.Offering) bool { return other.Key("") == o.Key("") }) {
			t.Offerings = append(t.Offerings, o)
		}
	}
	add(m.member(g, group.Template), launches && !group.Atomic)
	for _, node := range m.joined[g] {
		add(node, false)
	}
	return instancetypes.NewCatalog(order...)
}

// typeLabels are the labels of an instance type.
func typeLabels(node *corev1.Node) map[string]string {
	out := map[string]string{}
	for key, value := range node.Labels {
		switch normal := requirements.NormalizeKey(key); normal {
		case corev1.LabelTopologyZone, corev1.LabelHostname, offerings.CapacityTypeLabel, offerings.ReservationIDLabel, scheduling.NodePoolLabel,
			scheduling.RegisteredLabel, scheduling.InitializedLabel:
		default:
			if !ofGroup(key) {
				out[normal] = value
			}
		}
	}
	return out
}

// ofGroup reports whether a label is one that a NodePool may state.
func ofGroup(key string) bool {
	return !requirements.Restricted(key) && !requirements.WellKnown().Has(requirements.NormalizeKey(key))
}

// pool is the NodePool of a group.
func (m *model) pool(g int) *scheduling.NodePool {
	group, pool := &m.Groups[g], &scheduling.NodePool{}
	pool.Name = m.pools[g]
	pool.Spec.Template.Metadata.Labels = map[string]string{}
	for key, value := range group.Template.Labels {
		if ofGroup(key) {
			pool.Spec.Template.Metadata.Labels[key] = value
		}
	}
	pool.Spec.Template.Spec.Taints = group.Template.Spec.Taints
	pool.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{}
	pool.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{Duration: new(time.Duration)}
	pool.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "100%"}}
	most := max(group.Max, group.Target, len(m.joined[g]))
	pool.Spec.Limits = corev1.ResourceList{scheduling.NodesResource: *resource.NewQuantity(int64(most), resource.DecimalSI)}
	return pool
}
