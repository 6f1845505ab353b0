package scheduling

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// place is where a volume can be used: on nodes that match any one of the terms. A
// place without terms is nowhere.
type place struct {
	terms []term // in the order of their texts
	text  string // equal for equal places
}

// place returns the place with these terms; equal ones are the same.
func (x *volumeIndex) place(terms []term) *place {
	texts := make(map[string]term, len(terms))
	for i := range terms {
		texts[terms[i].text()] = terms[i]
	}
	p := &place{}
	keys := slices.Sorted(maps.Keys(texts))
	for _, key := range keys {
		p.terms = append(p.terms, texts[key])
	}
	p.text = strings.Join(keys, "|")
	if have, ok := x.places[p.text]; ok {
		return have
	}
	x.places[p.text] = p
	return p
}

// affinityTerms are the alternatives of a volume's node affinity. A term without
// expressions matches nothing.
func affinityTerms(required *corev1.NodeSelector) []term {
	var out []term
	for i := range required.NodeSelectorTerms {
		t := &required.NodeSelectorTerms[i]
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 {
			continue
		}
		made := term{fields: newExpressions(t.MatchFields)}
		for _, e := range t.MatchExpressions {
			made.labels = append(made.labels, newLabelExpression(e))
		}
		out = append(out, made)
	}
	return out
}

// topologyTerms are the topologies that a storage class allows.
func topologyTerms(allowed []corev1.TopologySelectorTerm) []term {
	var out []term
	for i := range allowed {
		var made term
		for _, e := range allowed[i].MatchLabelExpressions {
			made.labels = append(made.labels, newExpression(e.Key, corev1.NodeSelectorOpIn, e.Values))
		}
		if len(made.labels) > 0 {
			out = append(out, made)
		}
	}
	return out
}

// volumesMatch reports whether a node that exists can use all volumes of a pod.
func (c *constraint) volumesMatch(name string, labels map[string]string) bool {
	for _, terms := range c.volumes {
		if !slices.ContainsFunc(terms, func(t term) bool { return t.matchesNode(name, labels) }) {
			return false
		}
	}
	return true
}

// narrowToVolumes keeps the offers whose machines, bought for a template, can use all
// volumes of a pod.
func (t *offerTable) narrowToVolumes(row model.Bits, v *template, c *constraint) {
	for _, terms := range c.volumes {
		matched := model.NewBits(len(t.offers))
		for i := range terms {
			if alternative := t.matching(v, &terms[i]); alternative != nil {
				matched.Or(alternative)
			}
		}
		row.And(matched)
	}
}

// volumeExpressions calls f with every expression on a label that a new machine may
// have to satisfy for a volume.
func (c *constraint) volumeExpressions(f func(*expression)) {
	for _, terms := range c.volumes {
		if slices.ContainsFunc(terms, func(t term) bool { return t.aside() }) {
			continue // what is unknown will do
		}
		for i := range terms {
			for j := range terms[i].labels {
				f(&terms[i].labels[j])
			}
		}
	}
}

// maxAlternatives bounds the combinations of terms that one pod makes a pool look at.
const maxAlternatives = 64

// alternatives lists conjunctions of expressions of which any one has to hold on a
// node: the terms of affinity and of all volumes, in every combination that does not
// contradict itself, up to a limit.
func (c *constraint) alternatives() [][]expression {
	out := [][]expression{c.selector}
	if c.affine {
		out = crossed(out, c.terms)
	}
	for _, terms := range c.volumes {
		out = crossed(out, terms)
	}
	return out
}

func crossed(heads [][]expression, terms []term) [][]expression {
	var out [][]expression
	for i := range terms {
		for _, head := range heads {
			if len(out) == maxAlternatives {
				return out
			}
			if both := slices.Concat(head, terms[i].labels); terms[i].fieldsAllowNew() && possible(both) {
				out = append(out, both)
			}
		}
	}
	return out
}

// possible reports whether some labels satisfy all expressions.
func possible(expressions []expression) bool {
	set := requirements.NewSet()
	for i := range expressions {
		set = set.With(expressions[i].Requirement)
	}
	return !set.Impossible()
}

// completeLabels adds, to the labels of a node in flight, the names under which
// storage drivers will repeat its zone there.
func (x *volumeIndex) completeLabels(labels map[string]string) {
	if x == nil {
		return
	}
	for _, p := range x.places {
		for i := range p.terms {
			for j := range p.terms[i].labels {
				e := &p.terms[i].labels[j]
				if _, has := labels[e.raw]; has {
					continue
				}
				if value, ok := labels[e.Key()]; ok {
					labels[e.raw] = value
				}
			}
		}
	}
}

// placesText writes where the volumes of a group can be used.
func placesText(c *constraint) string {
	var all []string
	for _, terms := range c.volumes {
		var alternatives []string
		for i := range terms {
			if terms[i].aside() {
				continue
			}
			var parts []string
			for _, list := range [][]expression{terms[i].labels, terms[i].fields} {
				for j := range list {
					parts = append(parts, strings.Replace(list[j].Short(), list[j].Key(), list[j].raw, 1))
				}
			}
			alternatives = append(alternatives, strings.Join(parts, " and "))
		}
		if len(alternatives) == 0 {
			return "nowhere"
		}
		all = append(all, strings.Join(alternatives, ", or "))
	}
	return "only where " + strings.Join(all, ", and where ")
}
