package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultMaxPods is how many pods workloads may be expanded to in all if
// [Loader.MaxPods] is 0. More is taken for a mistake in some number of replicas.
const DefaultMaxPods = 500_000

// expander makes the pods that workloads would make.
type expander struct {
	c      *collector
	owners *owners
	admit  *admission
	pods   []*corev1.Pod
	tops   map[objectKey]string // what the pods made here belong to
	sets   []*appsv1.ReplicaSet // that Deployments of the input would make
}

// expand makes the missing pods of every workload. Workloads with names of their own
// for each pod go first, so that the others avoid them.
func (e *expander) expand() {
	inOrder(e.c.statefulSets, e.statefulSet)
	inOrder(e.c.deployments, e.deployment)
	inOrder(e.c.replicaSets, func(f found[*appsv1.ReplicaSet]) {
		self := workload{"ReplicaSet", f.obj.Namespace, f.obj.Name}
		if parent, ok := e.owners.parents[self]; ok && e.owners.inInput[parent] {
			return // the Deployment counts for all of its ReplicaSets
		}
		spec := &f.obj.Spec
		e.replicas(f.at, "ReplicaSet", "apps/v1", f.obj, spec.Replicas, &spec.Template)
	})
	inOrder(e.c.controllers, func(f found[*corev1.ReplicationController]) {
		e.replicas(f.at, "ReplicationController", "v1", f.obj, f.obj.Spec.Replicas, f.obj.Spec.Template)
	})
	inOrder(e.c.jobs, e.job)
	inOrder(e.c.cronJobs, e.cronJob)
}

// inOrder calls do for workloads in the order of their names, so that the order of
// the input does not show in the pods.
func inOrder[T metav1.Object](list []found[T], do func(found[T])) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b found[T]) int {
		return cmp.Or(strings.Compare(a.obj.GetNamespace(), b.obj.GetNamespace()), strings.Compare(a.obj.GetName(), b.obj.GetName()))
	})
	for _, f := range sorted {
		do(f)
	}
}

// maker makes the pods of one workload.
type maker struct {
	e        *expander
	at       Location
	ref      string
	owner    metav1.OwnerReference
	obj      metav1.Object
	field    string // that says how many pods there are
	template *corev1.PodTemplateSpec
	spec     *corev1.PodSpec // of the template, after admission
}

// maker prepares to make pods of a workload.
func (e *expander) maker(at Location, kind, apiVersion string, obj metav1.Object, field string, template *corev1.PodTemplateSpec) *maker {
	controller := true
	return &maker{
		e: e, at: at, ref: reference(kind, obj), obj: obj, field: field, template: template,
		owner: metav1.OwnerReference{
			APIVersion: apiVersion, Kind: kind, Name: obj.GetName(), UID: obj.GetUID(), Controller: &controller,
		},
		spec: e.admit.spec(obj.GetNamespace(), qualified(obj), &template.Spec),
	}
}

// room reports whether n more pods may be made.
func (m *maker) room(n int) bool {
	most := cmp.Or(m.e.c.loader.MaxPods, DefaultMaxPods)
	if n <= most-len(m.e.pods) {
		return true
	}
	m.e.c.fault(&Fault{
		At: m.at, Object: m.ref, Field: m.field, Value: fmt.Sprint(n),
		Message: fmt.Sprintf("more pods would make more than %d in all", most),
	})
	return false
}

// make makes one pod. Its labels are the template's and, if there are some, more.
func (m *maker) make(name string, more map[string]string) *corev1.Pod {
	labels := m.template.Labels
	if len(more) > 0 {
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, more)
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       m.obj.GetNamespace(),
			Name:            name,
			Labels:          labels,
			Annotations:     m.template.Annotations,
			OwnerReferences: []metav1.OwnerReference{m.owner},
		},
		Spec:   *m.spec,
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	key := podKey(pod)
	m.e.owners.names[key] = true
	m.e.tops[key] = qualified(m.obj)
	m.e.pods = append(m.e.pods, pod)
	return pod
}

// number makes n pods under the lowest numbers that are free.
func (m *maker) number(n int, more map[string]string) {
	if n <= 0 || !m.room(n) {
		return
	}
	for i := 0; n > 0; i++ {
		name := fmt.Sprintf("%s-%d", m.obj.GetName(), i)
		if !m.e.owners.names[podNamed(m.obj.GetNamespace(), name)] {
			m.make(name, more)
			n--
		}
	}
}

// replicas makes what is missing of a number of replicas; none stated is one.
func (e *expander) replicas(at Location, kind, apiVersion string, obj metav1.Object, replicas *int32, template *corev1.PodTemplateSpec) {
	want := 1
	if replicas != nil {
		want = int(*replicas)
	}
	m := e.maker(at, kind, apiVersion, obj, "spec.replicas", template)
	m.number(want-e.owners.active[workload{kind, obj.GetNamespace(), obj.GetName()}], nil)
}

// statefulSet makes the pods of a StatefulSet whose names are not in the input.
func (e *expander) statefulSet(f found[*appsv1.StatefulSet]) {
	want, start := 1, 0
	if f.obj.Spec.Replicas != nil {
		want = int(*f.obj.Spec.Replicas)
	}
	if f.obj.Spec.Ordinals != nil {
		start = int(f.obj.Spec.Ordinals.Start)
	}
	m := e.maker(f.at, "StatefulSet", "apps/v1", f.obj, "spec.replicas", &f.obj.Spec.Template)
	if !m.room(want) {
		return
	}
	for i := start; i < start+want; i++ {
		name := fmt.Sprintf("%s-%d", f.obj.Name, i)
		if e.owners.names[podNamed(f.obj.Namespace, name)] {
			continue
		}
		pod := m.make(name, map[string]string{
			appsv1.StatefulSetPodNameLabel: name,
			appsv1.PodIndexLabel:           fmt.Sprint(i),
		})
		e.claimVolumes(pod, f.obj)
	}
}

// claimVolumes gives a pod of a StatefulSet the volumes that its claim templates
// promise, and makes the claims that are not in the input.
func (e *expander) claimVolumes(pod *corev1.Pod, set *appsv1.StatefulSet) {
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return
	}
	pod.Spec.Volumes = slices.Clone(pod.Spec.Volumes)
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		claim := template.Name + "-" + pod.Name
		volume := corev1.Volume{Name: template.Name}
		volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == template.Name })
		pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
		key := objectKey{kind{"", "PersistentVolumeClaim"}, set.Namespace, claim}
		if _, ok := e.c.seen[key]; ok {
			continue
		}
		made := template.DeepCopy()
		made.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		made.Namespace, made.Name = set.Namespace, claim
		e.c.seen[key] = Location{}
		e.c.volumeClaims = append(e.c.volumeClaims, made)
	}
}
