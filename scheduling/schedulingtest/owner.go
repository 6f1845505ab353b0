package schedulingtest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnedBy makes the pod one of a ReplicaSet, a StatefulSet, a ReplicationController or another kind of controller.
func OwnedBy(kind, name string) PodOption {
	return on(func(p *corev1.Pod) {
		controller := true
		version := "apps/v1"
		if kind == "ReplicationController" {
			version = "v1"
		}
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{
			APIVersion: version, Kind: kind, Name: name, UID: types.UID(kind + "/" + name), Controller: &controller,
		})
	})
}

// NamespaceObject is a namespace with labels and with the one that the API server
// puts on every namespace, its name.
func NamespaceObject(name string, labels map[string]string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("namespace/" + name)}}
	n.Labels = map[string]string{corev1.LabelMetadataName: name}
	for key, value := range labels {
		n.Labels[key] = value
	}
	return n
}

// Service selects pods by their labels; nil selects none.
func Service(namespace, name string, selector map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("service/" + namespace + "/" + name)},
		Spec:       corev1.ServiceSpec{Selector: selector},
	}
}

// replicaSet owns pods by the selector.
func replicaSet(namespace, name string, selector *metav1.LabelSelector) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("ReplicaSet/" + name)},
		Spec:       appsv1.ReplicaSetSpec{Selector: selector},
	}
}

// statefulSet owns pods by the selector.
func statefulSet(namespace, name string, selector *metav1.LabelSelector) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("StatefulSet/" + name)},
		Spec:       appsv1.StatefulSetSpec{Selector: selector},
	}
}

// replicationController owns pods by the labels.
func replicationController(namespace, name string, selector map[string]string) *corev1.ReplicationController {
	return &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("ReplicationController/" + name)},
		Spec:       corev1.ReplicationControllerSpec{Selector: selector},
	}
}
