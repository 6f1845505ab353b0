package podspec

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A class whose volumes nobody makes, as those of disks that are built into nodes,
// gives claims the volumes that are there and free. Each can be given once, so a node
// holds as many pods as it can reach free volumes. Volumes that several nodes can
// reach count for each of these.

// StaticPrefix begins what stands for the driver of such a class.
const StaticPrefix = "storage class "

// IsStatic reports whether nobody makes volumes of the class.
func IsStatic(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// FreeVolumes are the volumes of a class that are not spoken for, in name order.
func (x *VolumeIndex) FreeVolumes(class string) []*corev1.PersistentVolume {
	if list, ok := x.free[class]; ok {
		return list
	}
	var out []*corev1.PersistentVolume
	for _, name := range slices.Sorted(maps.Keys(x.Volumes)) {
		v := x.Volumes[name]
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
func (x *VolumeIndex) readStatic(c *Claim, object *corev1.PersistentVolumeClaim, class string) {
	if v := x.promised[types.NamespacedName{Namespace: OrDefault(object.Namespace), Name: object.Name}]; v != nil {
		x.ReadVolume(c, v)
		return
	}
	signature := appendClaimShape(AppendText(nil, class), &object.Spec)
	found, known := x.offered[string(signature)]
	if !known {
		for _, v := range x.FreeVolumes(class) {
			if SuitsClaim(v, object) {
				found.some = true
				found.anywhere = found.anywhere || Everywhere(v)
				if !found.anywhere {
					found.terms = append(found.terms, AffinityTerms(v.Spec.NodeAffinity.Required)...)
				}
			}
		}
		if !found.anywhere {
			found.place = x.Place(found.terms)
		}
		x.offered[string(signature)] = found
	}
	c.Driver = StaticPrefix + class
	if !found.some {
		c.Fault = "no volume of storage class " + class + " is free for " + c.Text()
	}
	if !found.anywhere {
		c.Places = append(c.Places, found.place)
	}
}

// freeOffer is where the free volumes are that suit claims of one shape.
type freeOffer struct {
	some, anywhere bool
	terms          []Term
	place          *Place
}

// FreeOn counts the free volumes of a class that a node can reach.
func (x *VolumeIndex) FreeOn(class, node string, has map[string]string) int64 {
	count := int64(0)
	for _, v := range x.FreeVolumes(class) {
		if x.Reaches(v, node, has) {
			count++
		}
	}
	return count
}

// Reaches reports whether a node can reach a volume.
func (x *VolumeIndex) Reaches(v *corev1.PersistentVolume, node string, has map[string]string) bool {
	if Everywhere(v) {
		return true
	}
	terms, known := x.reach[v.Name]
	if !known {
		terms = AffinityTerms(v.Spec.NodeAffinity.Required)
		x.reach[v.Name] = terms
	}
	return slices.ContainsFunc(terms, func(t Term) bool { return t.MatchesNode(node, has) })
}

// Everywhere reports whether every node can reach a volume.
func Everywhere(v *corev1.PersistentVolume) bool {
	return v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil
}

// appendClaimShape appends what decides which free volumes suit a claim.
func appendClaimShape(b []byte, spec *corev1.PersistentVolumeClaimSpec) []byte {
	size := spec.Resources.Requests[corev1.ResourceStorage]
	b = AppendText(b, size.String())
	for _, mode := range spec.AccessModes {
		b = AppendText(b, string(mode))
	}
	if spec.VolumeMode != nil {
		b = AppendText(append(b, 'm'), string(*spec.VolumeMode))
	}
	if spec.VolumeAttributesClassName != nil {
		b = AppendText(append(b, 'a'), *spec.VolumeAttributesClassName)
	}
	if spec.Selector != nil {
		b = AppendText(append(b, 's'), metav1.FormatLabelSelector(spec.Selector))
	}
	return b
}

// SuitsClaim reports whether a free volume has what a claim asks for.
func SuitsClaim(v *corev1.PersistentVolume, object *corev1.PersistentVolumeClaim) bool {
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
