package scheduling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// changes are the smallest single changes that would place a class's pods, nearest
// first: less of one resource, a toleration, one selector less, a higher limit. Where
// no single one would do, it is the fewest together.
func (e *explainer) changes(class *podClass, id int) []Change {
	var out changeList
	screens := e.screened(class.group)
	out.add(e.unitFix(class))
	out.add(e.reservationFix(class, id, screens))
	out.add(e.floorFix(class, id, screens))
	out.add(e.limitFix(class, id, screens))
	out.add(e.settingsFix(class, id, screens))
	out.add(e.flexibilityFix(class, id, screens))
	out.add(e.resourceFix(class, id, screens))
	e.tieFixes(class, id, &out)
	for ti := range screens {
		out.add(e.taintFix(class, id, ti, &screens[ti]))
	}
	e.nodeTaintFix(class, id, &out)
	e.askFixes(class, id, &out)
	e.volumeFix(class, id, &out)
	e.portFix(class, id, &out)
	e.saleFix(class, id, screens, &out)
	if len(e.pools) == 0 {
		out.add(Change{Kind: ChangeNodePool, Text: "add a node pool"})
	}
	if len(out) == 0 || e.facts.together {
		e.together(class, id, &out)
	}
	if len(out) == 0 {
		e.poolFix(&out)
	}
	return out
}

// free reports whether no tie keeps a class from a machine that could be bought.
func (e *explainer) free(id, ti, o int) bool { return len(e.offerBars(id, ti, o)) == 0 }

// limitFix names the limits that stand in the way, and how far they would have to rise.
func (e *explainer) limitFix(class *podClass, id int, screens []screened) Change {
	var best []limitGap
	for ti := range screens {
		if !e.enough(ti, screens[ti].admitted, class.requests) {
			continue
		}
		screens[ti].admitted.Each(func(o int) {
			if e.affords(ti, o) || !e.holds(class, ti, o) {
				return
			}
			gaps := e.limitGaps(purchase{template: ti, offer: o})
			if len(gaps) > 0 && (best == nil || closerLimits(gaps, best)) && e.free(id, ti, o) {
				best = gaps
			}
		})
	}
	if best == nil {
		return Change{}
	}
	return limitChange(best)
}

