package scheduling

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fixes are the smallest single changes that would place a class's pods, nearest
// first: less of one resource, a toleration, one selector less, a higher limit.
func (e *explainer) fixes(class *podClass, reasons []Reason) []string {
	var out []string
	if len(e.pools) == 0 {
		return []string{"add a node pool"}
	}
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(e.unitFix(class))
	screens := e.screened(class.group)
	add(e.reservationFix(class, screens))
	add(e.floorFix(reasons))
	add(e.limitFix(class, screens))
	add(e.resourceFix(class, screens))
	for ti := range screens {
		add(e.taintFix(class, ti, &screens[ti]))
	}
	group := e.classes.groups[class.group]
	for i := range group.selector {
		add(e.selectorFix(class, i))
	}
	if group.affine {
		add(e.affinityHint(group))
		without := *group
		without.affine = false
		if e.wouldFit(class, &without) {
			add("widen the required node affinity: " + affinityText(group) + " matches nothing that fits")
		}
	}
	return out
}

// limitFix names the limit that stands in the way, and how far it would have to rise.
func (e *explainer) limitFix(class *podClass, screens []screened) string {
	best, text := int64(-1), ""
	for ti := range screens {
		screens[ti].admitted.Each(func(o int) {
			room, ok := e.roomOf(ti, o)
			if !ok || len(e.lacking(room, class.requests)) > 0 {
				return
			}
			p := purchase{template: ti, offer: o}
			pool := e.templates[ti].pool
			left := e.ledger.limits[e.templates[ti].number]
			for d, use := range e.ledger.use(p) {
				short := use - left[d]
				if short <= 0 || best >= 0 && short >= best {
					continue
				}
				name := limitedResources(pool)[d]
				now := amount(name, pool.Spec.Limits[name])
				q := quantity(name, plus(now, short))
				best, text = short, fmt.Sprintf("raise the limit %s of node pool %s to %s", name, pool.Name, q.String())
			}
		})
	}
	return text
}

// resourceFix says how much less of one resource would do.
func (e *explainer) resourceFix(class *podClass, screens []screened) string {
	dim, most := -1, int64(-1)
	consider := func(room []int64) {
		lacking := e.lacking(room, class.requests)
		if len(lacking) != 1 {
			return
		}
		d := lacking[0]
		// Of several resources the one that asks for the smaller cut is nearer.
		if room[d] <= 0 || dim >= 0 && !nearer(room[d], class.requests[d], most, class.requests[dim]) {
			return
		}
		dim, most = d, room[d]
	}
	for ti := range screens {
		screens[ti].admitted.Each(func(o int) {
			if room, ok := e.roomOf(ti, o); ok {
				consider(room)
			}
		})
	}
	group := e.classes.groups[class.group]
	for i, x := range e.nodes {
		if hard, _ := untolerated(group.tolerations, x.taints); hard == nil && group.matchesNode(x.node.Name, x.labels) {
			consider(e.rooms[i])
		}
	}
	if dim < 0 {
		return ""
	}
	name := e.table.names[dim]
	if driver := attachDriver(name); driver != "" {
		return attachFix(driver, most, class.requests[dim])
	}
	have, want := quantity(name, most), quantity(name, class.requests[dim])
	return fmt.Sprintf("fits if %s ≤ %s (asks for %s)", name, have.String(), want.String())
}

// nearer reports whether a/b is a larger share than c/d.
func nearer(a, b, c, d int64) bool { return float64(a)/float64(b) > float64(c)/float64(d) }

// taintFix names the toleration that a pod would need to use a pool.
func (e *explainer) taintFix(class *podClass, ti int, s *screened) string {
	if s.taint == nil {
		return ""
	}
	group := *e.classes.groups[class.group]
	v := e.templates[ti]
	row := e.offers.admits(v, &group, false)
	if !e.anyFits(class, ti, row) {
		return ""
	}
	for i := range v.pool.Spec.Template.Spec.Taints {
		t := &v.pool.Spec.Template.Spec.Taints[i]
		if t != s.taint && t.Effect != "PreferNoSchedule" && !tolerates(group.tolerations, t) {
			return "" // more than one toleration is missing
		}
	}
	return fmt.Sprintf("tolerate %s to use node pool %s", taintText(s.taint), v.pool.Name)
}

