package verify

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Of a class whose volumes nobody makes, a claim gets one of those that are there and free.
// It gets it when the first of its pods is bound, and all others have to reach that one.

// nobodyMakes reports whether volumes of the class have to be there already.
func nobodyMakes(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// standingMount reads a claim of such a class: its pods have to reach one of the volumes.
func (w *world) standingMount(m *mount, c *corev1.PersistentVolumeClaim, class string) {
	for _, v := range w.problem.Volumes {
		if v == nil || v.DeletionTimestamp != nil {
			continue
		}
		if meantFor(v, m.claim) {
			m.offers = []*corev1.PersistentVolume{v}
			break
		}
		if v.Spec.ClaimRef == nil && cmp.Or(v.Status.Phase, corev1.VolumeAvailable) == corev1.VolumeAvailable && offered(v, c, class) {
			m.offers = append(m.offers, v)
		}
	}
	if len(m.offers) == 0 {
		m.broken = "finds no free volume of storage class " + class
		return
	}
	m.allows = selector{}
	for _, v := range m.offers {
		reach := reachOf(v)
		if reach == nil {
			m.allows = nil // this one is reached from everywhere
			return
		}
		m.allows = append(m.allows, reach...)
	}
}

// meantFor reports whether a volume waits for the claim, by namespace/name.
func meantFor(v *corev1.PersistentVolume, claim string) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && cmp.Or(ref.Namespace, metav1.NamespaceDefault)+"/"+ref.Name == claim
}

// offered reports whether the volume has what the claim asks for.
func offered(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim, class string) bool {
	of := v.Spec.StorageClassName
	if old, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		of = old
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	if of != class || size.Cmp(c.Spec.Resources.Requests[corev1.ResourceStorage]) < 0 || said(v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) != said(c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) ||
		said(v.Spec.VolumeAttributesClassName, "") != said(c.Spec.VolumeAttributesClassName, "") {
		return false
	}
	for _, mode := range c.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, mode) {
			return false
		}
	}
	asked, err := metav1.LabelSelectorAsSelector(c.Spec.Selector)
	return err == nil && (c.Spec.Selector == nil || asked.Matches(labels.Set(v.Labels)))
}

func said[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// reachOf are the nodes that reach a volume; nil is all.
func reachOf(v *corev1.PersistentVolume) selector {
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		return alternatives(nil, a.Required.NodeSelectorTerms)
	}
	return nil
}

// standingVolumes checks that all claims of the plan can have a volume each.
func (j *judge) standingVolumes() {
	for _, claim := range j.withoutVolume(j.booked) {
		j.add(VolumeGone, "claim/"+claim, "no volume is left for it that all its pods reach")
	}
}

// leavesVolumes reports whether all claims can still have a volume each when the pod is on
// the host too.
func (j *judge) leavesVolumes(t *tenant, x *host) bool {
	return !slices.ContainsFunc(t.mounts, func(m mount) bool { return len(m.offers) > 0 }) ||
		len(j.withoutVolume(append(slices.Clip(j.booked), booking{t, x}))) == 0
}

// withoutVolume lists claims that can get no volume which all their pods reach, wherever
// the options of a launch let them be, when each of the others gets one.
func (j *judge) withoutVolume(bookings []booking) []string {
	launched := make(map[*host]*resolved)
	for _, r := range j.launches {
		launched[r.host] = r
	}
	wants := make(map[string]*mount)
	places := make(map[string][]*place)
	for _, b := range bookings {
		for i := range b.mounts {
			if m := &b.mounts[i]; len(m.offers) > 0 {
				wants[m.claim] = m
				places[m.claim] = append(places[m.claim], placesOf(b.host, launched[b.host])...)
			}
		}
	}
	fits := make(map[string][]string)
	for claim, m := range wants {
		for _, v := range m.offers {
			reach := reachOf(v)
			if reach == nil || !slices.ContainsFunc(places[claim], func(p *place) bool { return !p.admits(reach) }) {
				fits[claim] = append(fits[claim], v.Name)
			}
		}
	}
	owner := make(map[string]string) // claims by volume
	var left []string
	for _, claim := range slices.Sorted(maps.Keys(wants)) {
		if !assignVolume(claim, fits, owner, make(map[string]bool)) {
			left = append(left, claim)
		}
	}
	return left
}

// assignVolume gives the claim a volume; those that have one may get another for that.
func assignVolume(claim string, fits map[string][]string, owner map[string]string, asked map[string]bool) bool {
	for _, v := range fits[claim] {
		if asked[v] {
			continue
		}
		asked[v] = true
		if other, taken := owner[v]; !taken || assignVolume(other, fits, owner, asked) {
			owner[v] = claim
			return true
		}
	}
	return false
}

// placesOf is where pods on the host may come to be.
func placesOf(h *host, r *resolved) []*place {
	if r == nil {
		return []*place{h.place}
	}
	var places []*place
	for _, m := range r.machines {
		if m != nil {
			places = append(places, &m.place)
		}
	}
	return places
}
