package disruption

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// brands are the running pods of a cluster by namespace and labels, for those who count
// pods by selectors. They are sorted out when somebody first asks.
type brands struct {
	once sync.Once
	list []*brand
	// labelled are those that have a label.
	labelled map[string][]*brand
}

// brand is the pods of a namespace with the same labels, by name.
type brand struct {
	sample *corev1.Pod
	names  []string
}

// of returns the brands of a frame's pods, only those with a label unless it is "".
func (b *brands) of(f *frame, label string) []*brand {
	b.once.Do(func() {
		b.labelled = map[string][]*brand{}
		at := map[string]*brand{}
		for _, list := range [][]*corev1.Pod{f.cluster.Running, f.cluster.Pods} {
			for _, pod := range list {
				if pod.Spec.NodeName == "" || ended(pod) {
					continue
				}
				key := brandKey(pod)
				if at[key] == nil {
					sample := *pod
					sample.DeletionTimestamp = nil
					at[key] = &brand{sample: &sample}
					b.list = append(b.list, at[key])
					for name, value := range pod.Labels {
						b.labelled[name+"="+value] = append(b.labelled[name+"="+value], at[key])
					}
				}
				at[key].names = append(at[key].names, podName(pod))
			}
		}
	})
	if label != "" {
		return b.labelled[label]
	}
	return b.list
}

// brandKey is the namespace and the labels of a pod.
func brandKey(pod *corev1.Pod) string {
	pairs := make([]string, 0, len(pod.Labels)+1)
	for key, value := range pod.Labels {
		pairs = append(pairs, key+"="+value)
	}
	slices.Sort(pairs)
	return namespaceOf(pod.Namespace) + "\x00" + strings.Join(pairs, "\x00")
}
