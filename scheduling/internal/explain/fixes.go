package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// changes are the smallest single changes that would place a class's pods, nearest
// first: less of one resource, a toleration, one selector less, a higher limit. Where
// no single one would do, it is the fewest together.
func (e *Explainer) changes(class *podspec.PodClass, id int) []scheduling.Change {
	s := e.subject(class, id)
	n := s.nearest()
	var out ChangeList
	out.Add(e.unitFix(class))
	if n.reservation != "" {
		out.Add(raiseReservation(n.reservation))
	}
	if n.choosy != "" {
		out.Add(scheduling.Change{Kind: scheduling.ChangeMinValues, Object: "NodePool/" + n.choosy, Text: "lower the minValues of node pool " + n.choosy})
	}
	if n.limits != nil {
		out.Add(limitChange(n.limits))
	}
	if n.setting >= 0 {
		out.Add(offers.Admitting(e.In.Solver, &e.In.Offers.Offers[n.setting]))
	}
	if n.inflexible {
		out.Add(scheduling.Change{
			Kind: scheduling.ChangeFlexibility, Object: "Policy", From: e.In.Solver.Flexibility.String(),
			Text: fmt.Sprintf("ask for less choice among spot machines than %s", e.In.Solver.Flexibility),
		})
	}
	if n.dim >= 0 {
		out.Add(e.lessOf(n.dim, n.room, class))
	}
	e.termFixes(class, id, &n.terms, &out)
	for _, c := range slices.Concat(n.widenings(), n.pools, n.nodes) {
		out.Add(c)
	}
	s.askFixes(n, &out)
	s.volumeFix(n, &out)
	for _, c := range n.ports {
		out.Add(c)
	}
	out.Add(n.sale)
	e.replicaFixes(class, &out)
	if len(e.In.Pools) == 0 {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodePool, Text: "add a node pool"})
	}
	if len(out) == 0 || e.In.Facts.Together {
		s.together(&out)
	}
	return out
}

// limitGap is by how much a limit of a pool falls short of one more purchase.
type limitGap struct {
	pool  *scheduling.NodePool
	name  corev1.ResourceName
	short int64
}

// closerLimits reports whether gaps are easier to close than others: fewer, and then
// the same limit by less.
func closerLimits(a, b []limitGap) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a[0].pool == b[0].pool && a[0].name == b[0].name && a[0].short < b[0].short
}

// limitGaps lists the limits that one more purchase would exceed.
func (e *Explainer) limitGaps(p offers.Purchase) []limitGap {
	pool := e.In.Templates[p.Template].Pool
	var out []limitGap
	for d, short := range e.State.ledger.Gaps(p) {
		out = append(out, limitGap{pool, instance.LimitedResources(pool)[d], short})
	}
	return out
}

// limitChange raises limits as far as needed.
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

// replicaFixes raise the replicas of static NodePools: those that a pod asks for by name, else the first by name.
func (e *Explainer) replicaFixes(class *podspec.PodClass, out *ChangeList) {
	asked := class.Pods[0].Spec.NodeSelector[scheduling.NodePoolLabel]
	var static []*scheduling.NodePool
	for _, p := range e.In.Problem.NodePools {
		if p.Spec.Replicas != nil && p.DeletionTimestamp == nil && (asked == "" || asked == p.Name) {
			static = append(static, p)
		}
	}
	slices.SortFunc(static, func(a, b *scheduling.NodePool) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range static[:min(len(static), mostStatic)] {
		nodes := int64(0)
		for _, node := range e.In.Problem.Nodes {
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

// lessOf says that a pod fits if it asks for at most so much of a resource.
func (e *Explainer) lessOf(dim int, most int64, class *podspec.PodClass) scheduling.Change {
	name := e.In.Table.Names[dim]
	if driver := podspec.AttachDriver(name); driver != "" {
		return attachFix(driver, most, class.Requests[dim])
	}
	want := class.Requests[dim]
	if most <= 0 {
		_, asks := inOneUnit(name, 0, want)
		q := podspec.Quantity(name, want)
		return scheduling.Change{
			Kind: scheduling.ChangeRequest, Key: string(name), From: q.String(), To: "0",
			Text: fmt.Sprintf("drop the request for %s (asks for %s)", name, asks),
		}
	}
	have, asks := inOneUnit(name, most, want)
	to, from := podspec.Quantity(name, most), podspec.Quantity(name, want)
	return scheduling.Change{
		Kind: scheduling.ChangeRequest, Key: string(name), From: from.String(), To: to.String(),
		Text: fmt.Sprintf("fits if %s ≤ %s (asks for %s)", name, have, asks),
	}
}

// inOneUnit writes a bound, rounded down, and a larger amount in the same unit, with as many decimals as it takes
// to tell them apart. It is the largest unit of which the bound has one, but for an amount that 64 bits do not hold.
func inOneUnit(name corev1.ResourceName, bound, amount int64) (least, most string) {
	of := amount
	if bound > 0 {
		of = bound
	}
	unit, suffix := unitOf(name, of)
	for decimals := 2; ; decimals++ {
		scale := math.Pow10(decimals)
		down := math.Floor(float64(bound)/float64(unit)*scale) / scale
		least, most = decimal(down, decimals)+suffix, decimal(float64(amount)/float64(unit), decimals)+suffix
		if amount == math.MaxInt64 {
			return least, atLeast(name, amount)
		}
		if (least != most && (bound == 0 || down > 0)) || decimals == 12 {
			return least, most
		}
	}
}

// atLeast writes an amount, rounded up. The largest stands for all that 64 bits do not hold.
func atLeast(name corev1.ResourceName, amount int64) string {
	unit, suffix := unitOf(name, amount)
	if amount == math.MaxInt64 {
		suffix += " or more"
	}
	const decimals = 2
	scale := math.Pow10(decimals)
	return decimal(math.Ceil(float64(amount)/float64(unit)*scale)/scale, decimals) + suffix
}

// unitOf is the largest unit of which an amount of a resource has one, and its suffix.
func unitOf(name corev1.ResourceName, amount int64) (unit int64, suffix string) {
	unit = 1
	switch {
	case name == corev1.ResourceCPU:
		if suffix = "m"; amount >= 1000 {
			unit, suffix = 1000, ""
		}
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		for i, s := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
			if next := int64(1) << (10 * (i + 1)); amount >= next {
				unit, suffix = next, s
			}
		}
	}
	return unit, suffix
}

// decimal writes a number without noughts at its end.
func decimal(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
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

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier
// than a machine of that size: a million cores, or "1M" meant as "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func (e *Explainer) unitFix(class *podspec.PodClass) scheduling.Change {
	d, ok := e.In.Table.Index[corev1.ResourceCPU]
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
