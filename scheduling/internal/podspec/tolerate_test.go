package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestTolerates(t *testing.T) {
	taint := corev1.Taint{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}
	number := corev1.Taint{Key: "tier", Value: "5", Effect: corev1.TaintEffectNoSchedule}
	for _, tt := range []struct {
		name       string
		toleration corev1.Toleration
		taint      corev1.Taint
		want       bool
	}{
		{"T2: empty key with Exists matches all", corev1.Toleration{Operator: corev1.TolerationOpExists}, taint, true},
		{"T2: empty key with Equal matches nothing", corev1.Toleration{Value: "gpu"}, taint, false},
		{"T2: empty effect matches every effect", corev1.Toleration{Key: "dedicated", Value: "gpu"}, taint, true},
		{"T2: another effect does not match", corev1.Toleration{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoExecute}, taint, false},
		{"T2: Equal compares values", corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "cpu"}, taint, false},
		{"T2: Exists ignores the value", corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists, Value: "cpu"}, taint, true},
		{"T2: another key does not match", corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}, taint, false},
		{"T3: Lt above the taint's value", corev1.Toleration{Key: "tier", Operator: "Lt", Value: "6"}, number, true},
		{"T3: Lt at the taint's value", corev1.Toleration{Key: "tier", Operator: "Lt", Value: "5"}, number, false},
		{"T3: Gt below the taint's value", corev1.Toleration{Key: "tier", Operator: "Gt", Value: "-1"}, number, true},
		{"T3: numbers in another form do not tolerate", corev1.Toleration{Key: "tier", Operator: "Lt", Value: "06"}, number, false},
		{"T3: words do not tolerate", corev1.Toleration{Key: "dedicated", Operator: "Gt", Value: "1"}, taint, false},
		{"T3: the effect still counts", corev1.Toleration{Key: "tier", Operator: "Lt", Value: "6", Effect: corev1.TaintEffectNoExecute}, number, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Tolerates([]corev1.Toleration{tt.toleration}, &tt.taint))
		})
	}
}

// T1: hard and soft taints are told apart; every one must be tolerated by itself.
func TestUntolerated(t *testing.T) {
	taints := []corev1.Taint{
		{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule},
		{Key: "hard", Effect: corev1.TaintEffectNoExecute},
	}
	hard, soft := new(Constraint).Untolerated(taints)
	assert.Equal(t, "hard", hard.Key)
	assert.True(t, soft)
	tolerant := Constraint{Tolerations: []corev1.Toleration{{Key: "hard", Operator: corev1.TolerationOpExists}}}
	hard, soft = tolerant.Untolerated(taints)
	assert.Nil(t, hard)
	assert.True(t, soft)
}

func TestEphemeralTaints(t *testing.T) {
	for _, tt := range []struct {
		name  string
		taint corev1.Taint
		want  bool
	}{
		{"T5: not ready", corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}, true},
		{"T5: unreachable without execution", corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}, true},
		{"T5: unreachable with execution", corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}, false},
		{"T5: uninitialized, value ignored", corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}, true},
		{"T5: unregistered", corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}, true},
		{"T6: readiness gates by prefix", corev1.Taint{Key: "readiness.k8s.io/gate", Effect: corev1.TaintEffectPreferNoSchedule}, true},
		{"T6: the prefix in the middle does not count", corev1.Taint{Key: "x/readiness.k8s.io/gate", Effect: corev1.TaintEffectNoSchedule}, false},
		{"T11: any other", corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}, false},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Ephemeral(&tt.taint)) })
	}
}
