package prove_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// TestBoundBesideNodes: the free capacity of existing nodes lowers the bound: exactly where the nodes are of few kinds, and by an
// estimate that is not too small where they are of many.
func TestBoundBesideNodes(t *testing.T) {
	catalog := st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", 4000)))
	for _, tt := range []struct {
		name  string
		nodes int
		free  func(i int) int64 // millicores
		least offerings.Price   // of the bound
	}{
		{"none", 0, nil, 300_000},
		{"too small for any pod", 50, func(int) int64 { return 400 }, 300_000},
		{"equal ones", 50, func(int) int64 { return 1000 }, 250_000},
		{"of two kinds", 50, func(i int) int64 { return 500 * int64(1+i%2) }, 262_500},
		{"each another one", 300, func(i int) int64 { return 500 + int64(i) }, 130_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := scheduling.Problem{
				Pods:      st.Pods(600, "p", st.Requests(st.MilliCPU(500), st.MiB(100))),
				NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: catalog,
			}
			for i := range tt.nodes {
				p.Nodes = append(p.Nodes, st.Node(fmt.Sprintf("n-%03d", i), st.Allocatable(st.MilliCPU(tt.free(i)), st.GiB(8), st.Count(corev1.ResourcePods, 100))))
			}
			for _, effort := range []scheduling.Effort{scheduling.EffortFast} {
				plan, err := st.Audit(t.Context(), scheduling.Policy{Effort: effort}, p)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, plan.Summary.LowerBoundPerHour, tt.least*98/100)
				assert.LessOrEqual(t, plan.Summary.LowerBoundPerHour, plan.Summary.PricePerHour)
			}
		})
	}
}
