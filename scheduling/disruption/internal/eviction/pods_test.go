package eviction

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// pod runs on a node, and is ready.
func pod(name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"}, Spec: corev1.PodSpec{NodeName: node}}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, c := range change {
		c(p)
	}
	return p
}

func leaving(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func owned(apiVersion, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "o"}}
	}
}

// S10: what has to live on when its node goes.
func TestReschedulable(t *testing.T) {
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"S10 of nobody":                       {pod("p", "n"), true},
		"S10 of a ReplicaSet":                 {pod("p", "n", owned("apps/v1", "ReplicaSet")), true},
		"S10 of a DaemonSet":                  {pod("p", "n", owned("apps/v1", "DaemonSet")), false},
		"S10 of another kind of DaemonSet":    {pod("p", "n", owned("apps.kruise.io/v1alpha1", "DaemonSet")), true},
		"S10 a mirror pod":                    {pod("p", "n", owned("v1", "Node")), false},
		"S10 a mirror pod by its note":        {pod("p", "n", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }), false},
		"S10 being deleted":                   {pod("p", "n", leaving), false},
		"S10 being deleted, of a Deployment":  {pod("p", "n", leaving, owned("apps/v1", "ReplicaSet")), false},
		"S10 being deleted, of a StatefulSet": {pod("p", "n", leaving, owned("apps/v1", "StatefulSet")), true},
		"S10 ended, of a StatefulSet":         {pod("p", "n", owned("apps/v1", "StatefulSet"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false},
	} {
		assert.Equal(t, tc.want, Reschedulable(tc.pod), name)
	}
}

// S11: tolerations of the taint by which nodes are disrupted.
func TestToleratesDisruption(t *testing.T) {
	for name, tc := range map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"S11 the key":            {corev1.Toleration{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists}, true},
		"S11 everything":         {corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		"S11 its empty value":    {corev1.Toleration{Key: scheduling.DisruptedTaint}, true},
		"S11 another value":      {corev1.Toleration{Key: scheduling.DisruptedTaint, Value: "x"}, false},
		"S11 another key":        {corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists}, false},
		"S11 its effect":         {corev1.Toleration{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, true},
		"S11 another effect":     {corev1.Toleration{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, false},
		"S11 nothing of nothing": {corev1.Toleration{}, false},
	} {
		assert.Equal(t, tc.want, toleratesDisruption(&corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{tc.toleration}}}), name)
	}
}
