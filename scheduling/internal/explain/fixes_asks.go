package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ask is one condition on labels that a pod cannot do without: a node selector, or an
// expression of a required node affinity that has only one term.
type ask struct {
	*podspec.Expression
	at       int
	selector bool
}

// asksOf lists what a group asks of labels.
func asksOf(group *podspec.Constraint) []ask {
	var out []ask
	for i := range group.Selector {
		out = append(out, ask{&group.Selector[i], i, true})
	}
	if group.Affine && len(group.Terms) == 1 {
		for i := range group.Terms[0].Labels {
			out = append(out, ask{&group.Terms[0].Labels[i], i, false})
		}
	}
	return out
}

// without returns a group's constraints less one ask.
func (a ask) without(group *podspec.Constraint) *podspec.Constraint {
	out := *group
	if a.selector {
		out.Selector = slices.Delete(slices.Clone(group.Selector), a.at, a.at+1)
		return &out
	}
	out.Terms = slices.Clone(group.Terms)
	out.Terms[0].Labels = slices.Delete(slices.Clone(group.Terms[0].Labels), a.at, a.at+1)
	return &out
}

// kind says where the ask stands.
func (a ask) kind() scheduling.ChangeKind {
	if a.selector {
		return scheduling.ChangeSelector
	}
	return scheduling.ChangeNodeAffinity
}

