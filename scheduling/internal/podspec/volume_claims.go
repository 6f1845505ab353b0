package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Claim is a PersistentVolumeClaim as far as scheduling reads it.
type Claim struct {
	Name   string   // namespace/name
	Fault  string   // why no pod with the claim can be placed; "" for none
	Remedy Remedy   // of the fault
	Places []*Place // where the volume can be used or created; all of them must match
	Driver string   // the CSI driver that attaches the volume; "" for none
	Volume string   // equal for claims of the same volume
	// Once says that the claim is ReadWriteOncePod; Holder is the pod that has it.
	Once   bool
	Holder *corev1.Pod
	shared bool // by several pods to place, and its attachment is charged to nodes in advance
	// Charged says that several pods use it, and each is charged for its attachment.
	Charged bool
	// Object is the volume that the claim is bound to, Class the class that would create one.
	Object *corev1.PersistentVolume
	Class  *storagev1.StorageClass
}

// Remedy is a change that removes the fault of a claim.
type Remedy struct {
	Object string // object to change, as kind/name; "" for the claim
	Text   string
}

// fail sets the fault of the claim and its remedy.
func (c *Claim) fail(fault, object, remedy string) {
	c.Fault, c.Remedy = fault, Remedy{Object: object, Text: remedy}
}

// The annotations that storage controllers put on claims and classes.
const (
	BindCompletedAnnotation    = "pv.kubernetes.io/bind-completed"
	defaultClassAnnotation     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class"
)

// claim returns the claim with a key. If it does not exist, it has a fault.
func (x *VolumeIndex) claim(key types.NamespacedName) *Claim {
	if c, ok := x.known[key]; ok {
		return c
	}
	c := &Claim{Name: key.Namespace + "/" + key.Name}
	c.Volume = c.Name
	if object := x.Claims[key]; object != nil {
		x.read(c, object)
	} else {
		c.fail(c.Text()+" does not exist", "", "create "+c.Text())
	}
	x.known[key] = c
	return c
}

// ephemeral returns the claim of a pod's ephemeral volume. While it does not exist, it is read from the
// volume's template. A claim of a former pod of the same name will be deleted with that pod, so it counts as
// not existing.
func (x *VolumeIndex) ephemeral(pod *corev1.Pod, v *corev1.Volume) *Claim {
	key := types.NamespacedName{Namespace: NamespaceOf(pod), Name: pod.Name + "-" + v.Name}
	if object := x.Claims[key]; object != nil && !ofPredecessor(object, pod) {
		c := x.claim(key)
		if OwnedBy(object, pod) {
			return c
		}
		other := *c
		other.fail(c.Text()+" was not made for volume "+v.Name+" of pod "+PodName(pod), "", "rename the volume, or delete "+c.Text()+", which was not made for the pod")
		other.Driver = ""
		return &other
	}
	if c, ok := x.templated[key]; ok {
		return c
	}
	c := &Claim{Name: key.Namespace + "/" + key.Name}
	c.Volume = c.Name
	made := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
		made.Annotations, made.Spec = t.Annotations, t.Spec
	}
	if ClassName(made) == nil && x.Standard != nil {
		made.Spec.StorageClassName = &x.Standard.Name
	}
	x.readClass(c, made)
	if name := ClassName(made); name == nil || *name == "" {
		c.Remedy.Text = "name a storage class in the template of " + c.Text() + ", or mark one as the default"
	}
	if c.Fault == "" {
		x.templated[key] = c
	}
	return c
}

// IsBound reports whether a claim is bound: by the controller's annotation, or by the phase in dumps without
// annotations.
func IsBound(object *corev1.PersistentVolumeClaim) bool {
	_, noted := object.Annotations[BindCompletedAnnotation]
	return noted || object.Status.Phase == corev1.ClaimBound
}

// OwnedBy reports whether the claim was created for the pod.
func OwnedBy(object *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	return ownedByName(object, pod) && !ofPredecessor(object, pod)
}

// ofPredecessor reports whether the claim was created for an earlier pod of that name, which is gone before
// this one exists; the garbage collector deletes the claim then.
func ofPredecessor(object *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if !ownedByName(object, pod) {
		return false
	}
	owner := metav1.GetControllerOfNoCopy(object).UID
	return pod.UID == scheduling.SuccessorUID || owner != pod.UID && owner != "" && pod.UID != ""
}

