package schedulingtest

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// specWords are the words about a pod.
func specWords(namespace string, labels map[string]string, spec *corev1.PodSpec) []string {
	var words []string
	group := func(name string, list corev1.ResourceList) {
		if len(list) > 0 {
			words = append(words, name+"=("+strings.Join(amountWords(list), " ")+")")
		}
	}
	for i, c := range spec.Containers {
		if i == 0 {
			words = append(words, amountWords(c.Resources.Requests)...)
			group("limits", c.Resources.Limits)
		} else {
			group("container", c.Resources.Requests)
		}
		for _, port := range c.Ports {
			words = append(words, portWord(port))
		}
	}
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			group("sidecar", c.Resources.Requests)
		} else {
			group("init", c.Resources.Requests)
		}
	}
	group("overhead", spec.Overhead)
	if spec.Resources != nil {
		group("pod-level", spec.Resources.Requests)
	}
	if len(spec.NodeSelector) > 0 {
		words = append(words, pairs("select", spec.NodeSelector))
	}
	words = append(words, affinityWords(spec.Affinity)...)
	words = append(words, tieWords(labels, spec)...)
	words = append(words, podVolumeWords(spec)...)
	for _, t := range spec.Tolerations {
		words = append(words, tolerationWord(t))
	}
	if spec.Priority != nil {
		words = append(words, fmt.Sprintf("priority=%d", *spec.Priority))
	}
	if namespace != "" && namespace != corev1.NamespaceDefault {
		words = append(words, "ns="+namespace)
	}
	if len(labels) > 0 {
		words = append(words, pairs("label", labels))
	}
	return words
}

func affinityWords(a *corev1.Affinity) []string {
	var words []string
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		for _, t := range r.NodeSelectorTerms {
			words = append(words, "where=("+exprWords(t.MatchExpressions)+")")
		}
	}
	for _, t := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		text := exprWords(t.Preference.MatchExpressions)
		if t.Weight != 1 {
			text += fmt.Sprintf(", weight %d", t.Weight)
		}
		words = append(words, "prefer=("+text+")")
	}
	return words
}

func exprWords(exprs []corev1.NodeSelectorRequirement) string {
	var parts []string
	for _, e := range exprs {
		parts = append(parts, exprWord(requirements.Selector{Key: e.Key, Operator: e.Operator, Values: e.Values}))
	}
	return strings.Join(parts, ", ")
}

// exprWord is the inverse of parseExpr.
func exprWord(s requirements.Selector) string {
	operators := map[requirements.Operator]string{
		requirements.In: "in", requirements.NotIn: "not in", requirements.Exists: "exists", requirements.DoesNotExist: "absent",
		requirements.Gt: ">", requirements.Lt: "<", requirements.Gte: ">=", requirements.Lte: "<=",
	}
	text := strings.Join(append([]string{s.Key, operators[s.Operator]}, s.Values...), " ")
	if s.MinValues != nil {
		text += fmt.Sprintf(" min %d", *s.MinValues)
	}
	return text
}

func portWord(p corev1.ContainerPort) string {
	text := fmt.Sprintf("%d/%s", p.HostPort, p.Protocol)
	if p.HostIP != "" {
		text = p.HostIP + ":" + text
	}
	return "port=" + text
}

// tolerationWord is the inverse of parseToleration.
func tolerationWord(t corev1.Toleration) string {
	text := t.Key
	switch t.Operator {
	case corev1.TolerationOpGt:
		text += ">" + t.Value
	case corev1.TolerationOpLt:
		text += "<" + t.Value
	case corev1.TolerationOpExists:
		if t.Key == "" {
			text = "*"
		}
	default:
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	return "tolerate=" + text
}

func taintWord(name string, t corev1.Taint) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	return name + "=" + text + ":" + string(t.Effect)
}

func poolWords(p *scheduling.NodePool) []string {
	words := []string{"pool", p.Name}
	if p.Spec.Weight != nil {
		words = append(words, fmt.Sprintf("weight=%d", *p.Spec.Weight))
	}
	if p.Spec.Replicas != nil {
		words = append(words, fmt.Sprintf("replicas=%d", *p.Spec.Replicas))
	}
	if len(p.Spec.Limits) > 0 {
		words = append(words, "limits=("+strings.Join(amountWords(p.Spec.Limits), " ")+")")
	}
	t := p.Spec.Template
	for _, r := range t.Spec.Requirements {
		words = append(words, "where=("+exprWord(r)+")")
	}
	for _, taint := range t.Spec.Taints {
		words = append(words, taintWord("taint", taint))
	}
	for _, taint := range t.Spec.StartupTaints {
		words = append(words, taintWord("startup", taint))
	}
	if len(t.Metadata.Labels) > 0 {
		words = append(words, pairs("label", t.Metadata.Labels))
	}
	return words
}

// nodeWords writes a node with all of its labels, so that it needs no type.
func nodeWords(n *corev1.Node) []string {
	words := append([]string{n.Name}, amountWords(n.Status.Allocatable)...)
	labels := maps.Clone(n.Labels)
	if host, ok := labels[corev1.LabelHostname]; !ok {
		words = append(words, "without=host")
	} else if host == n.Name {
		delete(labels, corev1.LabelHostname)
	}
	words = append(words, pairs("label", labels))
	for _, t := range n.Spec.Taints {
		if n.Spec.Unschedulable && t.Key == corev1.TaintNodeUnschedulable {
			words = append(words, "cordoned")
			continue
		}
		words = append(words, taintWord("taint", t))
	}
	if len(n.Status.Allocatable) == 0 {
		words = append(words, "in-flight")
	}
	if n.DeletionTimestamp != nil {
		words = append(words, "deleting")
	}
	return words
}
