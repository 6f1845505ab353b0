package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// zoneKeys are the labels by which volumes of old say where they are.
func zoneKeys() []string {
	return []string{corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}
}

// zoneDelimiter separates the zones that one label names.
const zoneDelimiter = "__"

// labelTerms are the alternatives by which a node fits what a volume's label says, as
// kube-scheduler's plugin VolumeZone has it: the node has one of the values under that
// key or, where it lacks it, under the key's new name; or it has none of such labels at
// all. Of a machine that does not exist yet, what nobody knows is no obstacle.
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

// aside reports whether the term is one for nodes that lack labels, which volumes
// themselves cannot state.
func (t *Term) aside() bool {
	return slices.ContainsFunc(t.Fields, func(e Expression) bool { return e.Has("") != e.AllowsAbsent() })
}
