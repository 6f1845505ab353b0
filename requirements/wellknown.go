package requirements

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// WellKnown returns the keys whose labels follow from the launched node, so that a NodePool need
// not define them for pods to ask for them: the keys of Kubernetes and Karpenter, and the ones that
// Karpenter's providers for AWS, Azure, Google Cloud and KWOK, and EKS Auto Mode, put on nodes. A
// well-known label may come with a node; the labels of the node itself say whether it does.
func WellKnown() KeySet { return wellKnown }

// wellKnown is built once and never written to: a KeySet is immutable.
var wellKnown = NewKeySet(
	NodePoolKey,
	CapacityTypeKey,
	corev1.LabelTopologyZone,
	corev1.LabelTopologyRegion,
	corev1.LabelInstanceTypeStable,
	corev1.LabelArchStable,
	corev1.LabelOSStable,
	corev1.LabelWindowsBuild,

	// AWS
	ReservationIDKey,
	TenancyKey,
	"karpenter.k8s.aws/capacity-reservation-interruptible",
	"karpenter.k8s.aws/capacity-reservation-type",
	"karpenter.k8s.aws/instance-accelerator-count",
	"karpenter.k8s.aws/instance-accelerator-manufacturer",
	"karpenter.k8s.aws/instance-accelerator-name",
	"karpenter.k8s.aws/instance-capability-flex",
	"karpenter.k8s.aws/instance-category",
	"karpenter.k8s.aws/instance-cpu",
	"karpenter.k8s.aws/instance-cpu-manufacturer",
	"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
	"karpenter.k8s.aws/instance-ebs-bandwidth",
	"karpenter.k8s.aws/instance-encryption-in-transit-supported",
	"karpenter.k8s.aws/instance-family",
	"karpenter.k8s.aws/instance-generation",
	"karpenter.k8s.aws/instance-gpu-count",
	"karpenter.k8s.aws/instance-gpu-manufacturer",
	"karpenter.k8s.aws/instance-gpu-memory",
	"karpenter.k8s.aws/instance-gpu-name",
	"karpenter.k8s.aws/instance-hypervisor",
	"karpenter.k8s.aws/instance-local-nvme",
	"karpenter.k8s.aws/instance-memory",
	"karpenter.k8s.aws/instance-network-bandwidth",
	"karpenter.k8s.aws/instance-size",
	"karpenter.k8s.aws/placement-group-id",
	"karpenter.k8s.aws/placement-group-partition",
	"topology.k8s.aws/zone-id",

	// EKS Auto Mode: the labels of "Create a Node Pool for EKS Auto Mode" in the EKS User Guide,
	// and further labels of its nodes
	"eks.amazonaws.com/compute-type",
	"eks.amazonaws.com/instance-accelerator-count",
	"eks.amazonaws.com/instance-accelerator-manufacturer",
	"eks.amazonaws.com/instance-accelerator-name",
	"eks.amazonaws.com/instance-capability-flex",
	"eks.amazonaws.com/instance-category",
	"eks.amazonaws.com/instance-cpu",
	"eks.amazonaws.com/instance-cpu-manufacturer",
	"eks.amazonaws.com/instance-cpu-sustained-clock-speed-mhz",
	"eks.amazonaws.com/instance-ebs-bandwidth",
	"eks.amazonaws.com/instance-encryption-in-transit-supported",
	"eks.amazonaws.com/instance-family",
	"eks.amazonaws.com/instance-generation",
	"eks.amazonaws.com/instance-gpu-count",
	"eks.amazonaws.com/instance-gpu-manufacturer",
	"eks.amazonaws.com/instance-gpu-memory",
	"eks.amazonaws.com/instance-gpu-name",
	"eks.amazonaws.com/instance-hypervisor",
	"eks.amazonaws.com/instance-local-nvme",
	"eks.amazonaws.com/instance-memory",
	"eks.amazonaws.com/instance-network-bandwidth",
	"eks.amazonaws.com/instance-size",

	// Azure
	"karpenter.azure.com/placement-scope",
	"karpenter.azure.com/sku-cpu",
	"karpenter.azure.com/sku-family",
	"karpenter.azure.com/sku-gpu-count",
	"karpenter.azure.com/sku-gpu-manufacturer",
	"karpenter.azure.com/sku-gpu-name",
	"karpenter.azure.com/sku-memory",
	"karpenter.azure.com/sku-name",
	"karpenter.azure.com/sku-networking-accelerated",
	"karpenter.azure.com/sku-series",
	"karpenter.azure.com/sku-storage-ephemeralos-maxsize",
	"karpenter.azure.com/sku-storage-premium-capable",
	"karpenter.azure.com/sku-version",
	"kubernetes.azure.com/fips_enabled",
	"kubernetes.azure.com/os-sku",
	"kubernetes.azure.com/priority",
	"kubernetes.azure.com/scalesetpriority",
	"kubernetes.azure.com/sku-cpu",
	"kubernetes.azure.com/sku-memory",

	// Google Cloud
	"cloud.google.com/gke-accelerator",
	"cloud.google.com/gke-cpu-scaling-level",
	"cloud.google.com/gke-os-distribution",
	"cloud.google.com/gke-spot",
	"cloud.google.com/machine-family",
	"disk-type.gke.io/hyperdisk-balanced",
	"disk-type.gke.io/hyperdisk-balanced-high-availability",
	"disk-type.gke.io/hyperdisk-extreme",
	"disk-type.gke.io/hyperdisk-ml",
	"disk-type.gke.io/hyperdisk-throughput",
	"disk-type.gke.io/pd-balanced",
	"disk-type.gke.io/pd-extreme",
	"disk-type.gke.io/pd-ssd",
	"disk-type.gke.io/pd-standard",
	"gke-provisioning",
	"karpenter.k8s.gcp/instance-cpu",
	"karpenter.k8s.gcp/instance-family",
	"karpenter.k8s.gcp/instance-generation",
	"karpenter.k8s.gcp/instance-gpu-count",
	"karpenter.k8s.gcp/instance-gpu-manufacturer",
	"karpenter.k8s.gcp/instance-gpu-memory",
	"karpenter.k8s.gcp/instance-gpu-name",
	"karpenter.k8s.gcp/instance-memory",
	"karpenter.k8s.gcp/instance-shape",
	"karpenter.k8s.gcp/instance-size",
	"topology.k8s.gcp/zone-id",

	// KWOK
	"karpenter.kwok.sh/instance-cpu",
	"karpenter.kwok.sh/instance-family",
	"karpenter.kwok.sh/instance-memory",
	"karpenter.kwok.sh/instance-size",
)

// knownValues returns the only values that the label of key ever has, nil when
// they are open. The result is shared and must not be written to.
func knownValues(key string) []string {
	switch key {
	case CapacityTypeKey:
		return capacityTypes
	case TenancyKey:
		return tenancies
	}
	return nil
}

// Misspelt reports whether a value of a label differs from a known one in case, spaces, dashes and
// underscores alone, and returns that one. Known are capacity types and tenancies. A capacity type
// with upper-case letters is misspelt, too, without a known one that is meant.
func Misspelt(key, value string) (meant string, ok bool) {
	key = NormalizeKey(key)
	values := knownValues(key)
	if slices.Contains(values, value) {
		return "", false
	}
	bare := spelling.Bare(value)
	for _, known := range values {
		if bare == spelling.Bare(known) {
			meant = known
		}
	}
	return meant, meant != "" || key == CapacityTypeKey && value != strings.ToLower(value)
}

// Read only.
var (
	capacityTypes = []string{"on-demand", "reserved", "spot"}
	tenancies     = []string{"dedicated", "default"}
)
