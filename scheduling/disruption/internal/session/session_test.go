package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Pods of a node that is being shut down are pending for another node; its DaemonSet's pods are not.
func TestDividePods(t *testing.T) {
	on := func(name, node, owner string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "x"}, Spec: corev1.PodSpec{NodeName: node}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: owner, Name: "o"}}
		}
		return p
	}
	p := &scheduling.Problem{
		Nodes:   []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}, {ObjectMeta: metav1.ObjectMeta{Name: "stays"}}},
		Running: []*corev1.Pod{on("a", "gone", "ReplicaSet"), on("daemon", "gone", "DaemonSet"), on("b", "stays", "")},
	}
	out, err := DividePods(p, map[string]bool{"gone": true})
	require.NoError(t, err)
	require.Len(t, out.Pods, 1)
	assert.Equal(t, "a", out.Pods[0].Name)
	assert.Empty(t, out.Pods[0].Spec.NodeName)
	assert.Len(t, out.Running, 2)
	assert.NotNil(t, out.Nodes[0].DeletionTimestamp)
	assert.Nil(t, p.Nodes[0].DeletionTimestamp, "the input stays as it is")

	p.Pods = []*corev1.Pod{nil}
	_, err = DividePods(p, nil)
	require.ErrorIs(t, err, scheduling.ErrInvalid)
}

// A closed node has no room for pods, keeps its capacity for limits, and is a copy.
func TestClosed(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	closed := Closed(&scheduling.Problem{}, node)
	assert.True(t, closed.Status.Allocatable.Pods().IsZero())
	assert.Contains(t, closed.Status.Allocatable, corev1.ResourcePods)
	assert.Nil(t, node.Status.Allocatable)
}
