package podspec

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Place is where a volume can be used: on nodes that meet one of the terms. A place without terms is no node.
type Place struct {
	Terms []Term // in the order of their texts
	text  string // equal for equal places
}

// Place returns the place with these terms; equal places are one object.
func (x *VolumeIndex) Place(terms []Term) *Place {
	texts := make(map[string]Term, len(terms))
	for i := range terms {
		texts[terms[i].Text()] = terms[i]
	}
	p := &Place{}
	keys := slices.Sorted(maps.Keys(texts))
	for _, key := range keys {
		p.Terms = append(p.Terms, texts[key])
	}
	p.text = strings.Join(keys, "|")
	if have, ok := x.Places[p.text]; ok {
		return have
	}
	x.Places[p.text] = p
	return p
}

// AffinityTerms returns the alternatives of a volume's node affinity. A term without expressions matches no
// node, and is left out.
func AffinityTerms(required *corev1.NodeSelector) []Term {
	var out []Term
	for i := range required.NodeSelectorTerms {
		t := &required.NodeSelectorTerms[i]
		if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 {
			continue
		}
		made := Term{Fields: newExpressions(t.MatchFields)}
		for _, e := range t.MatchExpressions {
			made.Labels = append(made.Labels, NewLabelExpression(e))
		}
		out = append(out, made)
	}
	return out
}

// HostsOf returns the nodes to which a volume's node affinity binds it, by node name or hostname label; nil if
// it does not.
func HostsOf(v *corev1.PersistentVolume) (out []string) {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return nil
	}
	for i := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
		t := &v.Spec.NodeAffinity.Required.NodeSelectorTerms[i]
		bound := false
		for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			if (e.Key == corev1.LabelHostname || e.Key == MetadataName) && e.Operator == corev1.NodeSelectorOpIn {
				bound, out = true, append(out, e.Values...)
			}
		}
		if !bound {
			return nil
		}
	}
	return out
}

// topologyTerms returns the allowed topologies of a storage class.
func topologyTerms(allowed []corev1.TopologySelectorTerm) []Term {
	var out []Term
	for i := range allowed {
		var made Term
		for _, e := range allowed[i].MatchLabelExpressions {
			made.Labels = append(made.Labels, NewExpression(e.Key, corev1.NodeSelectorOpIn, e.Values))
		}
		if len(made.Labels) > 0 {
			out = append(out, made)
		}
	}
	return out
}

// volumesMatch reports whether an existing node can use all volumes of a pod.
func (c *Constraint) volumesMatch(name string, labels map[string]string) bool {
	for _, terms := range c.Volumes {
		if !slices.ContainsFunc(terms, func(t Term) bool { return t.MatchesNode(name, labels) }) {
			return false
		}
	}
	return true
}

// VolumeExpressions calls f with every expression on a label that a new machine may have to satisfy for a
// volume.
func (c *Constraint) VolumeExpressions(f func(*Expression)) {
	for _, terms := range c.Volumes {
		if slices.ContainsFunc(terms, func(t Term) bool { return t.forUnlabelled() }) {
			continue // an unknown label suffices
		}
		for i := range terms {
			for j := range terms[i].Labels {
				f(&terms[i].Labels[j])
			}
		}
	}
}

// MaxAlternatives bounds the alternatives of one constraint.
const MaxAlternatives = 64

// Alternatives lists conjunctions of expressions of which one must hold on a new node: the terms of affinity
// and of all volumes, in every combination without a contradiction, at most MaxAlternatives.
func (c *Constraint) Alternatives() [][]Expression {
	out := [][]Expression{c.Selector}
	if c.Affine {
		out = crossed(out, c.Terms)
	}
	for _, terms := range c.Volumes {
		out = crossed(out, terms)
	}
	return out
}

func crossed(heads [][]Expression, terms []Term) [][]Expression {
	var out [][]Expression
	for i := range terms {
		for _, head := range heads {
			if len(out) == MaxAlternatives {
				return out
			}
			if both := slices.Concat(head, terms[i].Labels); terms[i].FieldsAllowNew() && possible(both) {
				out = append(out, both)
			}
		}
	}
	return out
}

// possible reports whether some labels satisfy all expressions.
func possible(expressions []Expression) bool {
	set := requirements.NewSet()
	for i := range expressions {
		set = set.With(expressions[i].Requirement)
	}
	return !set.Impossible()
}

// CompleteLabels adds the topology labels that storage drivers will set on a node in flight, with the values of
// its well-known ones.
func (x *VolumeIndex) CompleteLabels(labels map[string]string) {
	if x == nil {
		return
	}
	for _, p := range x.Places {
		for i := range p.Terms {
			for j := range p.Terms[i].Labels {
				e := &p.Terms[i].Labels[j]
				if _, has := labels[e.Raw]; has {
					continue
				}
				if value, ok := labels[e.Key()]; ok {
					labels[e.Raw] = value
				}
			}
		}
	}
}

// PlacesText says where the volumes of a group can be used, for messages.
func PlacesText(c *Constraint) string {
	var all []string
	for _, terms := range c.Volumes {
		var alternatives []string
		for i := range terms {
			if terms[i].forUnlabelled() {
				continue
			}
			var parts []string
			for _, list := range [][]Expression{terms[i].Labels, terms[i].Fields} {
				for j := range list {
					parts = append(parts, strings.Replace(list[j].Short(), list[j].Key(), list[j].Raw, 1))
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

// zoneKeys are the labels of volumes that state a zone or region instead of node affinity.
func zoneKeys() []string {
	return []string{corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}
}

// zoneDelimiter separates the zones in one label value.
const zoneDelimiter = "__"

// labelTerms returns the alternatives of a node for a volume's zone label, by the rule of kube-scheduler's
// plugin VolumeZone: the node has one of the values under that key, or, without it, under the key's stable
// name; or it has none of these labels. A label that a machine to come does not define is no obstacle.
func labelTerms(key, value string) []Term {
	is := func(key string, op corev1.NodeSelectorOperator, values ...string) Expression {
		return NewExpression(key, op, values)
	}
	name := func(op corev1.NodeSelectorOperator) []Expression { return []Expression{is(MetadataName, op)} }
	zones := strings.Split(value, zoneDelimiter)
	stable := requirements.NormalizeKey(key)

	out := []Term{{Labels: []Expression{is(key, corev1.NodeSelectorOpIn, zones...)}}}
	if stable != key {
		out = append(out, Term{Labels: []Expression{is(key, corev1.NodeSelectorOpDoesNotExist), is(stable, corev1.NodeSelectorOpIn, zones...)}})
	}
	none := Term{Fields: name(corev1.NodeSelectorOpExists)} // of nodes that exist
	for _, k := range zoneKeys() {
		none.Labels = append(none.Labels, is(k, corev1.NodeSelectorOpDoesNotExist))
	}
	unknown := Term{Fields: name(corev1.NodeSelectorOpDoesNotExist)} // of machines to come
	unknown.Labels = []Expression{is(stable, corev1.NodeSelectorOpDoesNotExist)}
	return append(out, none, unknown)
}

// forUnlabelled reports whether the term is one of labelTerms for nodes without labels.
func (t *Term) forUnlabelled() bool {
	return slices.ContainsFunc(t.Fields, func(e Expression) bool { return e.Has("") != e.AllowsAbsent() })
}
