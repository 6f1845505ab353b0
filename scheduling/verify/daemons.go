package verify

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// daemon is a DaemonSet, seen as the pod that it runs on each node.
type daemon struct {
	namespace, name string
	requests        amounts
	ports           []port
	tolerations     []corev1.Toleration
	wants           selector
}

// readDaemons reads the DaemonSets in order of name. What one needs is what its
// newest living pod asks for, since admission may have changed that; without any,
// what its template asks for.
func (w *world) readDaemons() {
	for _, ds := range w.problem.DaemonSets {
		if ds == nil {
			continue
		}
		template := &ds.Spec.Template.Spec
		d := &daemon{
			namespace: cmp.Or(ds.Namespace, metav1.NamespaceDefault),
			name:      ds.Name,
			wants:     selectorOf(template),
		}
		d.tolerations = daemonTolerations(template)
		spec := template
		var newest *corev1.Pod
		for _, pod := range w.problem.Running {
			if pod == nil || !d.owns(pod) || finished(pod) {
				continue
			}
			if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) ||
				newest.CreationTimestamp.Equal(&pod.CreationTimestamp) && pod.Name > newest.Name {
				newest, spec = pod, &pod.Spec
			}
		}
		d.requests, d.ports = pendingRequests(spec), hostPorts(spec)
		w.daemons = append(w.daemons, d)
	}
	slices.SortFunc(w.daemons, func(a, b *daemon) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// owns reports whether the pod is one of the DaemonSet's.
func (d *daemon) owns(pod *corev1.Pod) bool {
	return owner(pod, "DaemonSet") == d.name && cmp.Or(pod.Namespace, metav1.NamespaceDefault) == d.namespace
}

// daemonTolerations are the template's tolerations and those that the DaemonSet
// controller adds to every pod it makes.
func daemonTolerations(template *corev1.PodSpec) []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	all := append(slices.Clone(template.Tolerations),
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	)
	if template.HostNetwork {
		all = append(all, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return all
}

// runsOn reports whether the daemon runs at the place.
func (d *daemon) runsOn(p *place) bool {
	return len(untolerated(p.taints, d.tolerations)) == 0 && p.admits(d.wants)
}

// daemonsAt returns the daemons that run at the place, with the sum of their
// requests and their ports.
func (w *world) daemonsAt(p *place) (requests amounts, ports []port) {
	requests = amounts{}
	for _, d := range w.daemons {
		if d.runsOn(p) {
			requests.add(d.requests)
			ports = append(ports, d.ports...)
		}
	}
	return requests, ports
}
