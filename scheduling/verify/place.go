package verify

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// place is what a pod sees of a node: a running one, one that a launch would bring,
// or one that could be bought.
type place struct {
	// labels are those of the concrete node.
	labels map[string]string
	// name is the node's name; "" before it has one.
	name string
	// taints are those that count.
	taints []corev1.Taint
	// planned is set for machines that do not run yet: what is known of their labels
	// are the stable keys, and a pod may ask for them by any alias.
	planned bool
	// open says what is known about a label that is not among labels; nil means that
	// such a label is absent.
	open func(key string) opening
}

// value looks a label up, on a planned machine also under the stable key that key is
// an alias of. On a running node kube-scheduler knows no aliases.
func (p *place) value(key string) (string, bool) {
	if v, ok := p.labels[key]; ok || !p.planned {
		return v, ok
	}
	v, ok := p.labels[requirements.NormalizeKey(key)]
	return v, ok
}

// admits reports whether the selector allows the place.
func (p *place) admits(sel selector) bool {
	return slices.ContainsFunc(sel, func(t term) bool { return p.meetsFields(t.fields) && p.meets(t.exprs) })
}

// meetsFields evaluates matchFields, which know metadata.name with one value only.
func (p *place) meetsFields(fields []corev1.NodeSelectorRequirement) bool {
	for _, f := range fields {
		if f.Key != "metadata.name" || len(f.Values) != 1 {
			return false
		}
		same := p.name != "" && p.name == f.Values[0]
		switch f.Operator {
		case corev1.NodeSelectorOpIn:
			if !same {
				return false
			}
		case corev1.NodeSelectorOpNotIn:
			if same {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// meets reports whether the place satisfies every expression.
func (p *place) meets(exprs []expression) bool {
	for _, e := range exprs {
		if v, ok := p.value(e.key); ok {
			if !e.holds(v, true) {
				return false
			}
			continue
		}
		o := opening{}
		if p.open != nil {
			o = p.open(requirements.NormalizeKey(e.key))
		}
		if o.rule == shut {
			if !e.holds("", false) {
				return false
			}
			continue
		}
		// All expressions on an open label have to agree on its value.
		if !o.allows(about(e.key, exprs)) {
			return false
		}
	}
	return true
}
