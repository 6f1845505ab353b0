package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// changes are the single changes that would place the pods, the smallest first, e.g. a smaller request of one resource, a
// toleration, a node selector dropped, a higher limit. Where no single change would do, it is the fewest that do together.
func changes(s *subject) []scheduling.Change {
	n := findNearest(s)
	var out ChangeList
	out.Add(unitFix(s.in.Table, s.class))
	if n.reservation != "" {
		out.Add(raiseReservation(n.reservation))
	}
	if n.minValuesPool != "" {
		out.Add(scheduling.Change{Kind: scheduling.ChangeMinValues, Object: "NodePool/" + n.minValuesPool, Text: "lower the minValues of node pool " + n.minValuesPool})
	}
	if n.limits != nil {
		out.Add(limitChange(n.limits))
	}
	if n.setting >= 0 {
		out.Add(offers.Admitting(s.in.Facts.Solver, &s.in.Offers.Offers[n.setting]))
	}
	if n.inflexible {
		out.Add(scheduling.Change{
			Kind: scheduling.ChangeFlexibility, Object: "Policy", From: s.in.Facts.Solver.Flexibility.String(),
			Text: fmt.Sprintf("ask for less choice among spot machines than %s", s.in.Facts.Solver.Flexibility),
		})
	}
	if n.dim >= 0 {
		out.Add(lessOf(s.in.Table.Names[n.dim], n.room, s.class.Requests[n.dim]))
	}
	termFixes(s, &n.terms, &out)
	for _, c := range slices.Concat(n.widenings(), n.pools, n.nodes) {
		out.Add(c)
	}
	askFixes(s, n, &out)
	volumeFix(s, n, &out)
	for _, c := range n.ports {
		out.Add(c)
	}
	out.Add(n.sale)
	replicaFixes(s.in.Facts.Problem, s.class, &out)
	if len(s.in.Pools) == 0 {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodePool, Text: "add a node pool"})
	}
	if len(out) == 0 || s.in.Facts.Together {
		together(s, &out)
	}
	return out
}

// limitGap is by how much a limit of a pool falls short of one more purchase.
type limitGap struct {
	pool  *scheduling.NodePool
	name  corev1.ResourceName
	short int64
}

// closerLimits reports whether the gaps of a place are easier to close than those of another: fewer gaps, or the same
// single limit by a smaller amount.
func closerLimits(a, b []limitGap) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a[0].pool == b[0].pool && a[0].name == b[0].name && a[0].short < b[0].short
}

// limitGaps lists the limits that one more purchase would exceed.
func limitGaps(s *PlanState, p offers.Purchase) []limitGap {
	pool := s.in.Templates[p.Template].Pool
	var out []limitGap
	for d, short := range s.ledger.Gaps(p) {
		out = append(out, limitGap{pool, instance.LimitedResources(pool)[d], short})
	}
	return out
}

// limitChange raises limits so that one more machine can be bought.
func limitChange(gaps []limitGap) scheduling.Change {
	var changes []scheduling.Change
	for _, g := range gaps {
		old := g.pool.Spec.Limits[g.name]
		q := podspec.Quantity(g.name, podspec.Plus(podspec.Amount(g.name, old), g.short))
		changes = append(changes, scheduling.Change{
			Kind: scheduling.ChangeLimit, Object: "NodePool/" + g.pool.Name, Key: string(g.name), From: old.String(), To: q.String(),
			Text: fmt.Sprintf("raise the limit %s of node pool %s to %s", g.name, g.pool.Name, q.String()),
		})
	}
	return offers.Joined(changes, " and ")
}

// mostStatic is how many static NodePools are named that could have one more node for a pod.
const mostStatic = 2