// selectorFix says which other values of a selected label would do.
func (e *explainer) selectorFix(class *podClass, i int) string {
	group := e.classes.groups[class.group]
	without := *group
	without.selector = slices.Delete(slices.Clone(group.selector), i, i+1)
	x := &group.selector[i]
	var values []string
	fits := false
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard != nil {
			continue
		}
		e.offers.admits(v, &without, false).Each(func(o int) {
			if !e.takes(class, ti, o) {
				return
			}
			fits = true
			value, ok := e.offers.offers[o].label(x.Key())
			if !ok {
				value, ok = v.labels[x.Key()]
			}
			if ok && len(values) < 5 && !slices.Contains(values, value) && !x.Has(value) {
				values = append(values, value)
			}
		})
	}
	if !fits {
		return ""
	}
	if len(values) == 0 {
		if e.known(x.Key()) {
			return "" // the value is on sale: something else stands in the way
		}
		conflict := &requirements.Conflict{Key: x.Key(), Right: x.Requirement, Undefined: true}
		if hint := conflict.Hint(); hint != "" {
			return fmt.Sprintf("did you mean %s? nothing defines the node selector %s", hint, x.raw)
		}
		if requirements.Restricted(x.Key()) {
			return "drop the node selector " + x.raw + ": new nodes do not have it"
		}
		return fmt.Sprintf("drop the node selector %s, or give a node pool that label", x.raw)
	}
	slices.Sort(values)
	return fmt.Sprintf("select another value of %s than %s, such as %s", x.raw, strings.Join(x.Values(), ","), strings.Join(values, ", "))
}

// known reports whether any offer or pool defines a label.
func (e *explainer) known(key string) bool {
	_, every := ready()[key]
	return every && key != corev1.LabelHostname || e.offers.column(key).defined || slices.ContainsFunc(e.templates, func(v *template) bool {
		_, ok := v.labels[key]
		return ok
	})
}

// slipOfUnit is the CPU request, in millicores, from which a wrong unit is likelier
// than a machine of that size: a million cores, or "1M" meant as "1m".
const slipOfUnit = 1_000_000 * 1000

// unitFix points out a CPU request that is probably a slip of the unit.
func (e *explainer) unitFix(class *podClass) string {
	d, ok := e.table.index[corev1.ResourceCPU]
	if !ok || class.requests[d] < slipOfUnit {
		return ""
	}
	q := quantity(corev1.ResourceCPU, class.requests[d])
	return fmt.Sprintf("check the unit of cpu %s: M stands for millions, m for thousandths", q.String())
}

// reservationFix names a used-up reservation that would hold the pods.
func (e *explainer) reservationFix(class *podClass, screens []screened) string {
	for ti := range screens {
		name := ""
		screens[ti].admitted.Each(func(o int) {
			p := purchase{template: ti, offer: o}
			if id := e.ledger.reservation(p); name == "" && id != "" && e.ledger.supply[id] < 1 && e.takes(class, ti, o) {
				name = id
			}
		})
		if name != "" {
			return fmt.Sprintf("raise the count of reservation %s, or allow other capacity types", name)
		}
	}
	return ""
}

// floorFix names the remedy for minValues that cannot be met.
func (e *explainer) floorFix(reasons []Reason) string {
	for _, r := range reasons {
		if r.Code == ReasonMinValues {
			return "lower the minValues of the node pool, or solve with minValues as best effort"
		}
	}
	return ""
}

// wouldFit reports whether a class would find an offer under other constraints.
func (e *explainer) wouldFit(class *podClass, group *constraint) bool {
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard == nil && e.anyFits(class, ti, e.offers.admits(v, group, false)) {
			return true
		}
	}
	return false
}

// affinityHint points out a label of a required node affinity that nothing defines
// and that looks like another one.
func (e *explainer) affinityHint(group *constraint) string {
	hint := ""
	group.expressions(func(x *expression) {
		if hint != "" || x.AllowsAbsent() || e.known(x.Key()) {
			return
		}
		conflict := &requirements.Conflict{Key: x.Key(), Right: x.Requirement, Undefined: true}
		if h := conflict.Hint(); h != "" {
			hint = fmt.Sprintf("did you mean %s? nothing defines the label %s", h, x.raw)
		}
	})
	return hint
}

// anyFits reports whether one of the offers takes a pod of the class.
func (e *explainer) anyFits(class *podClass, ti int, row model.Bits) bool {
	found := false
	row.Each(func(o int) { found = found || e.takes(class, ti, o) })
	return found
}

// takes reports whether an offer is on sale and has room for a pod of the class.
func (e *explainer) takes(class *podClass, ti, o int) bool {
	if !e.offers.offers[o].launchable {
		return false
	}
	room, ok := e.roomOf(ti, o)
	return ok && model.Fits(room, class.requests)
}
