package mix

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Diverse is the main problem of the benchmark: [schedulingtest.Diverse] with n pods, one
// pool without requirements, and the market of 400 types.
func Diverse(n int, seed uint64) (scheduling.Problem, error) {
	return problem(schedulingtest.Diverse(n, seed))
}

// Wishful is n pods of one size. With wishes, each prefers the first zone, to be the only
// one in its zone, and to be the only one on its host. The first preference can be met for
// all, the second cannot, and the third costs a machine for every pod. Without wishes the
// pods have no preferences.
func Wishful(n int, wishes bool) (scheduling.Problem, error) {
	opts := []schedulingtest.PodOption{
		schedulingtest.Label("app", "nginx"),
		schedulingtest.Requests(schedulingtest.MilliCPU(500), schedulingtest.MiB(512)),
	}
	if wishes {
		opts = append(opts,
			schedulingtest.Prefer(1, schedulingtest.In(corev1.LabelTopologyZone, Zone1)),
			schedulingtest.Apart(corev1.LabelTopologyZone, schedulingtest.Weight(10)),
			schedulingtest.Apart(corev1.LabelHostname, schedulingtest.Weight(1)),
		)
	}
	return problem(schedulingtest.Pods(n, "pod", opts...))
}

func problem(pods []*corev1.Pod) (scheduling.Problem, error) {
	catalog, err := Market(400)
	return scheduling.Problem{
		Pods:      pods,
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog:   catalog,
	}, err
}
