package ec2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// NodeClass is an EC2NodeClass of karpenter.k8s.aws/v1 or v1beta1, as far as it decides
// what the machines of a NodePool hold and where they are launched. Manifests decode
// unchanged.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeClassSpec   `json:"spec"`
	Status NodeClassStatus `json:"status,omitzero"`
}

// NodeClassSpec is what is asked for.
type NodeClassSpec struct {
	// AMIFamily is AL2, AL2023, Bottlerocket, Windows2019, Windows2022, Windows2025,
	// Custom or, in v1beta1, Ubuntu. Empty, it is that of an alias, or else Custom.
	AMIFamily        string            `json:"amiFamily,omitempty"`
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms,omitempty"`
	// BlockDeviceMappings are the volumes of a node.
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`
	// InstanceStorePolicy RAID0 joins the local disks and has pods write to them; empty
	// leaves them alone.
	InstanceStorePolicy string                `json:"instanceStorePolicy,omitempty"`
	Kubelet             instancetypes.Kubelet `json:"kubelet,omitzero"`

	// What follows decides, too, and is not read; see [NodeClass.Unread].

	AssociatePublicIPAddress         bool           `json:"associatePublicIPAddress,omitempty"`
	CapacityReservationSelectorTerms []any          `json:"capacityReservationSelectorTerms,omitempty"`
	CPUOptions                       map[string]any `json:"cpuOptions,omitempty"`
	NetworkInterfaces                []any          `json:"networkInterfaces,omitempty"`
	PlacementGroupSelector           map[string]any `json:"placementGroupSelector,omitempty"`
	SubnetSelectorTerms              []any          `json:"subnetSelectorTerms,omitempty"`
	UserData                         string         `json:"userData,omitempty"`
}

// AMISelectorTerm selects images.
type AMISelectorTerm struct {
	// Alias is family@version, such as bottlerocket@latest.
	Alias string `json:"alias,omitempty"`
}

// BlockDeviceMapping is a volume of a node.
type BlockDeviceMapping struct {
	// DeviceName is a name such as /dev/xvda.
	DeviceName string       `json:"deviceName,omitempty"`
	EBS        *BlockDevice `json:"ebs,omitempty"`
	// RootVolume marks the volume that the kubelet's directory is on.
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice describes a volume.
type BlockDevice struct {
	// VolumeSize is in bytes; nil is the size of the snapshot.
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`
}

// NodeClassStatus is what Karpenter found out.
type NodeClassStatus struct {
	// Subnets are those that the selector terms select. None says nothing.
	Subnets []Subnet `json:"subnets,omitempty"`
	// AMIs are the images that are launched. None says nothing.
	AMIs []AMI `json:"amis,omitempty"`
}

// Subnet is where machines are launched.
type Subnet struct {
	// Zone is the account's name of the zone, ZoneID the one that all accounts have.
	Zone   string `json:"zone"`
	ZoneID string `json:"zoneID,omitempty"`
}

// AMI is an image.
type AMI struct {
	// Requirements say which instance types it runs on.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitempty"`
}

// Unread returns the paths of the fields that are set, bear on what is launched or what
// it holds or costs, and are not read, sorted.
func (n *NodeClass) Unread() []string {
	s := &n.Spec
	var out []string
	add := func(field string, set bool) {
		if set {
			out = append(out, "spec."+field)
		}
	}
	add("associatePublicIPAddress", s.AssociatePublicIPAddress)
	add("capacityReservationSelectorTerms", len(s.CapacityReservationSelectorTerms) > 0)
	add("cpuOptions", len(s.CPUOptions) > 0)
	for _, field := range s.Kubelet.Expressions() {
		add("kubelet."+field, true)
	}
	add("networkInterfaces", len(s.NetworkInterfaces) > 0)
	add("placementGroupSelector", len(s.PlacementGroupSelector) > 0)
	add("subnetSelectorTerms", len(s.SubnetSelectorTerms) > 0 && len(n.Status.Subnets) == 0)
	add("userData", s.UserData != "")
	return out
}
