package karpenter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func TestPendingPodsBecomeNodeClaims(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("web", 30, "700m", "1Gi")...)
	w.provision()
	require.Len(t, w.plans, 1)
	claims := w.claims()
	require.Len(t, claims, len(w.plans[0].Launches))
	require.NotEmpty(t, claims)
	for _, c := range claims {
		require.Equal(t, "default", c.Labels[karpv1.NodePoolLabelKey])
		require.Equal(t, types.UID("pool-default"), c.OwnerReferences[0].UID)
	}

	// While nodes start, pods keep the nodes that they are nominated to, and nothing more is launched.
	w.launch(true)
	w.provision()
	require.Len(t, w.claims(), len(claims))
	w.launch(false)
	w.provision()
	require.Len(t, w.claims(), len(claims))

	w.bind()
	for _, pod := range w.pods() {
		require.NotEmpty(t, pod.Spec.NodeName)
	}
	w.provision()
	require.Len(t, w.claims(), len(claims))
}

func TestPodWithoutNodeIsToldWhy(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("large", 1, "1000", "1Gi")...)
	w.provision()
	require.Empty(t, w.claims())
	require.Len(t, w.published.events, 1)
	require.Equal(t, corev1.EventTypeWarning, w.published.events[0].Type)
	require.Contains(t, w.published.events[0].Message, "cpu")
}
