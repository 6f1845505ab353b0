package oracle

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// admittedPod is a copy of the pod as the API server would store it: with a namespace,
// a UID and its defaults, such as requests taken from limits.
func admittedPod(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	if out.UID == "" {
		out.UID = types.UID(podKey(out))
	}
	coredefaults.SetObjectDefaults_Pod(out)
	return out
}

// admittedDaemonSet is a copy of the DaemonSet as the API server would store it.
func admittedDaemonSet(set *appsv1.DaemonSet) *appsv1.DaemonSet {
	out := set.DeepCopy()
	out.Namespace = namespaceOf(out.Namespace)
	appsdefaults.SetObjectDefaults_DaemonSet(out)
	return out
}
