package nodegroups

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Utilization is the share of a node's allocatable that its pods request: the larger one of CPU and memory or, on a node with
// GPUs, that of these. Pods that have ended do not count. With withoutDaemons DaemonSets' pods count neither as requests nor
// as allocatable (--ignore-daemonsets-utilization). A node without an allocatable has 0. It is Cluster Autoscaler's formula.
func Utilization(node *corev1.Node, pods []*corev1.Pod, withoutDaemons bool) float64 {
	if node == nil {
		return 0
	}
	allocatable := template.Allocatable(node)
	columns := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	for name, q := range allocatable {
		if strings.HasSuffix(string(name), "/gpu") && q.Sign() > 0 {
			columns = []corev1.ResourceName{name}
		}
	}
	requests := provisioning.PodRequests(pods)
	largest := 0.0
	for _, name := range columns {
		q := allocatable[name]
		room, sum := q.AsApproximateFloat64(), 0.0
		for i, pod := range pods {
			r := requests[i][name]
			switch {
			case pod == nil || lifecycle.Ended(pod):
			case withoutDaemons && lifecycle.OfDaemonSet(pod):
				room -= r.AsApproximateFloat64()
			default:
				sum += r.AsApproximateFloat64()
			}
		}
		if room > 0 {
			largest = max(largest, sum/room)
		}
	}
	return largest
}
