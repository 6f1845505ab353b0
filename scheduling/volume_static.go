package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A class whose volumes nobody makes, as those of disks that are built into nodes,
// gives claims the volumes that are there and free. Each can be given once, so a node
// holds as many pods as it can reach free volumes. Volumes that several nodes can
// reach count for each of these.

// staticPrefix begins what stands for the driver of such a class.
const staticPrefix = "storage class "

// isStatic reports whether nobody makes volumes of the class.
func isStatic(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// freeVolumes are the volumes of a class that are not spoken for, in name order.
func (x *volumeIndex) freeVolumes(class string) []*corev1.PersistentVolume {
	if list, ok := x.free[class]; ok {
		return list
	}
	var out []*corev1.PersistentVolume
	for _, name := range slices.Sorted(maps.Keys(x.volumes)) {
		v := x.volumes[name]
		if v.Spec.ClaimRef != nil || x.given[v.Name] || v.DeletionTimestamp != nil || v.Status.Phase != "" && v.Status.Phase != corev1.VolumeAvailable {
			continue
		}
		of := v.Spec.StorageClassName
		if beta, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			of = beta
		}
		if of == class {
			out = append(out, v)
		}
	}
	x.free[class] = out
	return out
}

// readStatic reads where volumes are that the claim could get.
func (x *volumeIndex) readStatic(c *claim, object *corev1.PersistentVolumeClaim, class string) {
	if v := x.promised[objectKey{orDefault(object.Namespace), object.Name}]; v != nil {
		x.readVolume(c, v)
		return
	}
	signature := appendClaimShape(appendText(nil, class), &object.Spec)
	found, known := x.offered[string(signature)]
	if !known {
		for _, v := range x.freeVolumes(class) {
			if suitsClaim(v, object) {
				found.some = true
				found.anywhere = found.anywhere || everywhere(v)
				if !found.anywhere {
					found.terms = append(found.terms, affinityTerms(v.Spec.NodeAffinity.Required)...)
				}
			}
		}
		if !found.anywhere {
			found.place = x.place(found.terms)
		}
		x.offered[string(signature)] = found
	}
	c.driver = staticPrefix + class
	if !found.some {
		c.fault = "no volume of storage class " + class + " is free for " + c.text()
	}
	if !found.anywhere {
		c.places = append(c.places, found.place)
	}
}

// freeOffer is where the free volumes are that suit claims of one shape.
type freeOffer struct {
	some, anywhere bool
	terms          []term
	place          *place
}

// freeOn counts the free volumes of a class that a node can reach.
func (x *volumeIndex) freeOn(class, node string, has map[string]string) int64 {
	count := int64(0)
	for _, v := range x.freeVolumes(class) {
		if x.reaches(v, node, has) {
			count++
		}
	}
	return count
}

// reaches reports whether a node can reach a volume.
func (x *volumeIndex) reaches(v *corev1.PersistentVolume, node string, has map[string]string) bool {
	if everywhere(v) {
		return true
	}
	terms, known := x.reach[v.Name]
	if !known {
		terms = affinityTerms(v.Spec.NodeAffinity.Required)
		x.reach[v.Name] = terms
	}
	return slices.ContainsFunc(terms, func(t term) bool { return t.matchesNode(node, has) })
}

// everywhere reports whether every node can reach a volume.
func everywhere(v *corev1.PersistentVolume) bool {
	return v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil
}

// appendClaimShape appends what decides which free volumes suit a claim.
func appendClaimShape(b []byte, spec *corev1.PersistentVolumeClaimSpec) []byte {
	size := spec.Resources.Requests[corev1.ResourceStorage]
	b = appendText(b, size.String())
	for _, mode := range spec.AccessModes {
		b = appendText(b, string(mode))
	}
	if spec.VolumeMode != nil {
		b = appendText(append(b, 'm'), string(*spec.VolumeMode))
	}
	if spec.VolumeAttributesClassName != nil {
		b = appendText(append(b, 'a'), *spec.VolumeAttributesClassName)
	}
	if spec.Selector != nil {
		b = appendText(append(b, 's'), metav1.FormatLabelSelector(spec.Selector))
	}
	return b
}

// suitsClaim reports whether a free volume has what a claim asks for.
func suitsClaim(v *corev1.PersistentVolume, object *corev1.PersistentVolumeClaim) bool {
	have, want := v.Spec.Capacity[corev1.ResourceStorage], object.Spec.Resources.Requests[corev1.ResourceStorage]
	if have.Cmp(want) < 0 || volumeMode(v.Spec.VolumeMode) != volumeMode(object.Spec.VolumeMode) ||
		deref(v.Spec.VolumeAttributesClassName) != deref(object.Spec.VolumeAttributesClassName) {
		return false
	}
	for _, mode := range object.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, mode) {
			return false
		}
	}
	if object.Spec.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(v.Labels))
}

func volumeMode(mode *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if mode == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *mode
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
