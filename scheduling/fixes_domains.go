package scheduling

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// mostBlockers is how many domains are looked at that hold pods back.
const mostBlockers = 3

// blockers says what is wrong with the domains that pods of a class would have to go
// to: the emptiest of a spread, or those where the pods are that they have to be with.
func (e *explainer) blockers(class *podClass, id int, bars []bar, out *changeList) {
	b := bars[0]
	if b.rule < 0 {
		return
	}
	r := &e.tied.rules[b.rule]
	values := e.tied.land.axes[r.axis].values
	told := 0
	tell := func(at int, text string) {
		if told == mostBlockers {
			return
		}
		told++
		out.add(Change{Kind: ChangeDomain, Key: b.tie.key, Values: []string{values[at]}, Text: text})
	}
	switch {
	case b.tie.kind == spreadTie && b.kind == tooMany:
		least := e.tied.minimum(b.rule)
		for i, d := range r.domains {
			if least.domain >= 0 && d.Eligible && d.Count == least.count {
				tell(i, fmt.Sprintf("make room in %s, which keeps the others back as long as it has %d: %s", values[i], d.Count, e.wrongWith(class, id, b.tie.key, values[i])))
			}
		}
	case b.tie.kind == affinityTie && b.kind == elsewhere:
		for i, d := range r.domains {
			if d.Count > 0 {
				tell(i, fmt.Sprintf("make room in %s, where such pods are: %s", values[i], e.wrongWith(class, id, b.tie.key, values[i])))
			}
		}
	}
}

// wrongWith words the commonest reason why nothing in a domain takes a class.
func (e *explainer) wrongWith(class *podClass, id int, key, value string) string {
	x := expression{raw: key, Requirement: requirements.MustNew(key, requirements.In, value)}
	t := newTally(e, class, id)
	group := e.classes.groups[class.group]
	if text := e.soldWithout(group, ask{expression: &x}); text != "" {
		return text
	}
	for ti, v := range e.templates {
		within := v.within.Clone()
		within.And(e.offers.satisfying(v, &x))
		if !within.Any() {
			continue
		}
		t.offers(ti, e.screenWithin(v, ti, group, within))
	}
	for i, node := range e.nodes {
		if x.matches(node.labels) {
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
func (e *explainer) soldWithout(group *constraint, zone ask) string {
	if zone.Key() != offerings.ZoneLabel {
		return ""
	}
	return e.clash(group, zone, asksOf(group))
}

// screenWithin applies a group's constraints to some offers of a template.
func (e *explainer) screenWithin(v *template, ti int, group *constraint, within model.Bits) screened {
	narrowed := *v
	narrowed.within = within
	return e.screenTemplate(&narrowed, ti, group, false)
}
