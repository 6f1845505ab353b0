package nodegroups

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Group is a node group.
type Group struct {
	// ID names the group; required, and different from those of other groups.
	ID string
	// Min and Max bound its size. Min is a bound of scale-down: a smaller group is not grown for it, as without the
	// autoscaler's --enforce-node-group-min-size. A group that cannot grow now, e.g. because its last launch failed, has
	// its target as Max.
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
	// Problem has pods, nodes, DaemonSets, volumes and so on, and Now, the time of the decision, which is required. It has
	// neither NodePools nor catalogs, because the groups state these.
	Problem scheduling.Problem
	// PodDisruptionBudgets bound evictions.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
}

// Planner plans sizes of node groups. Any number of goroutines may use one.
type Planner struct {
	// Prices are the prices of nodes; required. [expander.Prices] has those of the large clouds.
	Prices expander.Pricer
	// Policy is how nodes are chosen; the zero value works. Where its Placement is "", it is [scheduling.PlacementFree],
	// because kube-scheduler binds the pods.
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

// policy is the policy with the documented values for zeros.
func (p *Planner) policy() scheduling.Policy {
	out := p.Policy
	out.Placement = cmp.Or(out.Placement, scheduling.PlacementFree)
	return out
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

// check reports all faults of groups and settings.
func (p *Planner) check(c *Cluster) error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Prices == nil {
		fault("prices: must be set")
	}
	if t := p.ScaleDownSettings.UtilizationThreshold; t < 0 || math.IsNaN(t) {
		fault("utilization threshold %v: must not be negative", t)
	}
	if c.Problem.Now.IsZero() {
		fault("problem: now must be set, because nodes may take %v to become ready", startupTime)
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
