package explain

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// screened is what a group's constraints leave of a template's offers.
type screened struct {
	counts   map[scheduling.Reason]int // why the others were ruled out; Count is unset in the keys
	admitted model.Bits                // offers that only room can still rule out
	idle     model.Bits                // offers that would be among them if they were on sale
	excluded model.Bits                // offers that would be if the settings allowed them; nil for none
	taint    *corev1.Taint             // the taint that rules the whole pool out
}

// screened applies a group's constraints to the offers of every template.
func (e *Explainer) screened(group int) []screened {
	if s, ok := e.screen[group]; ok {
		return s
	}
	out := make([]screened, len(e.Templates))
	seen := map[string]bool{}
	for ti, v := range e.Templates {
		out[ti] = e.screenTemplate(v, ti, e.Classes.Groups[group], !seen[v.Pool.Name])
		seen[v.Pool.Name] = true
	}
	for _, p := range e.Pools {
		if !seen[p.Name] && len(out) > 0 {
			out[0].counts[scheduling.Reason{Code: scheduling.ReasonNoInstanceType, Detail: "node pool " + p.Name + " allows no value of a label that it requires"}]++
		}
	}
	e.screen[group] = out
	return out
}

// screenTemplate applies a group's constraints to the offers of one template.
func (e *Explainer) screenTemplate(v *offers.Template, ti int, group *podspec.Constraint, firstOfPool bool) screened {
	s := screened{counts: map[scheduling.Reason]int{}, admitted: v.Within.Clone()}
	count := func(r scheduling.Reason, gone model.Bits) {
		if n := gone.Count(); n > 0 {
			s.counts[r] += n
			s.admitted.AndNot(gone)
		}
	}
	if !v.Within.Any() {
		if firstOfPool {
			s.counts[scheduling.Reason{Code: scheduling.ReasonNoInstanceType, Detail: e.idlePool(v.Pool)}]++
		}
		return s
	}
	if hard, _ := v.HardTaint(group); hard != nil {
		s.taint = hard
		count(scheduling.Reason{Code: scheduling.ReasonTaints, Detail: fmt.Sprintf("node pool %s has the untolerated taint %s", v.Pool.Name, taintText(hard))}, v.Within)
		return s
	}
	for i := range group.Selector {
		x := &group.Selector[i]
		gone := s.admitted.Clone()
		gone.AndNot(e.Offers.Satisfying(v, x))
		count(scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "node selector " + x.Raw + "=" + strings.Join(x.Values(), ",") + " does not match"}, gone)
	}
	gone := s.admitted.Clone()
	gone.AndNot(e.Offers.AdmitsOwn(v, group, false))
	count(scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "required node affinity does not match: " + affinityText(group)}, gone)
	count(volumeReason(group), e.screenVolumes(v, group, s.admitted))

	e.screenSettings(&s, count)
	s.idle = s.admitted.Clone()
	s.idle.Each(func(o int) {
		if e.Offers.Offers[o].Launchable {
			s.idle.Clear(o)
		} else {
			s.counts[e.notOnSale(v.Pool.Name, &e.Offers.Offers[o])]++
		}
	})
	s.admitted.AndNot(s.idle)
	for i, d := range e.Daemons {
		if podspec.PortsClash(group.Ports, d.Constraint.Ports) {
			taken := s.admitted.Clone()
			taken.And(e.Offered[ti].Daemons[i])
			count(scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "daemon set " + d.Set.Name + " binds the same host port"}, taken)
		}
	}
	return s
}

// idlePool says why a pool has no offering to choose from, as the warning about it does.
func (e *Explainer) idlePool(pool *scheduling.NodePool) string {
	text, known := e.idle[pool.Name]
	if !known {
		text = "node pool " + pool.Name + " " + cmp.Or(validate.Idle(e.Problem, pool), "buys nothing: its requirements leave no instance type")
		e.idle[pool.Name] = text
	}
	return text
}

// affinityText writes the alternatives of a required node affinity.
func affinityText(c *podspec.Constraint) string {
	var terms []string
	for i := range c.Terms {
		var parts []string
		for j := range c.Terms[i].Labels {
			parts = append(parts, c.Terms[i].Labels[j].Short())
		}
		for j := range c.Terms[i].Fields {
			parts = append(parts, c.Terms[i].Fields[j].Short())
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return cmp.Or(strings.Join(terms, ", or "), "it has no usable term")
}
