package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ask is one condition on labels that a pod cannot do without: a node selector, or an
// expression of a required node affinity that has only one term.
type ask struct {
	expression *podspec.Expression
	at         int
	selector   bool
}

// asksOf lists the labels that a group requires.
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

// kind is the field of the pod in which the ask is written.
func (a ask) kind() scheduling.ChangeKind {
	if a.selector {
		return scheduling.ChangeSelector
	}
	return scheduling.ChangeNodeAffinity
}

// askFixes proposes other values of required labels. A change of the zone comes first, because it keeps the kind of machine.
func askFixes(s *subject, n *nearest, out *ChangeList) {
	for _, zone := range []bool{true, false} {
		for i, a := range s.needs.asks {
			if n.values[i] != nil && zone == (a.expression.Key() == offerings.ZoneLabel) {
				out.Add(askFix(s, a, slices.Sorted(maps.Keys(n.values[i]))))
			}
		}
	}
	if !s.needs.group.Affine {
		return
	}
	out.Add(affinityHint(s.in, s.needs.group))
	if n.affine && !slices.ContainsFunc(*out, func(c scheduling.Change) bool { return c.Kind == scheduling.ChangeNodeAffinity }) {
		out.Add(scheduling.Change{Kind: scheduling.ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityFault(s.needs.group)})
	}
}

// askFix proposes other values of a label that would do, or another change where no offer and no node has the label.
func askFix(s *subject, a ask, values []string) scheduling.Change {
	c := scheduling.Change{Kind: a.kind(), Key: a.expression.Raw, From: a.values()}
	if len(values) > 0 {
		const most = 3
		c.Values = values[:min(len(values), most)]
		c.Text = fmt.Sprintf("select another value of %s than %s, such as %s", a.expression.Raw, a.values(), strings.Join(c.Values, ", "))
		switch {
		case a.expression.Unread != "":
			c.Text = fmt.Sprintf("compare %s with an integer, or select a value such as %s: %s matches nothing", a.expression.Raw, strings.Join(c.Values, ", "), a.expression.Short())
		case a.expression.Operator() != requirements.In:
			c.Text = fmt.Sprintf("widen %s, such as to %s", a.expression.Short(), strings.Join(c.Values, ", "))
		}
		if b := s.bound(); b.Policy != "" && !a.selector && a.expression.Key() == offerings.CapacityTypeLabel {
			c.Text = allowSpot(b)
		}
		if fault := clash(s.in, s.needs.group, a, s.needs.asks); fault != "" {
			c.Text = fault + ": " + c.Text
		}
		return c
	}
	if !a.selector || known(s.in, a.expression.Key()) {
		return scheduling.Change{} // the value is on sale, or a hint will be given: something else stands in the way
	}
	conflict := &requirements.Conflict{Key: a.expression.Key(), Right: a.expression.Requirement, Undefined: true}
	switch hint := conflict.Hint(); {
	case hint != "":
		c.To, c.Text = hint, fmt.Sprintf("did you mean %s? nothing defines the node selector %s", hint, a.expression.Raw)
	case requirements.Restricted(a.expression.Key()):
		c.Text = "drop the node selector " + a.expression.Raw + ": new nodes do not have it"
	default:
		c.Text = fmt.Sprintf("drop the node selector %s, or add %s=%s to the labels of a NodePool whose nodes have it; Karpenter then replaces its running nodes as drifted",
			a.expression.Raw, a.expression.Raw, a.expression.Values()[0])
	}
	return c
}

// values writes the values that an ask allows.
func (a ask) values() string {
	if a.expression.Operator() == requirements.In {
		return strings.Join(a.expression.Values(), ",")
	}
	return a.expression.Short()
}

