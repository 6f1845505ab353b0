package search_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// beside is required affinity per host to pods of the workloads lead and follow.
var beside = st.Near(corev1.LabelHostname, st.OfAll(st.In("app", "lead", "follow")))

// TestTheFirstBeginsWhatOthersFollow: of pods with affinity to each other, the first by name is the first on its host, because
// kube-scheduler lets a pod without a match anywhere bind only if its affinity selects the pod itself, and only once.
func TestTheFirstBeginsWhatOthersFollow(t *testing.T) {
	// Pods of lead bind after a pod of follow is in their zone.
	leads := st.Pods(5, "lead", st.Label("app", "lead"), st.Requests(st.MilliCPU(250)), st.Near(corev1.LabelTopologyZone, st.OfAll(st.In("app", "follow"))))
	follow := st.Pods(7, "follow", st.Label("app", "follow"), st.Requests(st.MilliCPU(1900)), beside)
	p := scheduling.Problem{
		Pods: append(leads, follow...), NodePools: []*scheduling.NodePool{st.NodePool("a", st.MaxNodes(3)), st.NodePool("b", st.MaxNodes(3))},
		Catalog: st.MustCatalog(st.Type("type", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", 100))),
	}
	plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
	require.NoError(t, err)
	assert.Empty(t, plan.Unschedulable)
}

// TestOthersDoNotBeginBefore: the first pod of a host is not preceded in the queue by another pod that could be the first, too.
func TestOthersDoNotBeginBefore(t *testing.T) {
	for _, tt := range []struct{ first, second string }{{"a", "z"}, {"z", "a"}} {
		t.Run(tt.first, func(t *testing.T) {
			leads := st.Pods(2, "lead", st.Label("app", "lead"), st.Requests(st.MilliCPU(250)), st.Near(corev1.LabelTopologyZone, st.OfAll(st.In("app", "follow"))))
			large := st.Pods(2, tt.first, st.Label("app", "follow"), st.Requests(st.MilliCPU(1900)), beside)
			small := st.Pods(2, tt.second, st.Label("app", "follow"), st.Requests(st.MilliCPU(1800)), beside)
			p := scheduling.Problem{
				Pods: slices.Concat(leads, large, small), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
				Catalog: st.MustCatalog(st.Type("type", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", 100))),
			}
			plan, err := st.Audit(t.Context(), scheduling.Policy{}, p)
			require.NoError(t, err)
			assert.Empty(t, plan.Unschedulable)
		})
	}
}