// replicaFixes raise the replicas of static NodePools: of the NodePool that the pod selects by name, or else of the first
// NodePools by name.
func replicaFixes(problem *scheduling.Problem, class *podspec.PodClass, out *ChangeList) {
	asked := class.Pods[0].Spec.NodeSelector[scheduling.NodePoolLabel]
	var static []*scheduling.NodePool
	for _, pool := range problem.NodePools {
		if pool.Spec.Replicas != nil && pool.DeletionTimestamp == nil && (asked == "" || asked == pool.Name) {
			static = append(static, pool)
		}
	}
	slices.SortFunc(static, func(a, b *scheduling.NodePool) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range static[:min(len(static), mostStatic)] {
		nodes := int64(0)
		for _, node := range problem.Nodes {
			if node.Labels[scheduling.NodePoolLabel] == p.Name && !podspec.Going(node) {
				nodes++
			}
		}
		from, to := strconv.FormatInt(*p.Spec.Replicas, 10), strconv.FormatInt(max(*p.Spec.Replicas, nodes)+1, 10)
		out.Add(scheduling.Change{
			Kind: scheduling.ChangeReplicas, Object: "NodePool/" + p.Name, From: from, To: to,
			Text: fmt.Sprintf("raise the replicas of the static node pool %s to %s", p.Name, to),
		})
	}
}

// nearer reports whether a/b is a larger share than c/d.
func nearer(a, b, c, d int64) bool { return float64(a)/float64(b) > float64(c)/float64(d) }

// tolerationFix names the tolerations that are missing for some taints.
func tolerationFix(group *podspec.Constraint, taints []corev1.Taint, object, where string) scheduling.Change {
	var changes []scheduling.Change
	var texts []string
	for i := range taints {
		t := &taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || podspec.Tolerates(group.Tolerations, t) {
			continue
		}
		changes = append(changes, scheduling.Change{
			Kind: scheduling.ChangeToleration, Object: object, Key: t.Key, To: t.Value, Effect: string(t.Effect),
			Text: "needs toleration " + taintText(t) + " for " + where,
		})
		texts = append(texts, taintText(t))
	}
	if len(changes) < 2 {
		return changes[0]
	}
	c := changes[0]
	c.Text = fmt.Sprintf("needs tolerations %s for %s", strings.Join(texts, " and "), where)
	c.And = slices.Clone(changes[1:])
	return c
}

// nodeTaintFix proposes a change for a node with taints that pods do not tolerate. Taints that mark the state of the node,
// e.g. node.kubernetes.io/unschedulable, go when the node is uncordoned or repaired, so no toleration is proposed for them.
func nodeTaintFix(group *podspec.Constraint, taints []corev1.Taint, node string) scheduling.Change {
	var changes []scheduling.Change
	var others []corev1.Taint
	for i := range taints {
		t := &taints[i]
		switch {
		case t.Effect == corev1.TaintEffectPreferNoSchedule || podspec.Tolerates(group.Tolerations, t):
		case !podspec.TellsCondition(t):
			others = append(others, *t)
		default:
			c := scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/" + node, Key: t.Key, Text: "uncordon node " + node}
			if t.Key != corev1.TaintNodeUnschedulable {
				c.Text = fmt.Sprintf("repair node %s, or wait until it no longer has the taint %s", node, t.Key)
			}
			if !slices.ContainsFunc(changes, func(have scheduling.Change) bool { return have.Key == c.Key }) {
				changes = append(changes, c)
			}
		}
	}
	if len(others) > 0 {
		changes = append(changes, tolerationFix(group, others, "Node/"+node, "node "+node))
	}
	return offers.Joined(changes, ", and ")
}

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier than a machine of that size: a million
// cores, e.g. "1M" written for "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func unitFix(table *podspec.ResourceTable, class *podspec.PodClass) scheduling.Change {
	d, ok := table.Index[corev1.ResourceCPU]
	if !ok || class.Requests[d] < slipOfUnit {
		return scheduling.Change{}
	}
	q := podspec.Quantity(corev1.ResourceCPU, class.Requests[d])
	meant := podspec.Quantity(corev1.ResourceCPU, max(1, class.Requests[d]/slipOfUnit/1000))
	return scheduling.Change{
		Kind: scheduling.ChangeUnit, Key: string(corev1.ResourceCPU), From: q.String(), To: meant.String(),
		Text: fmt.Sprintf("check the unit of cpu %s: M stands for millions, m for thousandths", q.String()),
	}
}

// Propose sets the changes that would place a pod, and says so.
func Propose(u *scheduling.Unschedulable, changes []scheduling.Change) {
	u.Message = sentence(u.Reasons, changes)
	u.Changes, u.Fixes = changes, nil
	for i := range changes {
		u.Fixes = append(u.Fixes, changes[i].Text)
	}
}

func portChange(port podspec.HostPort, why string) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeHostPort, From: fmt.Sprintf("%d/%s", port.Port, port.Protocol),
		Text: fmt.Sprintf("bind another host port than %d/%s: %s", port.Port, port.Protocol, why),
	}
}

// raiseReservation lets a reservation have one machine more.
func raiseReservation(id string) scheduling.Change {
	return scheduling.Change{Kind: scheduling.ChangeReservation, Object: id, Text: "add an instance to capacity reservation " + id + ", or free one of its instances"}
}
