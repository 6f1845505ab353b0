package verify

import (
	"fmt"
	"strings"
)

// obstacle is a rule that keeps a pod off a host at a moment.
type obstacle struct {
	code Code
	pods *podSet // whom the rule is about
	// own is set for the pod's own rules, not for those of pods that are there.
	own bool
	key string
	// value is what the host has for the key, if it has it.
	value string
	has   bool
	// count is the number of pods there, for spread with this one among them. least is
	// the number where there are fewest, skew how many more there may be.
	count, least, skew int
}

func (o obstacle) String() string {
	rule := string(o.code)
	if !o.own {
		rule += " of others"
	}
	rule = fmt.Sprintf("%s over %s with pods of %s", rule, o.key, o.pods.text)
	value := strings.TrimPrefix(o.value, nobodys)
	switch {
	case !o.has:
		return rule + ": it does not have the label"
	case o.code == TopologySpread:
		return fmt.Sprintf("%s: %s would have %d, the least is %d, at most %d more are allowed", rule, value, o.count, o.least, o.skew)
	default:
		return fmt.Sprintf("%s: %s has %d of them", rule, value, o.count)
	}
}

// obstacle returns the first rule that keeps the pod off the host as things are.
func (s *scene) obstacle(p *party, h *host) (obstacle, bool) {
	if o, found := p.crowded(h); found {
		return o, true
	}
	if o, found := p.lonely(h); found {
		return o, true
	}
	for i, t := range p.apart {
		if value, ok := h.value(t.key); ok && t.counts[value] > 0 {
			return obstacle{code: PodAntiAffinity, pods: p.ties.apart[i].pods, own: true, key: t.key, value: value, has: true, count: t.counts[value]}, true
		}
	}
	for _, k := range s.shunners(p.face) {
		if value, ok := h.value(k.key); ok && k.counts[value] > 0 {
			return obstacle{code: PodAntiAffinity, pods: k.sets[0], key: k.key, value: value, has: true, count: k.counts[value]}, true
		}
	}
	return obstacle{}, false
}

// crowded looks for a spread constraint that one more pod there would violate.
func (p *party) crowded(h *host) (obstacle, bool) {
	for i, t := range p.spread {
		r := &p.ties.spread[i]
		value, ok := h.value(r.key)
		count, least := t.counts[value], t.least(r.minDomains)
		if r.pods.has(p.face) {
			count++
		}
		if !ok || count-least > r.maxSkew {
			return obstacle{TopologySpread, r.pods, true, r.key, value, ok, count, least, r.maxSkew}, true
		}
	}
	return obstacle{}, false
}

// lonely looks for a term of pod affinity without company. Where there is none for any
// term, a pod that is the company it asks for may go wherever all the labels are.
func (p *party) lonely(h *host) (obstacle, bool) {
	first := true
	for i, t := range p.near {
		first = first && t.total == 0 && p.ties.near[i].pods.has(p.face)
	}
	for i, t := range p.near {
		if value, ok := h.value(t.key); !ok || t.counts[value] == 0 && !first {
			return obstacle{code: PodAffinity, pods: p.ties.near[i].pods, own: true, key: t.key, value: value, has: ok}, true
		}
	}
	return obstacle{}, false
}

// state changes whenever something happens that matters to the party.
func (s *scene) state(p *party) int {
	n := 0
	for _, list := range [][]*tally{p.spread, p.near, p.apart, s.shunners(p.face)} {
		for _, t := range list {
			n += t.version
		}
	}
	return n
}