// clash says that no offer meets both an ask and another ask of the same pods, while offers meet either one; "" if not.
func clash(in *instance.Instance, group *podspec.Constraint, a ask, all []ask) string {
	for _, b := range all {
		if b.expression == a.expression {
			continue
		}
		first, second, both := false, false, false
		for _, v := range in.Templates {
			if hard, _ := v.Untolerated(group); hard != nil {
				continue
			}
			x, y := in.Offers.Satisfying(v, a.expression).Clone(), in.Offers.Satisfying(v, b.expression).Clone()
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

// clashText words that no offer meets both of two asks.
func clashText(a, b ask) string {
	if b.expression.Key() == offerings.ZoneLabel {
		a, b = b, a
	}
	if a.expression.Key() != offerings.ZoneLabel || a.expression.Operator() != requirements.In || b.expression.Operator() != requirements.In {
		return fmt.Sprintf("nothing on sale has both %s and %s", a.expression.Short(), b.expression.Short())
	}
	wanted := b.expression.Raw + " " + b.values()
	switch b.expression.Key() {
	case corev1.LabelArchStable, corev1.LabelOSStable, corev1.LabelInstanceTypeStable, offerings.CapacityTypeLabel:
		wanted = b.values()
	}
	if len(a.expression.Values()) == 1 {
		return fmt.Sprintf("zone %q sells no %s", a.values(), wanted)
	}
	return fmt.Sprintf("zones %s sell no %s", a.values(), wanted)
}

// known reports whether any offer or pool defines a label.
func known(in *instance.Instance, key string) bool {
	_, every := offers.Ready()[key]
	return every && key != corev1.LabelHostname || in.Offers.Column(key).Defined || slices.ContainsFunc(in.Templates, func(v *offers.Template) bool {
		_, ok := v.Labels[key]
		return ok
	})
}

// affinityHint proposes the well-known label that looks most like a label of a required node affinity which no offer and no
// NodePool defines.
func affinityHint(in *instance.Instance, group *podspec.Constraint) (c scheduling.Change) {
	group.Expressions(func(x *podspec.Expression) {
		if c.Kind != "" || x.AllowsAbsent() || known(in, x.Key()) {
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

// wrongWith words the commonest reason why the offers and nodes of a domain do not take the pods.
func wrongWith(s *subject, key, value string) string {
	x := podspec.Expression{Raw: key, Requirement: requirements.MustNew(key, requirements.In, value)}
	if x.Key() == offerings.ZoneLabel {
		if text := clash(s.in, s.needs.group, ask{expression: &x}, s.needs.asks); text != "" {
			return text // the zone does not sell the instance types that the group requires
		}
	}
	reasons := countReasons(s, &x)
	if len(reasons) == 0 {
		return "nothing is on sale or runs there that could take the pod"
	}
	return reasons[0].Detail
}

// applySelector asks for another label, for another value of it, or not for it at all.
func applySelector(t *Trial, c *scheduling.Change) bool {
	spec := &t.Pod.Spec
	value, ok := spec.NodeSelector[c.Key]
	if !ok {
		return false
	}
	spec.NodeSelector = maps.Clone(spec.NodeSelector)
	delete(spec.NodeSelector, c.Key)
	switch {
	case c.To != "":
		spec.NodeSelector[c.To] = value
	case len(c.Values) > 0:
		spec.NodeSelector[c.Key] = c.Values[0]
	}
	return true
}

// applyNodeAffinity does the same to a required node affinity, and without a key drops it.
func applyNodeAffinity(t *Trial, c *scheduling.Change) bool {
	spec := &t.Pod.Spec
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	if c.Key == "" {
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		return true
	}
	found := false
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		x := &terms[i]
		for j := range x.MatchExpressions {
			if x.MatchExpressions[j].Key == c.Key && c.To != "" {
				x.MatchExpressions[j].Key, found = c.To, true
			}
		}
		if c.To != "" {
			continue
		}
		if drop(&x.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == c.Key }) {
			found = true
			switch {
			case len(c.Values) > 0:
				x.MatchExpressions = append(x.MatchExpressions, corev1.NodeSelectorRequirement{Key: c.Key, Operator: corev1.NodeSelectorOpIn, Values: c.Values[:1]})
			case len(x.MatchExpressions)+len(x.MatchFields) == 0: // a term that asks for nothing would match nothing
				spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
				return true
			}
		}
	}
	return found
}
