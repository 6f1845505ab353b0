package schedulingtest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// parseTaint reads KEY[=VALUE]:EFFECT, the form that kubectl taint reads.
func parseTaint(text string) (corev1.Taint, error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return corev1.Taint{}, fmt.Errorf("taint %q: want KEY[=VALUE]:EFFECT", text)
	}
	key, value, _ := strings.Cut(text[:i], "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(text[i+1:])}, nil
}

// parseToleration reads KEY[=VALUE][:EFFECT], KEY>VALUE[:EFFECT],
// KEY<VALUE[:EFFECT], or *[:EFFECT] for every key. A key without a value tolerates
// all values.
func parseToleration(text string) corev1.Toleration {
	t := corev1.Toleration{Operator: corev1.TolerationOpExists}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		text, t.Effect = text[:i], corev1.TaintEffect(text[i+1:])
	}
	t.Key = strings.TrimPrefix(text, "*")
	for sep, op := range map[string]corev1.TolerationOperator{
		"=": corev1.TolerationOpEqual, ">": corev1.TolerationOpGt, "<": corev1.TolerationOpLt,
	} {
		if key, value, ok := strings.Cut(text, sep); ok {
			t.Key, t.Operator, t.Value = key, op, value
		}
	}
	return t
}
