package landing

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ShareExceeded is the pod of the first move to a node on which more pods of its workload are by then than may share a node,
// and the node; "" for none. The pods are those of the cluster, with the node on which each runs now, "" for none.
func ShareExceeded(w *podspec.Workloads, pods map[*corev1.Pod]string, moves []Move) (pod, node string) {
	leave, on := map[string]*corev1.Pod{}, map[string]map[string]int64{}
	for _, m := range moves {
		leave[m.Pod], on[m.To] = nil, map[string]int64{}
	}
	for pod, at := range pods {
		name := podspec.PodName(pod)
		_, moves := leave[name]
		if pod.DeletionTimestamp != nil && !moves {
			continue
		}
		w.Count(pod)
		if moves {
			leave[name] = pod
		} else if there := on[at]; there != nil {
			there[w.Of(pod)]++
		}
	}
	for _, m := range moves {
		name := w.Of(leave[m.Pod])
		if on[m.To][name]++; name != "" && m.To != "" && on[m.To][name] > w.Most(name) {
			return m.Pod, m.To
		}
	}
	return "", ""
}
