package schedulingtest

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Admitted is a copy of the pod as the API server stores it, which other schedulers expect: in
// a namespace; containers that have a limit on a resource and no request for it request the
// limit; and matchLabelKeys and mismatchLabelKeys of pod affinity and anti-affinity have become
// part of the selectors.
func Admitted(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	out.Namespace = cmp.Or(out.Namespace, corev1.NamespaceDefault)
	for _, containers := range [][]corev1.Container{out.Spec.Containers, out.Spec.InitContainers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, q := range r.Limits {
				if _, ok := r.Requests[name]; !ok {
					r.Requests = merge(r.Requests, []ResourceAmount{{name, q}})
				}
			}
		}
	}
	each := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			mergeLabelKeys(&required[i], out.Labels)
		}
		for i := range preferred {
			mergeLabelKeys(&preferred[i].PodAffinityTerm, out.Labels)
		}
	}
	if a := out.Spec.Affinity; a != nil && a.PodAffinity != nil {
		each(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := out.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		each(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

func mergeLabelKeys(t *corev1.PodAffinityTerm, labels map[string]string) {
	if t.LabelSelector == nil {
		return
	}
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, ok := labels[key]; ok {
				t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
			}
		}
	}
	add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	t.MatchLabelKeys, t.MismatchLabelKeys = nil, nil
}

// APIObject is an object of the API server.
type APIObject interface {
	metav1.Object
	runtime.Object
}

// Objects are copies of the objects that an API server holds for a problem beside nodes and pods:
// volumes, claims, including the ones made for ephemeral volumes of pending pods, storage classes,
// CSI nodes, services, controllers, and every namespace that is named.
func Objects(p *scheduling.Problem) []APIObject {
	var out []APIObject
	copies(&out, p.Volumes)
	copies(&out, p.StorageClasses)
	copies(&out, p.CSINodes)
	copies(&out, p.Services)
	copies(&out, p.Owners.ReplicationControllers)
	copies(&out, p.Owners.ReplicaSets)
	copies(&out, p.Owners.StatefulSets)
	copies(&out, p.Claims)
	copies(&out, ephemeralClaims(p))
	known := map[string]bool{}
	name := func(n *corev1.Namespace) {
		if !known[n.Name] {
			known[n.Name] = true
			n.Labels = put(n.Labels, corev1.LabelMetadataName, n.Name)
			out = append(out, n)
		}
	}
	for _, n := range p.Namespaces {
		name(n.DeepCopy())
	}
	for _, pod := range slices.Concat(p.Pods, p.Running) {
		name(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOr(pod.Namespace)}})
	}
	return out
}

func copies[T APIObject](out *[]APIObject, list []T) {
	for _, object := range list {
		*out = append(*out, object.DeepCopyObject().(T))
	}
}

// ephemeralClaims are the claims that the controller of ephemeral volumes makes for pending pods.
// Admission gives claims without a class the newest default one, of equally new ones the first by
// name.
func ephemeralClaims(p *scheduling.Problem) []*corev1.PersistentVolumeClaim {
	known := map[string]bool{}
	for _, c := range p.Claims {
		known[namespaceOr(c.Namespace)+"/"+c.Name] = true
	}
	standard := slices.SortedFunc(slices.Values(p.StorageClasses), func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	standard = slices.DeleteFunc(standard, func(c *storagev1.StorageClass) bool { return c.Annotations[defaultClass] != "true" })
	var out []*corev1.PersistentVolumeClaim
	for _, pod := range p.Pods {
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			namespace, name := namespaceOr(pod.Namespace), pod.Name+"-"+v.Name
			if v.Ephemeral == nil || v.Ephemeral.VolumeClaimTemplate == nil || known[namespace+"/"+name] {
				continue
			}
			known[namespace+"/"+name] = true
			controller := true
			c := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{
					APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: cmp.Or(pod.UID, types.UID(scheduling.PodName(pod))), Controller: &controller,
				}}},
				Spec:   *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy(),
				Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			}
			if c.Spec.StorageClassName == nil && len(standard) > 0 {
				c.Spec.StorageClassName = &standard[0].Name
			}
			out = append(out, c)
		}
	}
	return out
}
