package schedulingtest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

type daemonSet = appsv1.DaemonSet

// podChanges each drop one thing that a pod asks for; they report whether there
// was one.
func podChanges() []func(*corev1.Pod) bool {
	return []func(*corev1.Pod) bool{
		func(p *corev1.Pod) bool { return clearOf(&p.Spec.Affinity, nil) },
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
	}
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
		changes = append(changes, func(p *scheduling.NodePool) bool {
			r := &p.Spec.Template.Spec.Requirements
			if i >= len(*r) {
				return false
			}
			*r = append((*r)[:i], (*r)[i+1:]...)
			return true
		})
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