// ownedByName reports whether the claim was created for a pod of that name.
func ownedByName(object *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.Kind == "Pod" && owner.Name == pod.Name
}

// read reads a claim that exists.
func (x *VolumeIndex) read(c *Claim, object *corev1.PersistentVolumeClaim) {
	c.Once = slices.Contains(object.Spec.AccessModes, corev1.ReadWriteOncePod)
	name := object.Spec.VolumeName
	switch volume := x.Volumes[name]; {
	case name == "":
		x.readClass(c, object)
	case volume == nil:
		// The class still gives the driver of the volume that a running pod has attached.
		x.readClass(c, object)
		c.Places = nil
		c.fail("persistent volume "+name+" of claim "+c.Name+" does not exist", "PersistentVolume/"+name, "add persistent volume "+name+" to the input, or recreate the claim")
	default:
		x.ReadVolume(c, volume)
	}
	switch {
	case object.DeletionTimestamp != nil:
		c.fail(c.Text()+" is being deleted", "", "create "+c.Text()+" anew once it is gone")
	case object.Status.Phase == corev1.ClaimLost:
		c.fail(c.Text()+" has lost its volume", "", "restore the volume of "+c.Text()+", or delete the claim and create it anew")
	case name != "" && !IsBound(object):
		c.fail(c.Text()+" waits to be bound to volume "+name, "", "wait until "+c.Text()+" is bound to volume "+name)
	}
}

// ReadVolume reads driver and places of the volume of a bound claim.
func (x *VolumeIndex) ReadVolume(c *Claim, volume *corev1.PersistentVolume) {
	c.Object = volume
	c.Driver, c.Volume = volumeDriver(volume)
	if volume.DeletionTimestamp != nil {
		c.fail("persistent volume "+volume.Name+" of claim "+c.Name+" is being deleted", "PersistentVolume/"+volume.Name,
			"create "+c.Text()+" anew: its volume "+volume.Name+" is being deleted")
	}
	if a := volume.Spec.NodeAffinity; a != nil && a.Required != nil {
		c.Places = append(c.Places, x.Place(AffinityTerms(a.Required)))
	}
	for _, key := range zoneKeys() {
		if value, ok := volume.Labels[key]; ok {
			c.Places = append(c.Places, x.Place(labelTerms(key, value)))
		}
	}
}

// readClass reads the storage class of a claim that is not bound.
func (x *VolumeIndex) readClass(c *Claim, object *corev1.PersistentVolumeClaim) {
	name := ClassName(object)
	if name == nil || *name == "" {
		c.fail(c.Text()+" is not bound to a volume and names no storage class", "", "bind "+c.Text()+" to a volume, or name a storage class in it")
		return
	}
	class := x.Classes[*name]
	if class == nil {
		c.fail("storage class "+*name+" of "+c.Text()+" does not exist", "StorageClass/"+*name, "create storage class "+*name)
		return
	}
	c.Class = class
	c.Driver = ProvisionerDriver(class.Provisioner)
	if class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		c.fail(c.Text()+" waits for its volume, which storage class "+*name+" makes at once", "", waitForVolume)
		return
	}
	if IsStatic(class) {
		x.readStatic(c, object, *name)
		return
	}
	if len(class.AllowedTopologies) > 0 {
		c.Places = append(c.Places, x.Place(topologyTerms(class.AllowedTopologies)))
	}
	x.narrowToZone(c)
}

// MakesVolumes reports whether a class creates the volume of a claim for the node of the first pod that uses
// it.
func MakesVolumes(class *storagev1.StorageClass) bool {
	return class != nil && !IsStatic(class) && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// waitForVolume is the remedy for a claim whose class does not create a volume for a pod.
const waitForVolume = "wait until the claim has its volume, or use a storage class whose volumeBindingMode is WaitForFirstConsumer"

// ClassName returns the class of a claim, by field or by the beta annotation; nil for none.
func ClassName(object *corev1.PersistentVolumeClaim) *string {
	if beta, ok := object.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return &beta
	}
	return object.Spec.StorageClassName
}

// Text is the claim's name in messages.
func (c *Claim) Text() string { return "persistent volume claim " + c.Name }

func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations[defaultClassAnnotation] == "true" || c.Annotations[betaDefaultClassAnnotation] == "true"
}

// newerClass orders default classes: the newest applies, of equally old ones the first by name.
func newerClass(a, b *storagev1.StorageClass) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return b.CreationTimestamp.Before(&a.CreationTimestamp)
	}
	return a.Name < b.Name
}

