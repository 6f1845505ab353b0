package lifecycle_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
)

func TestPods(t *testing.T) {
	owned := func(kind string, controller bool) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: &controller}}}}
	}
	now := metav1.Now()
	for name, tt := range map[string]struct {
		pod                                            *corev1.Pod
		ended, leaving, ofDaemonSet, static, evictable bool
	}{
		"running":        {pod: owned("ReplicaSet", true), evictable: true},
		"without owner":  {pod: &corev1.Pod{}, evictable: true},
		"succeeded":      {pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, ended: true, leaving: true},
		"failed":         {pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, ended: true, leaving: true},
		"being deleted":  {pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, leaving: true, evictable: true},
		"of a DaemonSet": {pod: owned("DaemonSet", true), ofDaemonSet: true},
		"hand-written":   {pod: owned("DaemonSet", false), ofDaemonSet: true},
		"static":         {pod: owned("Node", true), static: true},
		"mirror":         {pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.MirrorPodAnnotationKey: ""}}}, static: true},
	} {
		require.Equal(t, tt.ended, lifecycle.Ended(tt.pod), name)
		require.Equal(t, tt.leaving, lifecycle.Leaving(tt.pod), name)
		require.Equal(t, tt.ofDaemonSet, lifecycle.OfDaemonSet(tt.pod), name)
		require.Equal(t, tt.static, lifecycle.Static(tt.pod), name)
		require.Equal(t, tt.evictable, lifecycle.Evictable(tt.pod), name)
	}
}

func TestReady(t *testing.T) {
	node := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeDiskPressure}}}}
	require.Nil(t, lifecycle.Ready(node))
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse})
	require.Equal(t, corev1.ConditionFalse, lifecycle.Ready(node).Status)
}
