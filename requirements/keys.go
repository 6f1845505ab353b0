package requirements

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Label keys with a meaning of their own in this module, beside the keys that Kubernetes defines.
const (
	// NodePoolKey carries the name of the NodePool that a node belongs to.
	NodePoolKey = "karpenter.sh/nodepool"
	// CapacityTypeKey carries how a node is paid for: reserved, spot or on-demand.
	CapacityTypeKey = "karpenter.sh/capacity-type"
	// ReservationIDKey carries the capacity reservation that a node uses up.
	ReservationIDKey = "karpenter.k8s.aws/capacity-reservation-id"
	// TenancyKey carries whether a node shares its hardware: default or dedicated.
	TenancyKey = "karpenter.k8s.aws/instance-tenancy"
)

const azureDiskZoneKey = "topology.disk.csi.azure.com/zone"

// NormalizeKey returns the stable label key that key is another name of: the
// beta keys of Kubernetes and the zone keys under which storage drivers label
// nodes and volumes. Other keys come back as they are.
func NormalizeKey(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone,
		"topology.ebs.csi.aws.com/zone", "topology.ebs.csi.eks.amazonaws.com/zone",
		"topology.gke.io/zone", azureDiskZoneKey, "topology.cinder.csi.openstack.org/zone",
		"topology.diskplugin.csi.alibabacloud.com/zone":
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	case corev1.LabelInstanceType:
		return corev1.LabelInstanceTypeStable
	case "beta.kubernetes.io/arch":
		return corev1.LabelArchStable
	case "beta.kubernetes.io/os":
		return corev1.LabelOSStable
	}
	return key
}

// aliases returns the other names of a stable key, in a fixed order. The result
// is shared and must not be written to.
func aliases(key string) []string {
	switch key {
	case corev1.LabelTopologyZone:
		return zoneAliases
	case corev1.LabelTopologyRegion:
		return regionAliases
	case corev1.LabelInstanceTypeStable:
		return typeAliases
	case corev1.LabelArchStable:
		return archAliases
	case corev1.LabelOSStable:
		return osAliases
	}
	return nil
}

// AddAliases gives the labels of a node the alias keys that [NormalizeKey] knows, because running
// nodes carry both.
func AddAliases(labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		for _, alias := range aliases(key) {
			labels[alias] = labels[key]
		}
	}
}

// Read only; variables because Go has no constant slices.
var (
	zoneAliases = []string{
		corev1.LabelFailureDomainBetaZone,
		"topology.ebs.csi.aws.com/zone", "topology.ebs.csi.eks.amazonaws.com/zone",
		"topology.gke.io/zone", azureDiskZoneKey, "topology.cinder.csi.openstack.org/zone",
		"topology.diskplugin.csi.alibabacloud.com/zone",
	}
	regionAliases = []string{corev1.LabelFailureDomainBetaRegion}
	typeAliases   = []string{corev1.LabelInstanceType}
	archAliases   = []string{"beta.kubernetes.io/arch"}
	osAliases     = []string{"beta.kubernetes.io/os"}
)

// normalizeValue returns the value under the stable key for a value given under an alias key.
// Azure's disk driver gives machines outside of every zone the value "", where the zone label of
// the same machine is "0".
func normalizeValue(key, value string) string {
	if key == azureDiskZoneKey && value == "" {
		return "0"
	}
	return value
}

// KeySet is an immutable set of label keys; the zero value is empty.
type KeySet struct{ keys []string }

// NewKeySet returns the set of the keys, each in its stable form.
func NewKeySet(keys ...string) KeySet { return KeySet{}.With(keys...) }

// Has reports whether key, or the stable key that it stands for, is in the set.
func (s KeySet) Has(key string) bool {
	_, found := slices.BinarySearch(s.keys, NormalizeKey(key))
	return found
}

// With returns a set that also holds keys.
func (s KeySet) With(keys ...string) KeySet {
	out := slices.Clone(s.keys)
	for _, k := range keys {
		out = append(out, NormalizeKey(k))
	}
	slices.Sort(out)
	return KeySet{keys: slices.Compact(out)}
}

// Keys returns the keys, sorted, in a slice of the caller's own.
func (s KeySet) Keys() []string { return slices.Clone(s.keys) }

// Len returns the number of keys.
func (s KeySet) Len() int { return len(s.keys) }

// Restricted reports whether users may not set a label of that key on nodes or
// require it in a NodePool, because its value follows from where and how a node
// is launched: the host name, and every key in the domains of Karpenter and its
// providers (karpenter.sh, karpenter.k8s.aws, karpenter.k8s.gcp, karpenter.azure.com,
// karpenter.kwok.sh, and their subdomains) that is not among [WellKnown]. The
// domains of Kubernetes itself are open.
func Restricted(key string) bool {
	key = NormalizeKey(key)
	if key == corev1.LabelHostname {
		return true
	}
	if wellKnown.Has(key) {
		return false
	}
	domain, _, found := strings.Cut(key, "/")
	return found && restrictedDomain(domain)
}

func restrictedDomain(domain string) bool {
	for _, d := range []string{"karpenter.sh", "karpenter.k8s.aws", "karpenter.k8s.gcp", "karpenter.azure.com", "karpenter.kwok.sh"} {
		if parent, ok := strings.CutSuffix(domain, d); ok && (parent == "" || strings.HasSuffix(parent, ".")) {
			return true
		}
	}
	return false
}
