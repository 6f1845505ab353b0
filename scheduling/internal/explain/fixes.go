package explain

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// changes are the smallest single changes that would place a class's pods, nearest
// first: less of one resource, a toleration, one selector less, a higher limit. Where
// no single one would do, it is the fewest together.
func (e *Explainer) changes(class *podspec.PodClass, id int) []scheduling.Change {
	var out scheduling.ChangeList
	screens := e.screened(class.Group)
	out.Add(e.unitFix(class))
	out.Add(e.reservationFix(class, id, screens))
	out.Add(e.floorFix(class, id, screens))
	out.Add(e.limitFix(class, id, screens))
	out.Add(e.settingsFix(class, id, screens))
	out.Add(e.flexibilityFix(class, id, screens))
	out.Add(e.resourceFix(class, id, screens))
	e.tieFixes(class, id, &out)
	for ti := range screens {
		out.Add(e.taintFix(class, id, ti, &screens[ti]))
	}
	e.nodeTaintFix(class, id, &out)
	e.askFixes(class, id, &out)
	e.volumeFix(class, id, &out)
	e.portFix(class, id, &out)
	e.saleFix(class, id, screens, &out)
	if len(e.Pools) == 0 {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodePool, Text: "add a node pool"})
	}
	if len(out) == 0 || e.Facts.Together {
		e.together(class, id, &out)
	}
	if len(out) == 0 {
		e.poolFix(&out)
	}
	return out
}

// free reports whether no tie keeps a class from a machine that could be bought.
func (e *Explainer) free(id, ti, o int) bool { return len(e.offerBars(id, ti, o)) == 0 }

// limitFix names the limits that stand in the way, and how far they would have to rise.
func (e *Explainer) limitFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	var best []limitGap
	for ti := range screens {
		if !e.enough(ti, screens[ti].admitted, class.Requests) {
			continue
		}
		screens[ti].admitted.Each(func(o int) {
			if e.affords(ti, o) || !e.holds(class, ti, o) {
				return
			}
			gaps := e.limitGaps(offers.Purchase{Template: ti, Offer: o})
			if len(gaps) > 0 && (best == nil || closerLimits(gaps, best)) && e.free(id, ti, o) {
				best = gaps
			}
		})
	}
	if best == nil {
		return scheduling.Change{}
	}
	return limitChange(best)
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
	pool := e.Templates[p.Template].Pool
	left := e.ledger.Limits[e.Templates[p.Template].Number]
	var out []limitGap
	for d, use := range e.ledger.Use(p) {
		if use > left[d] || left[d] < 0 {
			out = append(out, limitGap{pool, compile.LimitedResources(pool)[d], use - left[d]})
		}
	}
	return out
}

// limitChange raises limits as far as needed.
func limitChange(gaps []limitGap) scheduling.Change {
	var changes []scheduling.Change
	var texts []string
	for _, g := range gaps {
		old := g.pool.Spec.Limits[g.name]
		q := podspec.Quantity(g.name, podspec.Plus(podspec.Amount(g.name, old), g.short))
		text := fmt.Sprintf("raise the limit %s of node pool %s to %s", g.name, g.pool.Name, q.String())
		changes = append(changes, scheduling.Change{
			Kind: scheduling.ChangeLimit, Object: "NodePool/" + g.pool.Name, Key: string(g.name), From: old.String(), To: q.String(), Text: text,
		})
		texts = append(texts, text)
	}
	c := changes[0]
	c.Text = strings.Join(texts, " and ")
	c.And = slices.Clone(changes[1:])
	return c
}

