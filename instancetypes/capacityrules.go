package instancetypes

// defaultPods is how many pods a kubelet admits unless it is told otherwise.
const defaultPods = 110

// defaultVolume is the size of an EKS node's root volume, in bytes.
const defaultVolume = 20 << 30

// ENIPods returns how many pods fit an EC2 machine whose pods take their addresses
// from its network interfaces: one address of each interface is its own, and two
// pods (the CNI's and kube-proxy) use the node's. enis counts the interfaces of the
// default network card; reserved are those kept for other uses, such as pods with
// an interface of their own or EFA-only traffic. It is 0 if no interface is left.
func ENIPods(enis, addressesPerENI, reserved int64) int64 {
	usable := enis - max(reserved, 0)
	if usable <= 0 || addressesPerENI <= 0 {
		return 0
	}
	return usable*(addressesPerENI-1) + 2
}

// MaxPods returns how many pods a kubelet admits. configured is the kubelet's
// maxPods and is used as it is; where it is 0 the limit is that of the network
// interfaces (see [ENIPods]), and 110 where that does not apply (0). podsPerCore, if
// not 0, bounds the result by the number of virtual cores.
func MaxPods(configured, byENI, podsPerCore, cores int64) int64 {
	pods := int64(defaultPods)
	switch {
	case configured > 0:
		pods = configured
	case byENI > 0:
		pods = byENI
	}
	if podsPerCore > 0 && cores > 0 && podsPerCore < pods/cores+1 {
		pods = min(pods, podsPerCore*cores)
	}
	return pods
}

// EphemeralStorage returns the size in bytes of the file system that pods write to:
// all local disks together where they are joined into one (localDisksGB, in units
// of 10^9 bytes; 0 if there are none or they are left alone), else the root volume,
// which is 20 GiB where volumeBytes is 0.
func EphemeralStorage(localDisksGB, volumeBytes int64) int64 {
	const gb = 1_000_000_000
	switch {
	case localDisksGB > 0:
		return localDisksGB * gb
	case volumeBytes > 0:
		return volumeBytes
	}
	return defaultVolume
}
