package schedulingtest

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DaemonSet runs a pod on every node that the pod fits. The options are those of
// its pods.
func DaemonSet(name string, opts ...PodOption) *appsv1.DaemonSet {
	pod := Pod(name, opts...)
	labels := LabelOption{"app", name}.into(pod.Labels)
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pod.Namespace, UID: daemonSetUID(pod.Namespace, name)},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
	ds.Spec.Template.Labels = labels
	ds.Spec.Template.Spec = pod.Spec
	return ds
}

func daemonSetUID(namespace, name string) types.UID {
	return types.UID("daemonset/" + namespace + "/" + name)
}
