package podspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// Constraint is a pod's requirements on its node that do not depend on room or on other pods. Pods with equal
// constraints form a group.
type Constraint struct {
	Selector    []Expression
	Terms       []Term // alternatives of required node affinity
	Affine      bool   // required node affinity is set: without a valid term no node matches
	Tolerations []corev1.Toleration
	Ports       []HostPort
	Volumes     [][]Term // by volume place: alternatives, one of which must hold
	shared      []*Claim // claims whose attachment is charged to nodes in advance
	Sharing     int      // length of the part of the group's signature that shared makes
}

// Term is one alternative of required node affinity: all of its expressions must hold.
type Term struct {
	Labels []Expression
	Fields []Expression // on metadata.name
}

// Expression is a condition on a label. Raw is the key in the pod's spec; the requirement has the key that it
// is an alias of.
type Expression struct {
	Raw string
	requirements.Requirement
	// Unread is the text of an expression that kube-scheduler cannot evaluate, e.g. Gt "1.5"; no node meets its
	// requirement. "" for others.
	Unread string
}

// Short returns the form for messages.
func (e *Expression) Short() string {
	if e.Unread != "" {
		return e.Unread
	}
	return e.Requirement.Short()
}

// Matches evaluates the expression on the labels of an existing node: an absent label satisfies NotIn and
// DoesNotExist only.
func (e *Expression) Matches(labels map[string]string) bool {
	if value, ok := labels[e.Raw]; ok {
		return e.Has(value)
	}
	return e.AllowsAbsent()
}

// NewConstraint reads the constraints of a spec. An invalid expression matches no node.
func NewConstraint(spec *corev1.PodSpec) *Constraint {
	c := &Constraint{Tolerations: spec.Tolerations, Ports: HostPorts(spec)}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		c.Selector = append(c.Selector, NewExpression(key, corev1.NodeSelectorOpIn, []string{spec.NodeSelector[key]}))
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		c.Affine = true
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			if len(t.MatchExpressions) == 0 && len(t.MatchFields) == 0 {
				continue // an empty term matches nothing
			}
			c.Terms = append(c.Terms, NewTerm(&t))
		}
	}
	return c
}

// NewTerm reads one alternative of node affinity.
func NewTerm(t *corev1.NodeSelectorTerm) Term {
	return Term{
		Labels: lo.Map(t.MatchExpressions, func(e corev1.NodeSelectorRequirement, _ int) Expression { return NewLabelExpression(e) }),
		Fields: newExpressions(t.MatchFields),
	}
}

func newExpressions(in []corev1.NodeSelectorRequirement) []Expression {
	out := make([]Expression, 0, len(in))
	for i := range in {
		out = append(out, NewExpression(in[i].Key, in[i].Operator, in[i].Values))
	}
	return out
}

// NewExpression returns an expression of node affinity. An invalid one matches no node.
func NewExpression(key string, op corev1.NodeSelectorOperator, values []string) Expression {
	r, err := requirements.New(key, op, values...)
	if err != nil {
		r = Impossible(key)
	}
	return Expression{Raw: key, Requirement: r}
}

// NewLabelExpression reads an expression on a label exactly as kube-scheduler does, including its rules for
// operands of Gt and Lt.
func NewLabelExpression(e corev1.NodeSelectorRequirement) Expression {
	set, err := requirements.FromNodeSelector([]corev1.NodeSelectorRequirement{e})
	if err != nil {
		return Expression{Raw: e.Key, Requirement: Impossible(e.Key), Unread: fmt.Sprintf("%s %s %q", e.Key, e.Operator, strings.Join(e.Values, " "))}
	}
	return Expression{Raw: e.Key, Requirement: set.Get(e.Key)}
}

// Impossible is a requirement that no value and no absence satisfies.
func Impossible(key string) requirements.Requirement {
	return requirements.MustNew(key, requirements.Exists).Intersect(requirements.MustNew(key, requirements.DoesNotExist))
}

// affinityMatches reports whether a node matches node selector and required node affinity.
func (c *Constraint) affinityMatches(name string, labels map[string]string) bool {
	for i := range c.Selector {
		if !c.Selector[i].Matches(labels) {
			return false
		}
	}
	if !c.Affine {
		return true
	}
	for i := range c.Terms {
		if c.Terms[i].MatchesNode(name, labels) {
			return true
		}
	}
	return false
}

