package provisioning_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A node whose pods request more than an int64 holds has no room.
func TestNoRoomBesideEndlessRequests(t *testing.T) {
	p := scheduling.Problem{
		Pods:    st.Pods(1, "p", st.Requests(st.GiB(1))),
		Nodes:   []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(4), st.GiB(8)))},
		Running: st.Pods(3, "r", st.Requests(st.MiB(1<<42)), st.OnNode("n")),
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Len(t, plan.Unschedulable, 1)
}
