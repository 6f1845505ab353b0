package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// ask is one condition on labels that a pod cannot do without: a node selector, or an
// expression of a required node affinity that has only one term.
type ask struct {
	*expression
	at       int
	selector bool
}

// asksOf lists what a group asks of labels.
func asksOf(group *constraint) []ask {
	var out []ask
	for i := range group.selector {
		out = append(out, ask{&group.selector[i], i, true})
	}
	if group.affine && len(group.terms) == 1 {
		for i := range group.terms[0].labels {
			out = append(out, ask{&group.terms[0].labels[i], i, false})
		}
	}
	return out
}

// without returns a group's constraints less one ask.
func (a ask) without(group *constraint) *constraint {
	out := *group
	if a.selector {
		out.selector = slices.Delete(slices.Clone(group.selector), a.at, a.at+1)
		return &out
	}
	out.terms = slices.Clone(group.terms)
	out.terms[0].labels = slices.Delete(slices.Clone(group.terms[0].labels), a.at, a.at+1)
	return &out
}

// kind says where the ask stands.
func (a ask) kind() ChangeKind {
	if a.selector {
		return ChangeSelector
	}
	return ChangeNodeAffinity
}

// askFixes says which other values of a label would do.
func (e *explainer) askFixes(class *podClass, id int, out *changeList) {
	group := e.classes.groups[class.group]
	all := asksOf(group)
	// Another zone is easier to live with than another kind of machine.
	slices.SortStableFunc(all, func(a, b ask) int {
		return cmp.Compare(rankOf(a.Key() == offerings.ZoneLabel), rankOf(b.Key() == offerings.ZoneLabel))
	})
	for _, a := range all {
		out.add(e.askFix(class, id, a, all))
	}
	if !group.affine {
		return
	}
	out.add(e.affinityHint(group))
	if slices.ContainsFunc(*out, func(c Change) bool { return c.Kind == ChangeNodeAffinity }) {
		return
	}
	without := *group
	without.affine = false
	if e.wouldFit(class, id, &without) {
		out.add(Change{Kind: ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityText(group) + " matches nothing that fits"})
	}
}

// rankOf puts what is so before what is not.
func rankOf(so bool) int {
	if so {
		return 0
	}
	return 1
}

// askFix says which other values of one label would do.
func (e *explainer) askFix(class *podClass, id int, a ask, all []ask) Change {
	group := e.classes.groups[class.group]
	without := a.without(group)
	values := map[string]bool{}
	fits := false
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard != nil {
			continue
		}
		row := e.offers.admits(v, without, false)
		e.withoutPorts(row, ti, without)
		if !e.enough(ti, row, class.requests) {
			continue
		}
		numbers := e.offers.column(a.Key()).numbers
		known := map[int32]bool{}
		row.Each(func(o int) {
			if known[numbers[o]] || !e.usable(class, id, ti, o) {
				return
			}
			fits, known[numbers[o]] = true, true
			value, ok := e.offers.offers[o].label(a.Key())
			if !ok {
				value, ok = v.labels[a.Key()]
			}
			if ok && !a.Has(value) {
				values[value] = true
			}
		})
	}
	if !fits {
		return Change{}
	}
	c := Change{Kind: a.kind(), Key: a.raw, From: a.values()}
	if len(values) > 0 {
		const most = 3
		c.Values = slices.Sorted(maps.Keys(values))[:min(len(values), most)]
		c.Text = fmt.Sprintf("select another value of %s than %s, such as %s", a.raw, a.values(), strings.Join(c.Values, ", "))
		if a.Operator() != requirements.In {
			c.Text = fmt.Sprintf("widen %s, such as to %s", a.Short(), strings.Join(c.Values, ", "))
		}
		if clash := e.clash(group, a, all); clash != "" {
			c.Text = clash + ": " + c.Text
		}
		return c
	}
	if !a.selector || e.known(a.Key()) {
		return Change{} // the value is on sale, or a hint will be given: something else stands in the way
	}
	conflict := &requirements.Conflict{Key: a.Key(), Right: a.Requirement, Undefined: true}
	switch hint := conflict.Hint(); {
	case hint != "":
		c.To, c.Text = hint, fmt.Sprintf("did you mean %s? nothing defines the node selector %s", hint, a.raw)
	case requirements.Restricted(a.Key()):
		c.Text = "drop the node selector " + a.raw + ": new nodes do not have it"
	default:
		c.Text = fmt.Sprintf("drop the node selector %s, or give a node pool that label", a.raw)
	}
	return c
}

