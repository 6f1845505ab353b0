package scheduling

import (
	"maps"
	"slices"
	"strconv"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// constraint is what a pod asks of its node besides room: everything that one pod
// and one node decide. Pods with equal constraints form a group.
type constraint struct {
	selector    []expression
	terms       []term // alternatives; any one suffices
	affine      bool   // required node affinity is set: without a usable term nothing matches
	tolerations []corev1.Toleration
	ports       []hostPort
	volumes     [][]term // of each, one term has to hold for a volume of the pod
	shared      []*claim // claims that nodes are charged for in advance
	sharing     int      // how much of the group's signature is about them
}

// term is one alternative of a required node affinity: all its expressions hold.
type term struct {
	labels []expression
	fields []expression // on metadata.name
}

// expression is one condition on a label. raw is the key as the pod wrote it, the
// requirement's own key the one that aliases stand for.
type expression struct {
	raw string
	requirements.Requirement
}

// matches evaluates the expression on the labels of a node that exists: absent
// labels satisfy NotIn and DoesNotExist only.
func (e *expression) matches(labels map[string]string) bool {
	if value, ok := labels[e.raw]; ok {
		return e.Has(value)
	}
	return e.AllowsAbsent()
}

// newConstraint reads a pod's constraints. Expressions that validation would have
// refused match nothing.
func newConstraint(spec *corev1.PodSpec) *constraint {
	c := &constraint{tolerations: spec.Tolerations, ports: hostPorts(spec)}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		c.selector = append(c.selector, newExpression(key, corev1.NodeSelectorOpIn, []string{spec.NodeSelector[key]}))
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		c.affine = true
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 {
				continue // an empty term matches nothing
			}
			c.terms = append(c.terms, newTerm(&t))
		}
	}
	return c
}

// newTerm reads one alternative of a node affinity.
func newTerm(t *corev1.NodeSelectorTerm) term {
	return term{
		labels: lo.Map(t.MatchExpressions, func(e corev1.NodeSelectorRequirement, _ int) expression { return newLabelExpression(e) }),
		fields: newExpressions(t.MatchFields),
	}
}

func newExpressions(in []corev1.NodeSelectorRequirement) []expression {
	out := make([]expression, 0, len(in))
	for i := range in {
		out = append(out, newExpression(in[i].Key, in[i].Operator, in[i].Values))
	}
	return out
}

func newExpression(key string, op corev1.NodeSelectorOperator, values []string) expression {
	r, err := requirements.New(key, op, values...)
	if err != nil {
		r = impossible(key)
	}
	return expression{raw: key, Requirement: r}
}

// newLabelExpression reads an expression on a label exactly as kube-scheduler does,
// which has its own idea of what an operand may be.
func newLabelExpression(e corev1.NodeSelectorRequirement) expression {
	set, err := requirements.FromNodeSelector([]corev1.NodeSelectorRequirement{e})
	if err != nil {
		return expression{raw: e.Key, Requirement: impossible(e.Key)}
	}
	return expression{raw: e.Key, Requirement: set.Get(e.Key)}
}

// impossible is a requirement that neither a value nor absence satisfies.
func impossible(key string) requirements.Requirement {
	return requirements.MustNew(key, requirements.Exists).Intersect(requirements.MustNew(key, requirements.DoesNotExist))
}

// matchesNode evaluates what a pod asks of a node that exists.
func (c *constraint) matchesNode(name string, labels map[string]string) bool {
	return c.ownMatchesNode(name, labels) && c.volumesMatch(name, labels)
}

// ownMatchesNode evaluates selector and affinity alone, as topology spread does.
func (c *constraint) ownMatchesNode(name string, labels map[string]string) bool {
	for i := range c.selector {
		if !c.selector[i].matches(labels) {
			return false
		}
	}
	if !c.affine {
		return true
	}
	for i := range c.terms {
		if c.terms[i].matchesNode(name, labels) {
			return true
		}
	}
	return false
}

func (t *term) matchesNode(name string, labels map[string]string) bool {
	for i := range t.labels {
		if !t.labels[i].matches(labels) {
			return false
		}
	}
	for i := range t.fields {
		if t.fields[i].raw != metadataName || !t.fields[i].Has(name) {
			return false
		}
	}
	return true
}

// text identifies a term.
func (t *term) text() string {
	var b []byte
	for _, list := range [][]expression{t.labels, t.fields} {
		for i := range list {
			b = appendText(append(b, ','), list[i].raw)
			b = appendText(b, list[i].String())
		}
		b = append(b, ';')
	}
	return string(b)
}

// metadataName is the only field that node affinity can select on.
const metadataName = "metadata.name"

// fieldsAllowNew reports whether a node that does not exist yet, whose name
// nobody knows, can satisfy the term's fields: excluding names can, naming one cannot.
func (t *term) fieldsAllowNew() bool {
	for i := range t.fields {
		if t.fields[i].raw != metadataName || !t.fields[i].AllowsAbsent() {
			return false
		}
	}
	return true
}

// expressions calls f with every expression on a label.
func (c *constraint) expressions(f func(*expression)) {
	for i := range c.selector {
		f(&c.selector[i])
	}
	for i := range c.terms {
		for j := range c.terms[i].labels {
			f(&c.terms[i].labels[j])
		}
	}
}

// appendSignature appends what identifies a pod's constraints: equal signatures,
// equal constraints. It reads the spec directly so that building one allocates
// nothing for the pods of a class that is known already.
func appendSignature(b []byte, spec *corev1.PodSpec, keys *[]string) []byte {
	if len(spec.NodeSelector) > 0 {
		*keys = (*keys)[:0]
		for k := range spec.NodeSelector {
			*keys = append(*keys, k)
		}
		slices.Sort(*keys)
		for _, k := range *keys {
			b = appendText(append(b, 's'), k)
			b = appendText(b, spec.NodeSelector[k])
		}
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		b = append(b, 'a')
		for i := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			t := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i]
			b = append(b, 't')
			b = appendExpressions(b, t.MatchExpressions)
			b = append(b, 'f')
			b = appendExpressions(b, t.MatchFields)
		}
	}
	for i := range spec.Tolerations {
		t := &spec.Tolerations[i]
		b = appendText(append(b, 'o'), t.Key)
		b = appendText(b, string(t.Operator))
		b = appendText(b, t.Value)
		b = appendText(b, string(t.Effect))
	}
	if mayBindPorts(spec) {
		for _, p := range hostPorts(spec) {
			b = append(b, 'p')
			b = strconv.AppendInt(b, int64(p.port), 10)
			b = appendText(b, string(p.protocol))
			b = appendText(b, p.ip)
		}
	}
	return b
}

// mayBindPorts reports whether any container lists ports.
func mayBindPorts(spec *corev1.PodSpec) bool {
	for i := range spec.Containers {
		if len(spec.Containers[i].Ports) > 0 {
			return true
		}
	}
	for i := range spec.InitContainers {
		if len(spec.InitContainers[i].Ports) > 0 {
			return true
		}
	}
	return false
}

func appendExpressions(b []byte, in []corev1.NodeSelectorRequirement) []byte {
	for i := range in {
		b = appendText(append(b, 'e'), in[i].Key)
		b = appendText(b, string(in[i].Operator))
		for _, v := range in[i].Values {
			b = appendText(append(b, 'v'), v)
		}
	}
	return b
}

// appendText appends a string so that no two sequences of strings look alike.
func appendText(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 36)
	b = append(b, ':')
	return append(b, s...)
}
