package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claim is a persistent volume claim as far as placing pods is concerned.
type claim struct {
	name   string   // namespace/name
	fault  string   // why no pod that uses it can be placed; "" for most
	places []*place // where the volume can be used, or made; all of them have to match
	driver string   // the CSI driver that attaches the volume; "" for none
	volume string   // equal for claims of the same volume
	// once says that one pod at a time may use the claim; holder is that pod.
	once   bool
	holder *corev1.Pod
	shared bool // by several pods to be placed, and charged to nodes in advance
	// charged says that several pods use it and each is charged for it.
	charged bool
	// object is the volume that the claim is bound to, and class what would make one.
	object *corev1.PersistentVolume
	class  *storagev1.StorageClass
}

// The annotations that storage controllers put on claims and classes.
const (
	bindCompletedAnnotation    = "pv.kubernetes.io/bind-completed"
	defaultClassAnnotation     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class"
)

// claim returns the claim with a name, whether it exists or not.
func (x *volumeIndex) claim(key objectKey) *claim {
	if c, ok := x.known[key]; ok {
		return c
	}
	c := &claim{name: key.namespace + "/" + key.name}
	c.volume = c.name
	if object := x.claims[key]; object != nil {
		x.read(c, object)
	} else {
		c.fault = c.text() + " does not exist"
	}
	x.known[key] = c
	return c
}

// ephemeral returns the claim of a pod's ephemeral volume. As long as the claim does
// not exist, the volume's template says what it will be.
func (x *volumeIndex) ephemeral(pod *corev1.Pod, v *corev1.Volume) *claim {
	key := objectKey{namespaceOf(pod), pod.Name + "-" + v.Name}
	if object := x.claims[key]; object != nil {
		c := x.claim(key)
		if ownedBy(object, pod) {
			return c
		}
		other := *c
		other.fault = c.text() + " was not made for volume " + v.Name + " of pod " + podName(pod)
		other.driver = ""
		return &other
	}
	if c, ok := x.known[key]; ok && c.fault == "" {
		return c
	}
	c := &claim{name: key.namespace + "/" + key.name}
	c.volume = c.name
	made := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.namespace, Name: key.name}}
	if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
		made.Annotations, made.Spec = t.Annotations, t.Spec
	}
	if className(made) == nil && x.standard != nil {
		made.Spec.StorageClassName = &x.standard.Name
	}
	x.readClass(c, made)
	if c.fault == "" {
		x.known[key] = c
	}
	return c
}

// isBound reports whether a claim has its volume: the controller says so by an annotation,
// and dumps from which annotations were taken by the phase.
func isBound(object *corev1.PersistentVolumeClaim) bool {
	_, noted := object.Annotations[bindCompletedAnnotation]
	return noted || object.Status.Phase == corev1.ClaimBound
}

// ownedBy reports whether the claim was made for the pod.
func ownedBy(object *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.Kind == "Pod" && owner.Name == pod.Name &&
		(owner.UID == pod.UID || owner.UID == "" || pod.UID == "")
}

// read reads a claim that exists.
func (x *volumeIndex) read(c *claim, object *corev1.PersistentVolumeClaim) {
	c.once = slices.Contains(object.Spec.AccessModes, corev1.ReadWriteOncePod)
	name := object.Spec.VolumeName
	switch volume := x.volumes[name]; {
	case name == "":
		x.readClass(c, object)
	case volume == nil:
		// The class tells at least what a running pod has attached.
		x.readClass(c, object)
		c.places = nil
		c.fault = "persistent volume " + name + " of claim " + c.name + " does not exist"
	default:
		x.readVolume(c, volume)
	}
	switch {
	case object.DeletionTimestamp != nil:
		c.fault = c.text() + " is being deleted"
	case object.Status.Phase == corev1.ClaimLost:
		c.fault = c.text() + " has lost its volume"
	case name != "" && !isBound(object):
		c.fault = c.text() + " waits to be bound to volume " + name
	}
}

// readVolume reads what the volume of a bound claim asks for.
func (x *volumeIndex) readVolume(c *claim, volume *corev1.PersistentVolume) {
	c.object = volume
	c.driver, c.volume = volumeDriver(volume)
	if volume.DeletionTimestamp != nil {
		c.fault = "persistent volume " + volume.Name + " of claim " + c.name + " is being deleted"
	}
	if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
		c.places = append(c.places, x.place(affinityTerms(a.Required)))
	}
	for _, key := range zoneKeys() {
		if value, ok := volume.Labels[key]; ok {
			c.places = append(c.places, x.place(labelTerms(key, value)))
		}
	}
}

// readClass reads what the class of a claim says that is not bound to a volume.
func (x *volumeIndex) readClass(c *claim, object *corev1.PersistentVolumeClaim) {
	name := className(object)
	if name == nil || *name == "" {
		c.fault = c.text() + " is not bound to a volume and names no storage class"
		return
	}
	class := x.classes[*name]
	if class == nil {
		c.fault = "storage class " + *name + " of " + c.text() + " does not exist"
		return
	}
	c.class = class
	c.driver = provisionerDriver(class.Provisioner)
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		c.fault = c.text() + " waits for its volume, which storage class " + *name + " makes at once"
		return
	}
	if isStatic(class) {
		x.readStatic(c, object, *name)
		return
	}
	if len(class.AllowedTopologies) > 0 {
		c.places = append(c.places, x.place(topologyTerms(class.AllowedTopologies)))
	}
	x.settle(c)
}

// className is the class that a claim names, in the old way or the new; nil for none.
func className(object *corev1.PersistentVolumeClaim) *string {
	if beta, ok := object.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return &beta
	}
	return object.Spec.StorageClassName
}

func (c *claim) text() string { return "persistent volume claim " + c.name }

func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations[defaultClassAnnotation] == "true" || c.Annotations[betaDefaultClassAnnotation] == "true"
}

// newerClass orders default classes: the newest counts, and of several the first by name.
func newerClass(a, b *storagev1.StorageClass) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return a.Name < b.Name
}