// AppendWords appends a signature of where the volume can be used, from the fields of its objects.
func (c *Claim) AppendWords(b []byte) []byte {
	if v := c.Object; v != nil {
		if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
			for i := range a.Required.NodeSelectorTerms {
				t := &a.Required.NodeSelectorTerms[i]
				b = appendExpressions(append(b, 't'), t.MatchExpressions)
				b = appendExpressions(append(b, 'f'), t.MatchFields)
			}
		}
		for _, key := range zoneKeys() {
			b = AppendText(append(b, 'l'), v.Labels[key])
		}
	} else if c.Class != nil {
		for i := range c.Class.AllowedTopologies {
			b = append(b, 't')
			for _, e := range c.Class.AllowedTopologies[i].MatchLabelExpressions {
				b = AppendText(append(b, 'e'), e.Key)
				for _, v := range e.Values {
					b = AppendText(append(b, 'v'), v)
				}
			}
		}
	}
	return b
}

// assignExclusive gives every ReadWriteOncePod claim to one pod: to a running pod that uses it, or else to the
// first pod to place. A pod with several of these claims gets all or none. Pods that yield by choice come last.
func (x *VolumeIndex) assignExclusive(users, running []*corev1.Pod) {
	for _, pod := range running {
		for i := range pod.Spec.Volumes {
			v := pod.Spec.Volumes[i].PersistentVolumeClaim
			if v == nil {
				continue
			}
			c := x.known[types.NamespacedName{Namespace: NamespaceOf(pod), Name: v.ClaimName}]
			if c != nil && c.Once && (c.Holder == nil || ComparePods(pod, c.Holder) < 0) {
				c.Holder = pod
			}
		}
	}
	for _, lets := range []bool{false, true} {
		for _, pod := range users {
			if x.choice.Lets(pod) != lets || x.exclusiveTaken(pod) {
				continue
			}
			for _, c := range x.ClaimsOf(pod) {
				if c.Once {
					c.Holder = pod
				}
			}
		}
	}
}

// exclusiveTaken reports whether another pod has a ReadWriteOncePod claim of the pod.
func (x *VolumeIndex) exclusiveTaken(pod *corev1.Pod) bool {
	for _, c := range x.ClaimsOf(pod) {
		if c.Holder != nil && c.Holder != pod {
			return true
		}
	}
	return false
}

// heldText says which pod has a ReadWriteOncePod claim.
func (c *Claim) heldText() string {
	if c.Holder.Spec.NodeName != "" {
		return c.Text() + " is ReadWriteOncePod, and pod " + PodName(c.Holder) + " uses it"
	}
	return c.Text() + " is ReadWriteOncePod, and pod " + PodName(c.Holder) + " comes first"
}

// CSI drivers that replace in-tree volume plugins. kube-scheduler applies their attach limits to volumes of
// these plugins.
const (
	EbsDriver      = "ebs.csi.aws.com"
	GceDriver      = "pd.csi.storage.gke.io"
	azureDriver    = "disk.csi.azure.com"
	cinderDriver   = "cinder.csi.openstack.org"
	portworxDriver = "pxd.portworx.com"
)

// volumeDriver returns the CSI driver that attaches a volume, "" for none, and a text that is equal for equal
// volumes.
func volumeDriver(v *corev1.PersistentVolume) (driver, volume string) {
	s := &v.Spec.PersistentVolumeSource
	switch {
	case s.CSI != nil:
		return s.CSI.Driver, s.CSI.Driver + "/" + s.CSI.VolumeHandle
	case s.AWSElasticBlockStore != nil:
		driver = EbsDriver
	case s.GCEPersistentDisk != nil:
		driver = GceDriver
	case s.AzureDisk != nil:
		driver = azureDriver
	case s.Cinder != nil:
		driver = cinderDriver
	case s.PortworxVolume != nil:
		driver = portworxDriver
	}
	return driver, "volume " + v.Name
}

// ProvisionerDriver returns the driver of the volumes that a provisioner creates.
func ProvisionerDriver(provisioner string) string {
	switch provisioner {
	case "kubernetes.io/aws-ebs":
		return EbsDriver
	case "kubernetes.io/gce-pd":
		return GceDriver
	case "kubernetes.io/azure-disk":
		return azureDriver
	case "kubernetes.io/cinder":
		return cinderDriver
	case "kubernetes.io/portworx-volume":
		return portworxDriver
	}
	return provisioner
}
