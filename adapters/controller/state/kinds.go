package state

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// key names an object.
type key struct {
	kind string
	name types.NamespacedName
}

func (k key) String() string {
	if k.name.Namespace == "" {
		return k.kind + " " + k.name.Name
	}
	return k.kind + " " + k.name.String()
}

// kind is a kind of object that a [Cluster] reads.
type kind struct {
	name       string
	namespaced bool
	// put adds an object to a change of the session, and reports whether it is of the kind; remove adds a removal. With a
	// nil change put only reports.
	put    func(*scheduling.Delta, metav1.Object) bool
	remove func(*scheduling.Delta, types.NamespacedName)
}

// kinds are all of them. PodDisruptionBudgets and NodeClaims are no part of the session.
func kinds() []kind {
	type delta = scheduling.Delta
	return []kind{
		namespaced("Pod", func(d *delta) (*[]*corev1.Pod, *[]types.NamespacedName) { return &d.Pods, &d.Removed.Pods }),
		global("Node", func(d *delta) (*[]*corev1.Node, *[]string) { return &d.Nodes, &d.Removed.Nodes }),
		global("NodePool", func(d *delta) (*[]*scheduling.NodePool, *[]string) { return &d.NodePools, &d.Removed.NodePools }),
		namespaced("DaemonSet", func(d *delta) (*[]*appsv1.DaemonSet, *[]types.NamespacedName) {
			return &d.DaemonSets, &d.Removed.DaemonSets
		}),
		namespaced("PersistentVolumeClaim", func(d *delta) (*[]*corev1.PersistentVolumeClaim, *[]types.NamespacedName) {
			return &d.Claims, &d.Removed.Claims
		}),
		global("PersistentVolume", func(d *delta) (*[]*corev1.PersistentVolume, *[]string) { return &d.Volumes, &d.Removed.Volumes }),
		global("StorageClass", func(d *delta) (*[]*storagev1.StorageClass, *[]string) {
			return &d.StorageClasses, &d.Removed.StorageClasses
		}),
		global("CSINode", func(d *delta) (*[]*storagev1.CSINode, *[]string) { return &d.CSINodes, &d.Removed.CSINodes }),
		global("Namespace", func(d *delta) (*[]*corev1.Namespace, *[]string) { return &d.Namespaces, &d.Removed.Namespaces }),
		namespaced("Service", func(d *delta) (*[]*corev1.Service, *[]types.NamespacedName) { return &d.Services, &d.Removed.Services }),
		namespaced("ReplicationController", func(d *delta) (*[]*corev1.ReplicationController, *[]types.NamespacedName) {
			return &d.Owners.ReplicationControllers, &d.Removed.ReplicationControllers
		}),
		namespaced("ReplicaSet", func(d *delta) (*[]*appsv1.ReplicaSet, *[]types.NamespacedName) {
			return &d.Owners.ReplicaSets, &d.Removed.ReplicaSets
		}),
		namespaced("StatefulSet", func(d *delta) (*[]*appsv1.StatefulSet, *[]types.NamespacedName) {
			return &d.Owners.StatefulSets, &d.Removed.StatefulSets
		}),
		namespaced("PodDisruptionBudget", func(*delta) (*[]*policyv1.PodDisruptionBudget, *[]types.NamespacedName) {
			return new([]*policyv1.PodDisruptionBudget), new([]types.NamespacedName)
		}),
		global("NodeClaim", func(*delta) (*[]*manifest.NodeClaim, *[]string) { return new([]*manifest.NodeClaim), new([]string) }),
	}
}

// namespaced is a kind whose objects have a namespace, with the lists of a change for its objects and their removal.
func namespaced[T metav1.Object](name string, lists func(*scheduling.Delta) (*[]T, *[]types.NamespacedName)) kind {
	return listed(name, true, lists, func(n types.NamespacedName) types.NamespacedName { return n })
}

// global is a kind whose objects have no namespace.
func global[T metav1.Object](name string, lists func(*scheduling.Delta) (*[]T, *[]string)) kind {
	return listed(name, false, lists, func(n types.NamespacedName) string { return n.Name })
}

func listed[T metav1.Object, N any](name string, hasNamespace bool, lists func(*scheduling.Delta) (*[]T, *[]N), nameOf func(types.NamespacedName) N) kind {
	return kind{
		name: name, namespaced: hasNamespace,
		put: func(d *scheduling.Delta, o metav1.Object) bool {
			x, ok := o.(T)
			if ok && d != nil {
				objects, _ := lists(d)
				*objects = append(*objects, x)
			}
			return ok
		},
		remove: func(d *scheduling.Delta, n types.NamespacedName) {
			_, removed := lists(d)
			*removed = append(*removed, nameOf(n))
		},
	}
}