// askFixes says which other values of a label would do.
func (e *Explainer) askFixes(class *podspec.PodClass, id int, out *scheduling.ChangeList) {
	group := e.Classes.Groups[class.Group]
	all := asksOf(group)
	// Another zone is easier to live with than another kind of machine.
	slices.SortStableFunc(all, func(a, b ask) int {
		return cmp.Compare(rankOf(a.Key() == offerings.ZoneLabel), rankOf(b.Key() == offerings.ZoneLabel))
	})
	for _, a := range all {
		out.Add(e.askFix(class, id, a, all))
	}
	if !group.Affine {
		return
	}
	out.Add(e.affinityHint(group))
	if slices.ContainsFunc(*out, func(c scheduling.Change) bool { return c.Kind == scheduling.ChangeNodeAffinity }) {
		return
	}
	without := *group
	without.Affine = false
	if e.wouldFit(class, id, &without) {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityText(group) + " matches nothing that fits"})
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
func (e *Explainer) askFix(class *podspec.PodClass, id int, a ask, all []ask) scheduling.Change {
	group := e.Classes.Groups[class.Group]
	without := a.without(group)
	values := map[string]bool{}
	fits := false
	for ti, v := range e.Templates {
		if hard, _ := v.HardTaint(group); hard != nil {
			continue
		}
		row := e.Offers.Admits(v, without, false)
		e.withoutPorts(row, ti, without)
		if !e.enough(ti, row, class.Requests) {
			continue
		}
		numbers := e.Offers.Column(a.Key()).Numbers
		known := map[int32]bool{}
		row.Each(func(o int) {
			if known[numbers[o]] || !e.usable(class, id, ti, o) {
				return
			}
			fits, known[numbers[o]] = true, true
			value, ok := e.Offers.Offers[o].Label(a.Key())
			if !ok {
				value, ok = v.Labels[a.Key()]
			}
			if ok && !a.Has(value) {
				values[value] = true
			}
		})
	}
	if !fits {
		return scheduling.Change{}
	}
	c := scheduling.Change{Kind: a.kind(), Key: a.Raw, From: a.values()}
	if len(values) > 0 {
		const most = 3
		c.Values = slices.Sorted(maps.Keys(values))[:min(len(values), most)]
		c.Text = fmt.Sprintf("select another value of %s than %s, such as %s", a.Raw, a.values(), strings.Join(c.Values, ", "))
		if a.Operator() != requirements.In {
			c.Text = fmt.Sprintf("widen %s, such as to %s", a.Short(), strings.Join(c.Values, ", "))
		}
		if clash := e.clash(group, a, all); clash != "" {
			c.Text = clash + ": " + c.Text
		}
		return c
	}
	if !a.selector || e.known(a.Key()) {
		return scheduling.Change{} // the value is on sale, or a hint will be given: something else stands in the way
	}
	conflict := &requirements.Conflict{Key: a.Key(), Right: a.Requirement, Undefined: true}
	switch hint := conflict.Hint(); {
	case hint != "":
		c.To, c.Text = hint, fmt.Sprintf("did you mean %s? nothing defines the node selector %s", hint, a.Raw)
	case requirements.Restricted(a.Key()):
		c.Text = "drop the node selector " + a.Raw + ": new nodes do not have it"
	default:
		c.Text = fmt.Sprintf("drop the node selector %s, or give a node pool that label", a.Raw)
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
func (e *Explainer) clash(group *podspec.Constraint, a ask, all []ask) string {
	for _, b := range all {
		if b.Expression == a.Expression {
			continue
		}
		first, second, both := false, false, false
		for _, v := range e.Templates {
			if hard, _ := v.HardTaint(group); hard != nil {
				continue
			}
			x, y := e.Offers.Satisfying(v, a.Expression).Clone(), e.Offers.Satisfying(v, b.Expression).Clone()
			x.And(v.Within)
			y.And(v.Within)
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
	what := b.Raw + " " + b.values()
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
func (e *Explainer) known(key string) bool {
	_, every := offers.Ready()[key]
	return every && key != corev1.LabelHostname || e.Offers.Column(key).Defined || slices.ContainsFunc(e.Templates, func(v *offers.Template) bool {
		_, ok := v.Labels[key]
		return ok
	})
}

// wouldFit reports whether a class would find an offer under other constraints.
func (e *Explainer) wouldFit(class *podspec.PodClass, id int, group *podspec.Constraint) bool {
	for ti, v := range e.Templates {
		if hard, _ := v.HardTaint(group); hard != nil {
			continue
		}
		row := e.Offers.Admits(v, group, false)
		e.withoutPorts(row, ti, group)
		if e.anyFits(class, id, ti, row) {
			return true
		}
	}
	return false
}

// affinityHint points out a label of a required node affinity that nothing defines
// and that looks like another one.
func (e *Explainer) affinityHint(group *podspec.Constraint) (c scheduling.Change) {
	group.Expressions(func(x *podspec.Expression) {
		if c.Kind != "" || x.AllowsAbsent() || e.known(x.Key()) {
			return
		}
		conflict := &requirements.Conflict{Key: x.Key(), Right: x.Requirement, Undefined: true}
		if h := conflict.Hint(); h != "" {
			c = scheduling.Change{
				Kind: scheduling.ChangeNodeAffinity, Key: x.Raw, To: h,
				Text: fmt.Sprintf("did you mean %s? nothing defines the label %s", h, x.Raw),
			}
		}
	})
	return c
}

// withoutPorts takes the offers out on whose machines daemons bind a group's ports.
func (e *Explainer) withoutPorts(row model.Bits, ti int, group *podspec.Constraint) {
	for i, d := range e.Daemons {
		if podspec.PortsClash(group.Ports, d.Constraint.Ports) {
			row.AndNot(e.Offered[ti].Daemons[i])
		}
	}
}

// anyFits reports whether one of the offers takes a pod of the class.
func (e *Explainer) anyFits(class *podspec.PodClass, id, ti int, row model.Bits) bool {
	found := false
	if !e.enough(ti, row, class.Requests) {
		return false
	}
	row.Each(func(o int) {
		found = found || e.usable(class, id, ti, o)
	})
	return found
}

// usable reports whether an offer whose labels would do could be bought for a pod of
// the class.
func (e *Explainer) usable(class *podspec.PodClass, id, ti, o int) bool {
	return e.takes(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o)
}

// mostBlockers is how many domains are looked at that hold pods back.
const mostBlockers = 3

// blockers says what is wrong with the domains that pods of a class would have to go
// to: the emptiest of a spread, or those where the pods are that they have to be with.
func (e *Explainer) blockers(class *podspec.PodClass, id int, bars []Bar, out *scheduling.ChangeList) {
	b := bars[0]
	if b.rule < 0 {
		return
	}
	r := &e.Tied.Rules[b.rule]
	values := e.Tied.Locations.Axes[r.Axis].Values
	told := 0
	tell := func(at int, text string) {
		if told == mostBlockers {
			return
		}
		told++
		out.Add(scheduling.Change{Kind: scheduling.ChangeDomain, Key: b.Tie.Key, Values: []string{values[at]}, Text: text})
	}
	switch {
	case b.Tie.Kind == podspec.SpreadTie && b.Kind == tooMany:
		least := e.Tied.minimum(b.rule)
		for i, d := range r.Domains {
			if least.domain >= 0 && d.Eligible && d.Count == least.count {
				tell(i, fmt.Sprintf("make room in %s, which keeps the others back as long as it has %d: %s", values[i], d.Count, e.wrongWith(class, id, b.Tie.Key, values[i])))
			}
		}
	case b.Tie.Kind == podspec.AffinityTie && b.Kind == elsewhere:
		for i, d := range r.Domains {
			if d.Count > 0 {
				tell(i, fmt.Sprintf("make room in %s, where such pods are: %s", values[i], e.wrongWith(class, id, b.Tie.Key, values[i])))
			}
		}
	}
}

// wrongWith words the commonest reason why nothing in a domain takes a class.
func (e *Explainer) wrongWith(class *podspec.PodClass, id int, key, value string) string {
	x := podspec.Expression{Raw: key, Requirement: requirements.MustNew(key, requirements.In, value)}
	t := newTally(e, class, id)
	group := e.Classes.Groups[class.Group]
	if text := e.soldWithout(group, ask{Expression: &x}); text != "" {
		return text
	}
	for ti, v := range e.Templates {
		within := v.Within.Clone()
		within.And(e.Offers.Satisfying(v, &x))
		if !within.Any() {
			continue
		}
		t.offers(ti, e.screenWithin(v, ti, group, within))
	}
	for i, node := range e.Nodes {
		if x.Matches(node.Labels) {
			t.node(i)
		}
	}
	reasons := t.reasons()
	if len(reasons) == 0 {
		return "nothing is on sale or runs there that could take the pod"
	}
	return reasons[0].Detail
}

// soldWithout says what a zone does not sell that a group asks for, if that is so.
func (e *Explainer) soldWithout(group *podspec.Constraint, zone ask) string {
	if zone.Key() != offerings.ZoneLabel {
		return ""
	}
	return e.clash(group, zone, asksOf(group))
}

// screenWithin applies a group's constraints to some offers of a template.
func (e *Explainer) screenWithin(v *offers.Template, ti int, group *podspec.Constraint, within model.Bits) screened {
	narrowed := *v
	narrowed.Within = within
	return e.screenTemplate(&narrowed, ti, group, false)
}
