package scheduling

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// screened is what a group's constraints leave of a template's offers.
type screened struct {
	counts   map[Reason]int // why the others were ruled out; Count is unset in the keys
	admitted model.Bits     // offers that only room can still rule out
	idle     model.Bits     // offers that would be among them if they were on sale
	excluded model.Bits     // offers that would be if the settings allowed them; nil for none
	taint    *corev1.Taint  // the taint that rules the whole pool out
}

// screened applies a group's constraints to the offers of every template.
func (e *explainer) screened(group int) []screened {
	if s, ok := e.screen[group]; ok {
		return s
	}
	out := make([]screened, len(e.templates))
	seen := map[string]bool{}
	for ti, v := range e.templates {
		out[ti] = e.screenTemplate(v, ti, e.classes.groups[group], !seen[v.pool.Name])
		seen[v.pool.Name] = true
	}
	for _, p := range e.pools {
		if !seen[p.Name] && len(out) > 0 {
			out[0].counts[Reason{Code: ReasonNoInstanceType, Detail: "node pool " + p.Name + " allows no value of a label that it requires"}]++
		}
	}
	e.screen[group] = out
	return out
}

// screenTemplate applies a group's constraints to the offers of one template.
func (e *explainer) screenTemplate(v *template, ti int, group *constraint, firstOfPool bool) screened {
	s := screened{counts: map[Reason]int{}, admitted: v.within.Clone()}
	count := func(r Reason, gone model.Bits) {
		if n := gone.Count(); n > 0 {
			s.counts[r] += n
			s.admitted.AndNot(gone)
		}
	}
	if !v.within.Any() {
		if firstOfPool {
			s.counts[Reason{Code: ReasonNoInstanceType, Detail: e.idlePool(v.pool)}]++
		}
		return s
	}
	if hard, _ := v.hardTaint(group); hard != nil {
		s.taint = hard
		count(Reason{Code: ReasonTaints, Detail: fmt.Sprintf("node pool %s has the untolerated taint %s", v.pool.Name, taintText(hard))}, v.within)
		return s
	}
	for i := range group.selector {
		x := &group.selector[i]
		gone := s.admitted.Clone()
		gone.AndNot(e.offers.satisfying(v, x))
		count(Reason{Code: ReasonRequirements, Detail: "node selector " + x.raw + "=" + strings.Join(x.Values(), ",") + " does not match"}, gone)
	}
	gone := s.admitted.Clone()
	gone.AndNot(e.offers.admitsOwn(v, group, false))
	count(Reason{Code: ReasonRequirements, Detail: "required node affinity does not match: " + affinityText(group)}, gone)
	count(volumeReason(group), e.screenVolumes(v, group, s.admitted))

	e.screenSettings(&s, count)
	s.idle = s.admitted.Clone()
	s.idle.Each(func(o int) {
		if e.offers.offers[o].launchable {
			s.idle.Clear(o)
		} else {
			s.counts[e.notOnSale(v.pool.Name, &e.offers.offers[o])]++
		}
	})
	s.admitted.AndNot(s.idle)
	for i, d := range e.daemons {
		if portsClash(group.ports, d.constraint.ports) {
			taken := s.admitted.Clone()
			taken.And(e.offered[ti].daemons[i])
			count(Reason{Code: ReasonHostPorts, Detail: "daemon set " + d.set.Name + " binds the same host port"}, taken)
		}
	}
	return s
}

// idlePool says why a pool has no offering to choose from, as the warning about it does.
func (e *explainer) idlePool(pool *NodePool) string {
	text, known := e.idle[pool.Name]
	if !known {
		text = "node pool " + pool.Name + " " + cmp.Or(e.problem.idle(pool), "buys nothing: its requirements leave no instance type")
		e.idle[pool.Name] = text
	}
	return text
}

// affinityText writes the alternatives of a required node affinity.
func affinityText(c *constraint) string {
	var terms []string
	for i := range c.terms {
		var parts []string
		for j := range c.terms[i].labels {
			parts = append(parts, c.terms[i].labels[j].Short())
		}
		for j := range c.terms[i].fields {
			parts = append(parts, c.terms[i].fields[j].Short())
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return cmp.Or(strings.Join(terms, ", or "), "it has no usable term")
}