// limitGap is by how much a limit of a pool falls short of one more purchase.
type limitGap struct {
	pool  *NodePool
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
func (e *explainer) limitGaps(p purchase) []limitGap {
	pool := e.templates[p.template].pool
	left := e.ledger.limits[e.templates[p.template].number]
	var out []limitGap
	for d, use := range e.ledger.use(p) {
		if use > left[d] || left[d] < 0 {
			out = append(out, limitGap{pool, limitedResources(pool)[d], use - left[d]})
		}
	}
	return out
}

// limitChange raises limits as far as needed.
func limitChange(gaps []limitGap) Change {
	var changes []Change
	var texts []string
	for _, g := range gaps {
		old := g.pool.Spec.Limits[g.name]
		q := quantity(g.name, plus(amount(g.name, old), g.short))
		text := fmt.Sprintf("raise the limit %s of node pool %s to %s", g.name, g.pool.Name, q.String())
		changes = append(changes, Change{
			Kind: ChangeLimit, Object: "NodePool/" + g.pool.Name, Key: string(g.name), From: old.String(), To: q.String(), Text: text,
		})
		texts = append(texts, text)
	}
	c := changes[0]
	c.Text = strings.Join(texts, " and ")
	c.And = slices.Clone(changes[1:])
	return c
}

// resourceFix says how much less of one resource would do.
func (e *explainer) resourceFix(class *podClass, id int, screens []screened) Change {
	dim, most := -1, int64(-1)
	// nearest returns whether a room is nearer to the request than those before it.
	nearest := func(room []int64) bool {
		lacking := e.lacking(room, class.requests)
		if len(lacking) != 1 || room[lacking[0]] <= 0 {
			return false
		}
		// Of several resources the one that asks for the smaller cut is nearer.
		d := lacking[0]
		return dim < 0 || nearer(room[d], class.requests[d], most, class.requests[dim])
	}
	take := func(room []int64) {
		dim = e.lacking(room, class.requests)[0]
		most = room[dim]
	}
	var far []bool // by number, rooms that are known to be no nearer
	for ti := range screens {
		screens[ti].admitted.Each(func(o int) {
			n := e.roomNumber(ti, o)
			for n >= len(far) {
				far = append(far, false)
			}
			if n < 0 || far[n] {
				return
			}
			room := e.compiler.rooms.rooms[n]
			if !nearest(room) {
				far[n] = true
				return
			}
			if !e.affords(ti, o) || !e.free(id, ti, o) {
				return
			}
			request := slices.Clone(class.requests)
			for d := range request {
				request[d] = min(request[d], room[d])
			}
			if e.enough(ti, screens[ti].admitted, request) {
				take(room)
			}
		})
	}
	group := e.classes.groups[class.group]
	for i, x := range e.nodes {
		hard, _ := untolerated(group.tolerations, x.taints)
		if hard == nil && group.matchesNode(x.node.Name, x.labels) && !portsClash(group.ports, x.ports) && !e.portsTaken(class, i) &&
			x.attached.turnsAway(group) == "" && nearest(e.left[i]) && len(e.tied.nodeBars(id, i)) == 0 {
			take(e.left[i])
		}
	}
	if dim < 0 {
		return Change{}
	}
	return e.lessOf(dim, most, class)
}

// lessOf says that a pod fits if it asks for at most so much of a resource.
func (e *explainer) lessOf(dim int, most int64, class *podClass) Change {
	name := e.table.names[dim]
	if driver := attachDriver(name); driver != "" {
		return attachFix(driver, most, class.requests[dim])
	}
	want := class.requests[dim]
	if most <= 0 {
		_, asks := inOneUnit(name, 0, want)
		q := quantity(name, want)
		return Change{
			Kind: ChangeRequest, Key: string(name), From: q.String(), To: "0",
			Text: fmt.Sprintf("drop the request for %s (asks for %s)", name, asks),
		}
	}
	have, asks := inOneUnit(name, most, want)
	to, from := quantity(name, most), quantity(name, want)
	return Change{
		Kind: ChangeRequest, Key: string(name), From: from.String(), To: to.String(),
		Text: fmt.Sprintf("fits if %s ≤ %s (asks for %s)", name, have, asks),
	}
}

// inOneUnit writes a bound, rounded down, and a larger amount in the same unit and with
// as many decimals as it takes to tell them apart.
func inOneUnit(name corev1.ResourceName, bound, amount int64) (least, most string) {
	unit, suffix := int64(1), ""
	switch name {
	case corev1.ResourceCPU:
		if suffix = "m"; amount >= 1000 {
			unit, suffix = 1000, ""
		}
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		for i, s := range []string{"Ki", "Mi", "Gi", "Ti"} {
			if next := int64(1) << (10 * (i + 1)); amount >= next {
				unit, suffix = next, s
			}
		}
	}
	write := func(x float64, decimals int) string {
		s := strconv.FormatFloat(x, 'f', decimals, 64)
		if decimals > 0 {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s + suffix
	}
	for decimals := 2; ; decimals++ {
		scale := math.Pow10(decimals)
		down := math.Floor(float64(bound)/float64(unit)*scale) / scale
		least, most = write(down, decimals), write(float64(amount)/float64(unit), decimals)
		if (least != most && (bound == 0 || down > 0)) || decimals == 12 {
			return least, most
		}
	}
}

// nearer reports whether a/b is a larger share than c/d.
func nearer(a, b, c, d int64) bool { return float64(a)/float64(b) > float64(c)/float64(d) }

// taintFix names the tolerations that a pod would need to use a pool.
func (e *explainer) taintFix(class *podClass, id, ti int, s *screened) Change {
	if s.taint == nil {
		return Change{}
	}
	group, v := e.classes.groups[class.group], e.templates[ti]
	row := e.offers.admits(v, group, false)
	e.withoutPorts(row, ti, group)
	if !e.anyFits(class, id, ti, row) {
		return Change{}
	}
	return tolerationFix(group, v.pool.Spec.Template.Spec.Taints, "NodePool/"+v.pool.Name, "node pool "+v.pool.Name)
}

// nodeTaintFix names tolerations with which running nodes would do, a few of them.
func (e *explainer) nodeTaintFix(class *podClass, id int, out *changeList) {
	const most = 2
	group := e.classes.groups[class.group]
	found := map[string]bool{}
	for i, x := range e.nodes {
		hard, _ := untolerated(group.tolerations, x.taints)
		if hard == nil || len(found) == most || !group.matchesNode(x.node.Name, x.labels) || !model.Fits(e.left[i], class.requests) ||
			portsClash(group.ports, x.ports) || e.portsTaken(class, i) || len(e.tied.nodeBars(id, i)) > 0 {
			continue
		}
		c := tolerationFix(group, x.taints, "Node/"+x.node.Name, "node "+x.node.Name)
		if taints, _, _ := strings.Cut(c.Text, " for "); !found[taints] {
			found[taints] = true
			out.add(c)
		}
	}
}

// tolerationFix names the tolerations that are missing for some taints.
func tolerationFix(group *constraint, taints []corev1.Taint, object, where string) Change {
	var changes []Change
	var texts []string
	for i := range taints {
		t := &taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || tolerates(group.tolerations, t) {
			continue
		}
		changes = append(changes, Change{
			Kind: ChangeToleration, Object: object, Key: t.Key, To: t.Value, Effect: string(t.Effect),
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

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier
// than a machine of that size: a million cores, or "1M" meant as "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func (e *explainer) unitFix(class *podClass) Change {
	d, ok := e.table.index[corev1.ResourceCPU]
	if !ok || class.requests[d] < slipOfUnit {
		return Change{}
	}
	q := quantity(corev1.ResourceCPU, class.requests[d])
	meant := quantity(corev1.ResourceCPU, max(1, class.requests[d]/slipOfUnit/1000))
	return Change{
		Kind: ChangeUnit, Key: string(corev1.ResourceCPU), From: q.String(), To: meant.String(),
		Text: fmt.Sprintf("check the unit of cpu %s: M stands for millions, m for thousandths", q.String()),
	}
}

// reservationFix names a used-up reservation that would hold the pods.
func (e *explainer) reservationFix(class *podClass, id int, screens []screened) Change {
	for ti := range screens {
		name := ""
		screens[ti].admitted.Each(func(o int) {
			if name != "" || e.affords(ti, o) {
				return
			}
			r := e.ledger.reservation(purchase{template: ti, offer: o})
			if r != "" && e.ledger.supply[r] < 1 && e.takes(class, ti, o) && e.free(id, ti, o) {
				name = r
			}
		})
		if name != "" {
			return raiseReservation(name)
		}
	}
	return Change{}
}

// floorFix names the remedy for minValues that cannot be met.
func (e *explainer) floorFix(class *podClass, id int, screens []screened) Change {
	pool := ""
	for ti, v := range e.templates {
		if pool != "" || len(floorKeys(v.set)) == 0 || !e.choosable(ti, screens[ti].admitted, class.requests) {
			continue
		}
		screens[ti].admitted.Each(func(o int) {
			if pool == "" && e.takes(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o) {
				pool = v.pool.Name
			}
		})
	}
	if pool == "" {
		return Change{}
	}
	return Change{
		Kind: ChangeMinValues, Object: "NodePool/" + pool,
		Text: "lower the minValues of node pool " + pool,
	}
}
