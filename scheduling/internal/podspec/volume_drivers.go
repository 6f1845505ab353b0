package podspec

import (
	corev1 "k8s.io/api/core/v1"
)

// The CSI drivers that took over from plugins of Kubernetes itself, and whose limits
// kube-scheduler applies to the volumes of those.
const (
	EbsDriver      = "ebs.csi.aws.com"
	GceDriver      = "pd.csi.storage.gke.io"
	azureDriver    = "disk.csi.azure.com"
	cinderDriver   = "cinder.csi.openstack.org"
	portworxDriver = "pxd.portworx.com"
)

// volumeDriver returns the CSI driver that attaches a volume, "" where none does, and
// a text that is equal for equal volumes.
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

// ProvisionerDriver returns the driver of the volumes that a provisioner makes.
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
