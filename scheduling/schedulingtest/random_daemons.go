package schedulingtest

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// daemonSets draws daemons that take little and run on some nodes only.
func (w *world) daemonSets() []*appsv1.DaemonSet {
	var sets []*appsv1.DaemonSet
	for i := range w.few(w.size.DaemonSets) {
		opts := []PodOption{Requests(MilliCPU(int64(w.between(0, 10)*20)), MiB(int64(w.between(1, 6)*32)))}
		switch w.IntN(8) {
		case 0:
			opts = append(opts, Where(w.expr()))
		case 1:
			opts = append(opts, Where(w.expr()), Where(w.expr()))
		case 2:
			opts = append(opts, Select(corev1.LabelTopologyZone, pick(w.dice, w.zones...)))
		case 3:
			opts = append(opts, Select(offerings.CapacityTypeLabel, "spot"))
		case 4:
			opts = append(opts, Where(Gt(cpuKey, 3)))
		case 5:
			opts = append(opts, Where(w.customExpr()))
		}
		if w.oneIn(2) {
			opts = append(opts, TolerateAll())
		}
		if w.ports && w.oneIn(3) {
			opts = append(opts, w.hostPort())
		}
		sets = append(sets, DaemonSet(fmt.Sprintf("daemon-%d", i), opts...))
	}
	return sets
}
