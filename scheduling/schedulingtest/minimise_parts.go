package schedulingtest

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

type daemonSet = appsv1.DaemonSet

// podChanges each drop one thing that a pod asks for; they report whether there
// was one.
func podChanges() []func(*corev1.Pod) bool {
	changes := []func(*corev1.Pod) bool{
		func(p *corev1.Pod) bool { return clearOf(&p.Spec.Affinity, nil) },
		func(p *corev1.Pod) bool { return clearList(&p.Spec.TopologySpreadConstraints) },
		func(p *corev1.Pod) bool { return clearList(&p.Spec.Volumes) },
		func(p *corev1.Pod) bool { return clearMap(&p.Labels) },
		func(p *corev1.Pod) bool { return clearOf(&p.Spec.Priority, nil) },
		func(p *corev1.Pod) bool { return clearOf(&p.Spec.Resources, nil) },
		func(p *corev1.Pod) bool { return clearMap(&p.Spec.NodeSelector) },
		func(p *corev1.Pod) bool { return clearMap(&p.Spec.Overhead) },
		func(p *corev1.Pod) bool { return clearList(&p.Spec.Tolerations) },
		func(p *corev1.Pod) bool { return clearList(&p.Spec.InitContainers) },
		func(p *corev1.Pod) bool { return clearList(&p.Spec.Containers[0].Ports) },
		func(p *corev1.Pod) bool {
			drop := len(p.Spec.Containers) > 1
			p.Spec.Containers = p.Spec.Containers[:1]
			return drop
		},
		dropOf(func(p *corev1.Pod) *[]metav1.OwnerReference { return &p.OwnerReferences }, 0),
	}
	// Ties, terms and volumes go one by one, too; a pod has few.
	for i := range 4 {
		changes = append(changes,
			dropOf(func(p *corev1.Pod) *[]corev1.TopologySpreadConstraint { return &p.Spec.TopologySpreadConstraints }, i),
			dropOf(func(p *corev1.Pod) *[]corev1.Volume { return &p.Spec.Volumes }, i))
	}
	return append(changes, affinityChanges()...)
}

// affinityChanges each drop one kind of affinity, or one term.
func affinityChanges() []func(*corev1.Pod) bool {
	of := func(change func(*corev1.Affinity) bool) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool { return p.Spec.Affinity != nil && change(p.Spec.Affinity) }
	}
	changes := []func(*corev1.Pod) bool{
		of(func(a *corev1.Affinity) bool { return clearOf(&a.NodeAffinity, nil) }),
		of(func(a *corev1.Affinity) bool { return clearOf(&a.PodAffinity, nil) }),
		of(func(a *corev1.Affinity) bool { return clearOf(&a.PodAntiAffinity, nil) }),
	}
	for i := range 3 {
		changes = append(changes,
			of(func(a *corev1.Affinity) bool {
				return a.PodAffinity != nil && (dropAt(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i) ||
					dropAt(&a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, i))
			}),
			of(func(a *corev1.Affinity) bool {
				return a.PodAntiAffinity != nil && (dropAt(&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i) ||
					dropAt(&a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, i))
			}))
	}
	return changes
}

// dropOf drops entry i of a list of the pod.
func dropOf[T any](list func(*corev1.Pod) *[]T, i int) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return dropAt(list(p), i) }
}

func dropAt[T any](list *[]T, i int) bool {
	if i >= len(*list) {
		return false
	}
	*list = slices.Delete(slices.Clone(*list), i, i+1)
	return true
}

// dropSurroundings drops volumes, namespaces, owners and default constraints. p is the
// problem that try changes.
func dropSurroundings(p *scheduling.Problem, try func(scheduling.Problem) bool) {
	dropEach(p.Claims, func(l []*corev1.PersistentVolumeClaim) bool { q := *p; q.Claims = l; return try(q) })
	dropEach(p.Volumes, func(l []*corev1.PersistentVolume) bool { q := *p; q.Volumes = l; return try(q) })
	dropEach(p.StorageClasses, func(l []*storagev1.StorageClass) bool { q := *p; q.StorageClasses = l; return try(q) })
	dropEach(p.CSINodes, func(l []*storagev1.CSINode) bool { q := *p; q.CSINodes = l; return try(q) })
	dropEach(p.Namespaces, func(l []*corev1.Namespace) bool { q := *p; q.Namespaces = l; return try(q) })
	dropEach(p.Services, func(l []*corev1.Service) bool { q := *p; q.Services = l; return try(q) })
	dropEach(p.DefaultSpread, func(l []corev1.TopologySpreadConstraint) bool { q := *p; q.DefaultSpread = l; return try(q) })
	dropEach(p.Owners.ReplicaSets, func(l []*appsv1.ReplicaSet) bool { q := *p; q.Owners.ReplicaSets = l; return try(q) })
	dropEach(p.Owners.StatefulSets, func(l []*appsv1.StatefulSet) bool { q := *p; q.Owners.StatefulSets = l; return try(q) })
	dropEach(p.Owners.ReplicationControllers, func(l []*corev1.ReplicationController) bool {
		q := *p
		q.Owners.ReplicationControllers = l
		return try(q)
	})
}

// poolChanges each drop one thing that a pool asks for; they report whether there
// was one.
func poolChanges() []func(*scheduling.NodePool) bool {
	changes := []func(*scheduling.NodePool) bool{
		func(p *scheduling.NodePool) bool { return clearMap(&p.Spec.Limits) },
		func(p *scheduling.NodePool) bool { return clearOf(&p.Spec.Weight, nil) },
		func(p *scheduling.NodePool) bool { return clearList(&p.Spec.Template.Spec.Taints) },
		func(p *scheduling.NodePool) bool { return clearList(&p.Spec.Template.Spec.StartupTaints) },
		func(p *scheduling.NodePool) bool { return clearMap(&p.Spec.Template.Metadata.Labels) },
	}
	// Requirements go one by one; a pool has few.
	for i := range 8 {
		changes = append(changes, func(p *scheduling.NodePool) bool { return dropAt(&p.Spec.Template.Spec.Requirements, i) })
	}
	return changes
}

func clearOf[T comparable](field *T, empty T) bool {
	had := *field != empty
	*field = empty
	return had
}

func clearMap[K comparable, V any, M ~map[K]V](field *M) bool {
	had := len(*field) > 0
	*field = nil
	return had
}

func clearList[T any](field *[]T) bool {
	had := len(*field) > 0
	*field = nil
	return had
}
