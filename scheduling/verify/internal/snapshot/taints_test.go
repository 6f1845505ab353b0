package snapshot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// T2, T3.
func TestTolerates(t *testing.T) {
	taint := func(value string) corev1.Taint {
		return corev1.Taint{Key: "k", Value: value, Effect: corev1.TaintEffectNoSchedule}
	}
	for _, tc := range []struct {
		name       string
		toleration corev1.Toleration
		taint      corev1.Taint
		want       bool
	}{
		{"equal", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpEqual, Value: "v"}, taint("v"), true},
		{"equal by default", corev1.Toleration{Key: "k", Value: "v"}, taint("v"), true},
		{"another value", corev1.Toleration{Key: "k", Value: "w"}, taint("v"), false},
		{"another key", corev1.Toleration{Key: "l", Operator: corev1.TolerationOpExists}, taint("v"), false},
		{"exists", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists}, taint("v"), true},
		{"exists for every key", corev1.Toleration{Operator: corev1.TolerationOpExists}, taint("v"), true},
		{"the effect", corev1.Toleration{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}, taint("v"), true},
		{"another effect", corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, taint("v"), false},
		{"seconds do not matter", corev1.Toleration{Key: "k", Value: "v", TolerationSeconds: new(int64)}, taint("v"), true},
		{"below", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpLt, Value: "10"}, taint("9"), true},
		{"not below", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpLt, Value: "10"}, taint("10"), false},
		{"above", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "-10"}, taint("-9"), true},
		{"not above", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "10"}, taint("10"), false},
		{"leading zero in the taint", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpLt, Value: "10"}, taint("09"), false},
		{"plus in the toleration", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpLt, Value: "+10"}, taint("9"), false},
		{"no number", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "1"}, taint("x"), false},
		{"too large a number", corev1.Toleration{Key: "k", Operator: corev1.TolerationOpGt, Value: "1"}, taint("9223372036854775808"), false},
		{"below for another key", corev1.Toleration{Key: "l", Operator: corev1.TolerationOpLt, Value: "10"}, taint("9"), false},
		{"unknown operator", corev1.Toleration{Key: "k", Operator: "Like", Value: "v"}, taint("v"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, Tolerated(tc.taint, []corev1.Toleration{tc.toleration}))
		})
	}
}

func TestOnlyHardTaintsKeepPodsOff(t *testing.T) {
	taints := []corev1.Taint{
		{Key: "a", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "b", Effect: corev1.TaintEffectNoSchedule}, {Key: "c", Effect: corev1.TaintEffectNoExecute},
	}
	assert.Equal(t, "b:NoSchedule, c:NoExecute", TaintText(untolerated(taints, nil)))
	assert.Equal(t, "c:NoExecute", TaintText(untolerated(taints, []corev1.Toleration{{Key: "b", Operator: corev1.TolerationOpExists}})))
	assert.Empty(t, untolerated(taints, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}))
}

// T5–T10, T13.
func TestNodeTaints(t *testing.T) {
	pool := &scheduling.NodePool{}
	pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "pool", Effect: corev1.TaintEffectNoSchedule}}
	pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "start", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	all := []corev1.Taint{
		{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.kubernetes.io/not-ready", Value: "any", Effect: corev1.TaintEffectNoExecute},
		{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoSchedule},
		{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute},
		{Key: "node.cloudprovider.kubernetes.io/uninitialized", Effect: corev1.TaintEffectNoSchedule},
		{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		{Key: "readiness.k8s.io/net", Effect: corev1.TaintEffectNoExecute},
		{Key: "x/readiness.k8s.io/net", Effect: corev1.TaintEffectNoExecute},
		{Key: "start", Effect: corev1.TaintEffectNoSchedule},
		{Key: "start", Effect: corev1.TaintEffectNoExecute},
		{Key: "pool", Effect: corev1.TaintEffectNoSchedule},
		{Key: "other", Effect: corev1.TaintEffectNoSchedule},
	}
	lasting := "node.kubernetes.io/unreachable:NoExecute, x/readiness.k8s.io/net:NoExecute"
	managed, registered, initialized := scheduling.NodePoolLabel, scheduling.RegisteredLabel, scheduling.InitializedLabel
	for _, tc := range []struct {
		name   string
		labels map[string]string
		taints []corev1.Taint
		pool   *scheduling.NodePool
		cordon bool
		want   string
	}{
		{"T13: nobody's node keeps all", nil, all, nil, false, TaintText(all)},
		{"T9: an initialised node keeps all", map[string]string{managed: "p", initialized: "true"}, all, pool, false, TaintText(all)},
		{"T8: a registered node loses those that pass", map[string]string{managed: "p", registered: "true"}, all, pool, false,
			lasting + ", start:NoExecute, pool:NoSchedule, other:NoSchedule"},
		{"T8: start-up taints are those of a known pool", map[string]string{managed: "p", registered: "true"}, all, nil, false,
			lasting + ", start:NoSchedule, start:NoExecute, pool:NoSchedule, other:NoSchedule"},
		{"T10: before it registers, its pool's taints count", map[string]string{managed: "p"}, nil, pool, false, "pool:NoSchedule"},
		{"T11: and so do its own", map[string]string{managed: "p"}, all[11:], pool, false, "other:NoSchedule, pool:NoSchedule"},
		{"cordoned", map[string]string{managed: "p", registered: "true"}, nil, pool, true, "node.kubernetes.io/unschedulable:NoSchedule"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}, Spec: corev1.NodeSpec{Taints: tc.taints, Unschedulable: tc.cordon}}
			before := node.DeepCopy()
			assert.Equal(t, tc.want, TaintText(nodeTaints(node, tc.pool)))
			assert.Equal(t, before, node)
		})
	}
}

func TestLeaving(t *testing.T) {
	assert.False(t, Leaving(&corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}}))
	assert.True(t, Leaving(&corev1.Node{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}))
	for _, key := range []string{scheduling.DisruptedTaint, autoscalerTaint} {
		assert.True(t, Leaving(&corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: key}}}}), key)
	}
}
