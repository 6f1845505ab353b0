package explain

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

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
