package schedulingtest

import corev1 "k8s.io/api/core/v1"

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

// driverOf is the inverse of volumeSource.
func driverOf(s *corev1.PersistentVolumeSource) string {
	switch {
	case s.AWSElasticBlockStore != nil:
		return inTreeEBS
	case s.GCEPersistentDisk != nil:
		return inTreeGCE
	case s.AzureDisk != nil:
		return inTreeAzure
	case s.Local != nil:
		return inTreeLocal
	case s.HostPath != nil:
		return inTreeHost
	case s.NFS != nil:
		return inTreeNFS
	case s.CSI != nil:
		return s.CSI.Driver
	}
	return ""
}

// driverNames are short for the names of drivers.
func driverNames() map[string]string {
	return map[string]string{
		"ebs": diskDriver, "gce": "pd.csi.storage.gke.io", "azure": "disk.csi.azure.com", "efs": "efs.csi.aws.com",
		"in-tree-ebs": inTreeEBS, "in-tree-gce": inTreeGCE, "in-tree-azure": inTreeAzure,
		"local": inTreeLocal, "host-path": inTreeHost, "nfs": inTreeNFS,
	}
}

// driverName is the driver that a word of a scenario names: a short name, or the
// word itself.
func driverName(text string) string {
	if name, ok := driverNames()[text]; ok {
		return name
	}
	return text
}

// shortDriver is the inverse of driverName.
func shortDriver(name string) string {
	for short, long := range driverNames() {
		if long == name {
			return short
		}
	}
	return name
}
