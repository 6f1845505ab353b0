package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Pods that share a claim go where the one volume is that it gets, however many others are
// free: to the node that has room for the most of them.
func TestPodsThatShareABuiltInDisk(t *testing.T) {
	everywhere := func(p *scheduling.Problem) { p.Volumes = append(p.Volumes[:0:0], freeDisk("net")) }
	for _, tt := range []struct {
		name   string
		change func(*scheduling.Problem)
		cpu    int64
		pods   int
		placed int
		nodes  []string // one of them has all that are placed; empty for any number
	}{
		{"they are together", nil, 1, 4, 4, []string{"n1", "n2"}},
		{"as many as have room", nil, 3, 4, 2, []string{"n1", "n2"}},
		{"only the second node has room for all", func(p *scheduling.Problem) {
			p.Running = append(p.Running, st.Pod("old", st.OnNode("n1"), st.Requests(st.Cores(7))))
		}, 2, 4, 4, []string{"n2"}},
		{"a disk that is bound is not free", func(p *scheduling.Problem) {
			p.Volumes[0].Status.Phase = corev1.VolumeBound
		}, 1, 3, 3, []string{"n2"}},
		{"a volume that every node reaches", everywhere, 3, 4, 4, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := builtIn()
			p.Claims = append(p.Claims, st.Claim("shared", st.OfClass("local")))
			for i := range tt.pods {
				p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("web-%d", i), st.Requests(st.Cores(tt.cpu), st.GiB(1)), st.UseClaim("shared")))
			}
			if tt.change != nil {
				tt.change(&p)
			}
			plan := planned(t, p)
			assert.Equal(t, tt.placed, plan.Summary.Placed)
			if len(tt.nodes) > 0 {
				assert.Empty(t, plan.Launches)
				require.Len(t, plan.Existing, 1)
				assert.Contains(t, tt.nodes, plan.Existing[0].Node)
			}
		})
	}
}

// A disk that one claim gets is not there for another.
func TestSharedAndOwnDisks(t *testing.T) {
	p := builtIn()
	p.Claims = append(p.Claims, st.Claim("shared", st.OfClass("local")))
	for i := range 3 {
		p.Pods = append(p.Pods, small(fmt.Sprintf("web-%d", i), st.UseClaim("shared")))
	}
	for i := range 3 {
		addLocal(&p, fmt.Sprintf("db-%d", i))
	}
	plan := planned(t, p)
	left := 0
	for i := range plan.Unschedulable {
		assert.Contains(t, plan.Unschedulable[i].Pod, "db-")
		left++
	}
	assert.Equal(t, 1, left)
}