// values writes what an ask demands.
func (a ask) values() string {
	if a.Operator() == requirements.In {
		return strings.Join(a.Values(), ",")
	}
	return a.Short()
}

// clash says that nothing on sale meets both an ask and another one, though each alone
// is met.
func (e *explainer) clash(group *constraint, a ask, all []ask) string {
	for _, b := range all {
		if b.expression == a.expression {
			continue
		}
		first, second, both := false, false, false
		for _, v := range e.templates {
			if hard, _ := v.hardTaint(group); hard != nil {
				continue
			}
			x, y := e.offers.satisfying(v, a.expression).Clone(), e.offers.satisfying(v, b.expression).Clone()
			x.And(v.within)
			y.And(v.within)
			first, second = first || x.Any(), second || y.Any()
			x.And(y)
			both = both || x.Any()
		}
		if first && second && !both {
			return clashText(a, b)
		}
	}
	return ""
}

// clashText words that nothing on sale meets both of two asks.
func clashText(a, b ask) string {
	if b.Key() == offerings.ZoneLabel {
		a, b = b, a
	}
	if a.Key() != offerings.ZoneLabel || a.Operator() != requirements.In || b.Operator() != requirements.In {
		return fmt.Sprintf("nothing on sale has both %s and %s", a.Short(), b.Short())
	}
	what := b.raw + " " + b.values()
	switch b.Key() {
	case corev1.LabelArchStable, corev1.LabelOSStable, corev1.LabelInstanceTypeStable, offerings.CapacityTypeLabel:
		what = b.values()
	}
	if len(a.Values()) == 1 {
		return fmt.Sprintf("zone %s sells no %s", a.values(), what)
	}
	return fmt.Sprintf("zones %s sell no %s", a.values(), what)
}

// known reports whether any offer or pool defines a label.
func (e *explainer) known(key string) bool {
	_, every := ready()[key]
	return every && key != corev1.LabelHostname || e.offers.column(key).defined || slices.ContainsFunc(e.templates, func(v *template) bool {
		_, ok := v.labels[key]
		return ok
	})
}

// wouldFit reports whether a class would find an offer under other constraints.
func (e *explainer) wouldFit(class *podClass, id int, group *constraint) bool {
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard != nil {
			continue
		}
		row := e.offers.admits(v, group, false)
		e.withoutPorts(row, ti, group)
		if e.anyFits(class, id, ti, row) {
			return true
		}
	}
	return false
}

// affinityHint points out a label of a required node affinity that nothing defines
// and that looks like another one.
func (e *explainer) affinityHint(group *constraint) (c Change) {
	group.expressions(func(x *expression) {
		if c.Kind != "" || x.AllowsAbsent() || e.known(x.Key()) {
			return
		}
		conflict := &requirements.Conflict{Key: x.Key(), Right: x.Requirement, Undefined: true}
		if h := conflict.Hint(); h != "" {
			c = Change{
				Kind: ChangeNodeAffinity, Key: x.raw, To: h,
				Text: fmt.Sprintf("did you mean %s? nothing defines the label %s", h, x.raw),
			}
		}
	})
	return c
}

// withoutPorts takes the offers out on whose machines daemons bind a group's ports.
func (e *explainer) withoutPorts(row model.Bits, ti int, group *constraint) {
	for i, d := range e.daemons {
		if portsClash(group.ports, d.constraint.ports) {
			row.AndNot(e.offered[ti].daemons[i])
		}
	}
}

// anyFits reports whether one of the offers takes a pod of the class.
func (e *explainer) anyFits(class *podClass, id, ti int, row model.Bits) bool {
	found := false
	if !e.enough(ti, row, class.requests) {
		return false
	}
	row.Each(func(o int) {
		found = found || e.usable(class, id, ti, o)
	})
	return found
}

// usable reports whether an offer whose labels would do could be bought for a pod of
// the class.
func (e *explainer) usable(class *podClass, id, ti, o int) bool {
	return e.takes(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o)
}