// resourceFix says how much less of one resource would do.
func (e *Explainer) resourceFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	dim, most := -1, int64(-1)
	// nearest returns whether a room is nearer to the request than those before it.
	nearest := func(room []int64) bool {
		lacking := e.lacking(room, class.Requests)
		if len(lacking) != 1 || room[lacking[0]] <= 0 {
			return false
		}
		// Of several resources the one that asks for the smaller cut is nearer.
		d := lacking[0]
		return dim < 0 || nearer(room[d], class.Requests[d], most, class.Requests[dim])
	}
	take := func(room []int64) {
		dim = e.lacking(room, class.Requests)[0]
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
			room := e.Compiler.Rooms.Rooms[n]
			if !nearest(room) {
				far[n] = true
				return
			}
			if !e.affords(ti, o) || !e.free(id, ti, o) {
				return
			}
			request := slices.Clone(class.Requests)
			for d := range request {
				request[d] = min(request[d], room[d])
			}
			if e.enough(ti, screens[ti].admitted, request) {
				take(room)
			}
		})
	}
	group := e.Classes.Groups[class.Group]
	for i, x := range e.Nodes {
		hard, _ := podspec.Untolerated(group.Tolerations, x.Taints)
		if hard == nil && group.MatchesNode(x.Node.Name, x.Labels) && !podspec.PortsClash(group.Ports, x.Ports) && !e.portsTaken(class, i) &&
			x.Attached.TurnsAway(group) == "" && nearest(e.Left[i]) && len(e.Tied.NodeBars(id, i)) == 0 {
			take(e.Left[i])
		}
	}
	if dim < 0 {
		return scheduling.Change{}
	}
	return e.lessOf(dim, most, class)
}

// lessOf says that a pod fits if it asks for at most so much of a resource.
func (e *Explainer) lessOf(dim int, most int64, class *podspec.PodClass) scheduling.Change {
	name := e.Table.Names[dim]
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
func (e *Explainer) taintFix(class *podspec.PodClass, id, ti int, s *screened) scheduling.Change {
	if s.taint == nil {
		return scheduling.Change{}
	}
	group, v := e.Classes.Groups[class.Group], e.Templates[ti]
	row := e.Offers.Admits(v, group, false)
	e.withoutPorts(row, ti, group)
	if !e.anyFits(class, id, ti, row) {
		return scheduling.Change{}
	}
	return tolerationFix(group, v.Pool.Spec.Template.Spec.Taints, "NodePool/"+v.Pool.Name, "node pool "+v.Pool.Name)
}

// nodeTaintFix names tolerations with which running nodes would do, a few of them.
func (e *Explainer) nodeTaintFix(class *podspec.PodClass, id int, out *scheduling.ChangeList) {
	const most = 2
	group := e.Classes.Groups[class.Group]
	found := map[string]bool{}
	for i, x := range e.Nodes {
		hard, _ := podspec.Untolerated(group.Tolerations, x.Taints)
		if hard == nil || len(found) == most || !group.MatchesNode(x.Node.Name, x.Labels) || !model.Fits(e.Left[i], class.Requests) ||
			podspec.PortsClash(group.Ports, x.Ports) || e.portsTaken(class, i) || len(e.Tied.NodeBars(id, i)) > 0 {
			continue
		}
		c := tolerationFix(group, x.Taints, "Node/"+x.Node.Name, "node "+x.Node.Name)
		if taints, _, _ := strings.Cut(c.Text, " for "); !found[taints] {
			found[taints] = true
			out.Add(c)
		}
	}
}

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

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier
// than a machine of that size: a million cores, or "1M" meant as "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func (e *Explainer) unitFix(class *podspec.PodClass) scheduling.Change {
	d, ok := e.Table.Index[corev1.ResourceCPU]
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

// reservationFix names a used-up reservation that would hold the pods.
func (e *Explainer) reservationFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	for ti := range screens {
		name := ""
		screens[ti].admitted.Each(func(o int) {
			if name != "" || e.affords(ti, o) {
				return
			}
			r := e.ledger.Reservation(offers.Purchase{Template: ti, Offer: o})
			if r != "" && e.ledger.Supply[r] < 1 && e.takes(class, ti, o) && e.free(id, ti, o) {
				name = r
			}
		})
		if name != "" {
			return raiseReservation(name)
		}
	}
	return scheduling.Change{}
}

// floorFix names the remedy for minValues that cannot be met.
func (e *Explainer) floorFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	pool := ""
	for ti, v := range e.Templates {
		if pool != "" || len(offers.FloorKeys(v.Set)) == 0 || !e.choosable(ti, screens[ti].admitted, class.Requests) {
			continue
		}
		screens[ti].admitted.Each(func(o int) {
			if pool == "" && e.takes(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o) {
				pool = v.Pool.Name
			}
		})
	}
	if pool == "" {
		return scheduling.Change{}
	}
	return scheduling.Change{
		Kind: scheduling.ChangeMinValues, Object: "NodePool/" + pool,
		Text: "lower the minValues of node pool " + pool,
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
