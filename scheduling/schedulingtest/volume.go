package schedulingtest

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// diskDriver is the driver of volumes and classes that name none.
const diskDriver = "ebs.csi.aws.com"

// The annotations of claims whose volume was bound to them, too, and of classes that
// claims without a class get.
const (
	bindCompleted = "pv.kubernetes.io/bind-completed"
	defaultClass  = "storageclass.kubernetes.io/is-default-class"
)

// Claim is a claim of the namespace "default" on a volume of one gibibyte that one
// node may use at a time. It is not bound to any volume and names no class unless an
// option says so.
func Claim(name string, opts ...ClaimOption) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	with(c, opts)
	c.UID = types.UID("claim/" + c.Namespace + "/" + c.Name)
	return c
}

// BoundTo binds the claim to a volume.
func BoundTo(volume string) ClaimOption {
	return on(func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		c.Annotations = put(c.Annotations, bindCompleted, "yes")
		c.Status.Phase = corev1.ClaimBound
	})
}

// HalfBoundTo is a claim that names a volume which is not bound to it yet.
func HalfBoundTo(volume string) ClaimOption {
	return on(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volume })
}

// Access sets the access modes, e.g. corev1.ReadWriteOncePod for one pod at a time.
func Access(modes ...corev1.PersistentVolumeAccessMode) ClaimOption {
	return on(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = slices.Clone(modes) })
}

// Lost makes a claim whose volume no longer exists.
func Lost() ClaimOption {
	return on(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })
}

// OwnedByPod makes the claim that of a pod's ephemeral volume.
func OwnedByPod(name string) ClaimOption {
	return on(func(c *corev1.PersistentVolumeClaim) {
		controller := true
		c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(c.Namespace + "/" + name), Controller: &controller,
		})
	})
}

// Volume is a volume of the driver ebs.csi.aws.com that every node can use unless
// [Where] says where it can be: any one of several Where options will do.
func Volume(name string, opts ...VolumeOption) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("volume/" + name)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: volumeSource(diskDriver, name),
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	return with(v, opts)
}

// StorageClass returns a class of the driver ebs.csi.aws.com that makes volumes where their first pod is scheduled
// (WaitForFirstConsumer): anywhere, or in the topologies of [Where], i.e. the values of its In requirements; several
// Where options are alternatives.
func StorageClass(name string, opts ...ClassOption) *storagev1.StorageClass {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	c := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name, UID: types.UID("class/" + name)},
		Provisioner: diskDriver, VolumeBindingMode: &wait,
	}
	return with(c, opts)
}

// Immediate makes volumes as soon as they are claimed, before their pods are scheduled.
func Immediate() ClassOption {
	return on(func(c *storagev1.StorageClass) {
		now := storagev1.VolumeBindingImmediate
		c.VolumeBindingMode = &now
	})
}

// DefaultClass makes the class that of claims which name none, since that minute of
// the year 2026: of several, the newest counts.
func DefaultClass(minute int) ClassOption {
	return on(func(c *storagev1.StorageClass) {
		c.Annotations = put(c.Annotations, defaultClass, "true")
		c.CreationTimestamp = metav1.NewTime(yearBegan().Add(time.Duration(minute) * time.Minute))
	})
}

func yearBegan() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Driver is the CSI driver that attaches a volume or the volumes of a class, or a plugin that
// Kubernetes itself once had, such as kubernetes.io/aws-ebs or kubernetes.io/local-volume.
func Driver(name string) interface {
	VolumeOption
	ClassOption
} {
	return either(
		on(func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeSource = volumeSource(name, v.Name) }),
		on(func(c *storagev1.StorageClass) { c.Provisioner = name }),
	)
}

// OfClass names the storage class of a claim, of a volume or of an ephemeral volume.
func OfClass(name string) interface {
	ClaimOption
	VolumeOption
} {
	return either(
		on(func(c *corev1.PersistentVolumeClaim) { own := name; c.Spec.StorageClassName = &own }),
		on(func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = name }),
	)
}

// CSINode says how many volumes of each driver the node takes: amounts such as
// Count("ebs.csi.aws.com", 25); a negative amount stands for no limit.
func CSINode(node string, drivers ...ResourceAmount) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node, UID: types.UID("csinode/" + node)}}
	for _, d := range drivers {
		driver := storagev1.CSINodeDriver{Name: string(d.Name), NodeID: node}
		if limit := int32(d.Quantity.Value()); limit >= 0 { //nolint:gosec // tests state small numbers
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, driver)
	}
	slices.SortFunc(n.Spec.Drivers, func(a, b storagev1.CSINodeDriver) int { return cmp.Compare(a.Name, b.Name) })
	return n
}

// UseClaim gives the pod the volume of a claim.
func UseClaim(name string) PodOption {
	return on(func(p *corev1.Pod) {
		v := corev1.Volume{Name: name}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	})
}

// Ephemeral gives the pod an ephemeral volume, which is made and deleted with it. Its claim is named after the pod and
// the volume.
func Ephemeral(volume string, opts ...ClaimOption) PodOption {
	return on(func(p *corev1.Pod) {
		v := corev1.Volume{Name: volume}
		v.Ephemeral = &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: Claim("template", opts...).Spec},
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	})
}

// The plugins for volumes that Kubernetes itself had before there were CSI drivers.
const (
	inTreeEBS   = "kubernetes.io/aws-ebs"
	inTreeGCE   = "kubernetes.io/gce-pd"
	inTreeAzure = "kubernetes.io/azure-disk"
	inTreeLocal = "kubernetes.io/local-volume"
	inTreeHost  = "kubernetes.io/host-path"
	inTreeNFS   = "kubernetes.io/nfs"
)

// volumeSource is a volume of the driver with the handle.
func volumeSource(driver, handle string) corev1.PersistentVolumeSource {
	var s corev1.PersistentVolumeSource
	switch driver {
	case inTreeEBS:
		s.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: handle}
	case inTreeGCE:
		s.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: handle}
	case inTreeAzure:
		s.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: handle, DataDiskURI: handle}
	case inTreeLocal:
		s.Local = &corev1.LocalVolumeSource{Path: "/mnt/" + handle}
	case inTreeHost:
		s.HostPath = &corev1.HostPathVolumeSource{Path: "/mnt/" + handle}
	case inTreeNFS:
		s.NFS = &corev1.NFSVolumeSource{Server: "nfs", Path: "/" + handle}
	default:
		s.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
	}
	return s
}