// MatchesNode reports whether a node with a name and labels meets the term.
func (t *Term) MatchesNode(name string, labels map[string]string) bool {
	for i := range t.Labels {
		if !t.Labels[i].Matches(labels) {
			return false
		}
	}
	for i := range t.Fields {
		if t.Fields[i].Raw != MetadataName || !t.Fields[i].Has(name) {
			return false
		}
	}
	return true
}

// Text returns a text that is equal for equal terms.
func (t *Term) Text() string {
	var b []byte
	for _, list := range [][]Expression{t.Labels, t.Fields} {
		for i := range list {
			b = AppendText(append(b, ','), list[i].Raw)
			b = AppendText(b, list[i].String())
			b = AppendText(b, list[i].Unread)
		}
		b = append(b, ';')
	}
	return string(b)
}

// MetadataName is the only field that node affinity can select on.
const MetadataName = "metadata.name"

// FieldsAllowNew reports whether a node that does not exist yet can satisfy the term's fields. Its name is not
// known, so a term can exclude names, and cannot require one.
func (t *Term) FieldsAllowNew() bool {
	for i := range t.Fields {
		if t.Fields[i].Raw != MetadataName || !t.Fields[i].AllowsAbsent() {
			return false
		}
	}
	return true
}

// Expressions calls f with every expression on a label of selector and affinity.
func (c *Constraint) Expressions(f func(*Expression)) {
	for i := range c.Selector {
		f(&c.Selector[i])
	}
	for i := range c.Terms {
		for j := range c.Terms[i].Labels {
			f(&c.Terms[i].Labels[j])
		}
	}
}

// AppendSignature appends a signature of the constraints: equal signatures mean equal constraints. It reads the
// spec directly, so that it allocates no memory for a pod of a known class.
func AppendSignature(b []byte, spec *corev1.PodSpec, keys *[]string) []byte {
	if len(spec.NodeSelector) > 0 {
		*keys = (*keys)[:0]
		for k := range spec.NodeSelector {
			*keys = append(*keys, k)
		}
		slices.Sort(*keys)
		for _, k := range *keys {
			b = AppendText(append(b, 's'), k)
			b = AppendText(b, spec.NodeSelector[k])
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
		b = AppendText(append(b, 'o'), t.Key)
		b = AppendText(b, string(t.Operator))
		b = AppendText(b, t.Value)
		b = AppendText(b, string(t.Effect))
	}
	if mayBindPorts(spec) {
		for _, p := range HostPorts(spec) {
			b = append(b, 'p')
			b = strconv.AppendInt(b, int64(p.Port), 10)
			b = AppendText(b, string(p.Protocol))
			b = AppendText(b, p.IP)
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
		b = AppendText(append(b, 'e'), in[i].Key)
		b = AppendText(b, string(in[i].Operator))
		for _, v := range in[i].Values {
			b = AppendText(append(b, 'v'), v)
		}
	}
	return b
}

// AppendText appends a string with its length, so that different sequences of strings stay different.
func AppendText(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 36)
	b = append(b, ':')
	return append(b, s...)
}

// Compacted sorts values in place and removes duplicates.
func Compacted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// HostPort is a port that a pod binds on its node.
type HostPort struct {
	IP       string // "" for every address
	Protocol corev1.Protocol
	Port     int32
}

// HostPorts lists the host ports of containers and sidecars, sorted.
func HostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
	add := func(c *corev1.Container) {
		for i := range c.Ports {
			p := &c.Ports[i]
			port := p.HostPort
			if port == 0 && spec.HostNetwork {
				port = p.ContainerPort // the API server fills it in for host-network pods
			}
			if port <= 0 {
				continue
			}
			h := HostPort{IP: p.HostIP, Protocol: p.Protocol, Port: port}
			if h.Protocol == "" {
				h.Protocol = corev1.ProtocolTCP
			}
			if h.IP == "0.0.0.0" || h.IP == "::" {
				h.IP = ""
			}
			out = append(out, h)
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; IsSidecar(c) {
			add(c)
		}
	}
	slices.SortFunc(out, func(a, b HostPort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.IP, b.IP))
	})
	return slices.Compact(out)
}

// PortsClash reports whether both lists have a port with the same number and protocol, on the same address or
// with one of them on every address.
func PortsClash(a, b []HostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Port == y.Port && x.Protocol == y.Protocol && (x.IP == y.IP || x.IP == "" || y.IP == "") {
				return true
			}
		}
	}
	return false
}
