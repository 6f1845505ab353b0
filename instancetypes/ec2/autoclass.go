package ec2

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// AutoGroup is the API group of the NodeClasses of EKS Auto Mode, and the domain of the labels
// that its nodes carry.
const AutoGroup = "eks.amazonaws.com"

// AutoComputeType is the label that only nodes of EKS Auto Mode have, with value "auto".
const AutoComputeType = AutoGroup + "/compute-type"

// AutoNodeClass is a NodeClass of eks.amazonaws.com/v1, the node class of EKS Auto Mode, as far as
// it changes the capacity of nodes or the zones of their launches. Manifests decode unchanged. The
// zero value is EKS's default class.
type AutoNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AutoNodeClassSpec `json:"spec"`
	Status NodeClassStatus   `json:"status,omitzero"`
}

// AutoNodeClassSpec is the desired state of the nodes.
type AutoNodeClassSpec struct {
	// EphemeralStorage is the volume that pods write to.
	EphemeralStorage AutoStorage `json:"ephemeralStorage,omitzero"`

	// The fields below change nodes, too, and are not read; see [AutoNodeClass.Unread].

	AdvancedNetworking               map[string]any `json:"advancedNetworking,omitempty"`
	CapacityReservationSelectorTerms []any          `json:"capacityReservationSelectorTerms,omitempty"`
	PlacementGroupSelector           map[string]any `json:"placementGroupSelector,omitempty"`
	SubnetSelectorTerms              []any          `json:"subnetSelectorTerms,omitempty"`
}

// AutoStorage is the volume of a node of EKS Auto Mode.
type AutoStorage struct {
	// Size is in bytes; nil is 80 GiB.
	Size *resource.Quantity `json:"size,omitempty"`
}

// Unread returns the paths of the fields that are set, change launches, capacity or cost, and are
// not read, sorted.
func (n *AutoNodeClass) Unread() []string {
	s := &n.Spec
	var out []string
	if s.AdvancedNetworking["networkInterfaces"] != nil {
		out = append(out, "spec.advancedNetworking.networkInterfaces")
	}
	if len(s.CapacityReservationSelectorTerms) > 0 {
		out = append(out, "spec.capacityReservationSelectorTerms")
	}
	if len(s.PlacementGroupSelector) > 0 {
		out = append(out, "spec.placementGroupSelector")
	}
	if len(s.SubnetSelectorTerms) > 0 && len(n.Status.Subnets) == 0 {
		out = append(out, "spec.subnetSelectorTerms")
	}
	return out
}

// Defaults and upper bounds of nodes of EKS Auto Mode.
const (
	autoVolume = 80 * gib
	autoPods   = 110
)

// Settings returns the settings of the nodes of a NodePool of this class. NodePools of Auto Mode
// have no settings of a kubelet, so kubelet is ignored. The error is an [instancetypes.CatalogFault].
//
// The rules are those of the EKS User Guide, as of summer 2026:
//
//   - "Create a Node Pool for EKS Auto Mode": labels are those of Karpenter's AWS provider under
//     the domain eks.amazonaws.com, with compute-type=auto besides, and none under
//     karpenter.k8s.aws; nodes run Linux.
//   - "Learn about Amazon EKS Auto Mode Managed instances": only types of the families that
//     [AutoLaunches] knows, of more than one CPU, and of no size called nano, micro or small.
//     Local disks are joined, and take the place of the volume, where they hold more than it.
//   - "Create a Node Class for Amazon EKS": a volume of 80 GiB where spec.ephemeralStorage names
//     no other size; as many pods as addresses of network interfaces, and at most 110.
//
// Nodes run Bottlerocket, which reserves memory for the pods that the kubelet admits. They are
// launched in the zones of status.subnets, as with [NodeClass.Settings].
func (n *AutoNodeClass) Settings(*instancetypes.Kubelet) (instancetypes.NodeSettings, error) {
	s := instancetypes.NodeSettings{
		MostPods: autoPods, MemoryFollowsPods: true,
		VolumeBytes: autoVolume, LocalDisks: labelLocalNVMe, LocalDisksIfLarger: true,
		LabelKeys: AutoLabel, Labels: map[string]string{AutoComputeType: "auto"},
		Launches: func(t *instancetypes.InstanceType, o offerings.Offering) bool {
			return AutoLaunches(t) && reaches(n.Status.Subnets, o)
		},
	}
	if size := n.Spec.EphemeralStorage.Size; size != nil {
		if size.Sign() <= 0 || size.CmpInt64(64<<40) > 0 {
			return s, &instancetypes.CatalogFault{Field: "spec.ephemeralStorage.size", Value: size.String(), Problem: "is not more than zero and at most 64Ti"}
		}
		s.VolumeBytes = size.Value()
	}
	return s, nil
}

// AutoLabel returns the key under which nodes of EKS Auto Mode carry the label that nodes of
// Karpenter's AWS provider have under a key, e.g. eks.amazonaws.com/instance-family for
// karpenter.k8s.aws/instance-family. Other keys come back as they are.
func AutoLabel(key string) string {
	if name, ok := strings.CutPrefix(key, group); ok {
		return AutoGroup + "/instance-" + name
	}
	return key
}

// AutoLaunches reports whether EKS Auto Mode launches nodes of an instance type at all,
// which it does not without a type (nil).
func AutoLaunches(t *instancetypes.InstanceType) bool {
	if t == nil {
		return false
	}
	family, size, _ := strings.Cut(t.Name, ".")
	cores := t.Capacity[corev1.ResourceCPU]
	return cores.CmpInt64(1) > 0 && !slices.Contains([]string{"nano", "micro", "small"}, size) && slices.Contains(autoFamilies(), family)
}

// autoFamilies are the families of "EKS Auto Mode supported instance reference" in the EKS User
// Guide (section #auto-supported-instances of automode-learn-instances), read in summer 2026.
func autoFamilies() []string {
	return strings.Fields(`
		c4 c5 c5a c5ad c5d c5n c6a c6g c6gd c6gn c6i c6id c6in c7a c7g c7gd c7gn c7i c7i-flex
		c8a c8g c8gb c8gd c8gn c8i c8i-flex c8id
		m4 m5 m5a m5ad m5d m5dn m5n m5zn m6a m6g m6gd m6i m6id m6idn m6in m7a m7g m7gd m7i m7i-flex
		m8a m8azn m8g m8gb m8gd m8gn m8i m8i-flex m8id
		r4 r5 r5a r5ad r5b r5d r5dn r5n r6a r6g r6gd r6i r6id r6idn r6in r7a r7g r7gd r7i r7iz
		r8a r8g r8gb r8gd r8gn r8i r8i-flex r8id
		t2 t3 t3a t4g
		x2gd x8aedz x8g x8i z1d
		d3 d3en i3 i3en i4g i4i i7i i7ie i8g i8ge im4gn is4gen
		g4ad g4dn g5 g5g g6 g6e g7e gr6 inf1 inf2 p3dn p4d p4de p5 p5e p5en p6-b200 p6-b300 trn1 trn1n trn2
		hpc8a x2idn x2iedn x2iezn
	`)
}
