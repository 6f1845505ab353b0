package ec2

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// NodeClass is an EC2NodeClass of karpenter.k8s.aws/v1 or v1beta1, as far as it changes the
// capacity of nodes or the zones of their launches. Manifests decode unchanged.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeClassSpec   `json:"spec"`
	Status NodeClassStatus `json:"status,omitzero"`
}

// NodeClassSpec is the desired state of the nodes.
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

	// The fields below change nodes, too, and are not read; see [NodeClass.Unread].

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
	// Alias is family@version, e.g. bottlerocket@latest.
	Alias string `json:"alias,omitempty"`
}

// BlockDeviceMapping is a volume of a node.
type BlockDeviceMapping struct {
	// DeviceName is the name of a device, e.g. /dev/xvda.
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

// NodeClassStatus is the state that Karpenter has found.
type NodeClassStatus struct {
	// Subnets are the selected subnets. Without any, zones are not restricted.
	Subnets []Subnet `json:"subnets,omitempty"`
	// AMIs are the launched images. Without any, nodes are not restricted.
	AMIs []AMI `json:"amis,omitempty"`
}

// Subnet is where nodes are launched.
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

// Unread returns the paths of the fields that are set, change launches, capacity or cost, and are
// not read, sorted.
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

// privateIPv4 counts the addresses that Windows pods take.
const privateIPv4 corev1.ResourceName = "vpc.amazonaws.com/PrivateIPv4Address"

const gib = 1 << 30

// family holds the settings that follow from a family of images.
type family struct {
	name string
	// device is the one that pods write to, volume the size of its volume in bytes.
	device string
	volume int64
	// pods is how many a node admits without maxPods; 0 leaves it to the network
	// interfaces.
	pods int64
	// reservesForMaxPods says that the kubelet's memory grows with the pods that it
	// admits, not with those that the network interfaces allow.
	reservesForMaxPods bool
	// ignoresPodsPerCore says that the setting has no effect.
	ignoresPodsPerCore bool
	// build is the version of Windows; empty for Linux.
	build string
}

// families returns the families of images that Karpenter's AWS provider knows
// (pkg/providers/amifamily). Ubuntu was one of them up to v1beta1.
func families() []family {
	windows := func(name, build string) family {
		return family{name: name, device: "/dev/sda1", volume: 50 * gib, pods: 110, reservesForMaxPods: true, build: build}
	}
	return []family{
		{name: "AL2", device: "/dev/xvda", volume: 20 * gib},
		{name: "AL2023", device: "/dev/xvda", volume: 20 * gib},
		{name: "Bottlerocket", device: "/dev/xvdb", volume: 20 * gib, reservesForMaxPods: true, ignoresPodsPerCore: true},
		windows("Windows2019", "10.0.17763"),
		windows("Windows2022", "10.0.20348"),
		windows("Windows2025", "10.0.26100"),
		{name: "Ubuntu", device: "/dev/sda1", volume: 20 * gib},
		{name: "Custom", volume: 20 * gib},
	}
}

// family returns the family of the class's images.
func (n *NodeClass) family() (family, error) {
	field, name := "spec.amiFamily", n.Spec.AMIFamily
	for i, term := range n.Spec.AMISelectorTerms {
		if name == "" && term.Alias != "" {
			field = fmt.Sprintf("spec.amiSelectorTerms[%d].alias", i)
			name, _, _ = strings.Cut(term.Alias, "@")
		}
	}
	if name == "" {
		name = "Custom"
	}
	var names []string
	for _, f := range families() {
		// Aliases are in lower case.
		if f.name == name || n.Spec.AMIFamily == "" && name == strings.ToLower(name) && strings.EqualFold(f.name, name) {
			return f, nil
		}
		names = append(names, f.name)
	}
	return family{}, &instancetypes.CatalogFault{Field: field, Value: name, Problem: "is no family of images: known are " + strings.Join(names, ", ")}
}

// Settings returns the settings of the nodes of a NodePool of this class. kubelet, if not nil,
// takes the place of the class's own, as that of a NodePool of v1beta1 does. The error reports
// every fault at once, as [instancetypes.CatalogFault] values.
//
// The rules are those of Karpenter's AWS provider (pkg/providers/instancetype/types.go
// and pkg/providers/amifamily). Pods write to the volume that is marked as the root
// volume; or else, with family Custom, to the last one; or else to the one with the
// family's device: /dev/xvda for AL2 and AL2023, /dev/xvdb for Bottlerocket, /dev/sda1
// for Windows. Its size is 20 GiB unless stated, and 50 GiB for Windows. Local disks
// are known by the label karpenter.k8s.aws/instance-local-nvme.
//
// Nodes are launched in the zones of status.subnets, matched by their ids where both
// sides have them, and only those that an image of status.amis runs on. Windows runs on
// amd64; the label of its build is put on nodes, and the addresses for its pods are those
// of the embedded types. Prices stay those of Linux.
func (n *NodeClass) Settings(kubelet *instancetypes.Kubelet) (instancetypes.NodeSettings, error) {
	s := instancetypes.NodeSettings{Kubelet: n.Spec.Kubelet}
	var errs []error
	if kubelet != nil {
		s.Kubelet = *kubelet
	} else {
		errs = append(errs, s.Kubelet.ValidateAt("spec.kubelet"))
	}
	f, err := n.family()
	errs = append(errs, err)
	switch n.Spec.InstanceStorePolicy {
	case "":
	case "RAID0":
		s.LocalDisks = labelLocalNVMe
	default:
		errs = append(errs, &instancetypes.CatalogFault{Field: "spec.instanceStorePolicy", Value: n.Spec.InstanceStorePolicy, Problem: "is not RAID0"})
	}
	for i, m := range n.Spec.BlockDeviceMappings {
		if size := m.size(); size != nil && (size.Sign() <= 0 || size.CmpInt64(64<<40) > 0) {
			errs = append(errs, &instancetypes.CatalogFault{
				Field: fmt.Sprintf("spec.blockDeviceMappings[%d].ebs.volumeSize", i), Value: size.String(), Problem: "is not more than zero and at most 64Ti",
			})
		}
	}
	images, err := n.images()
	errs = append(errs, err)
	s.VolumeBytes = n.volume(f)
	s.Pods, s.MemoryFollowsPods = f.pods, f.reservesForMaxPods
	if f.ignoresPodsPerCore {
		s.Kubelet.PodsPerCore = 0
	}
	if f.build != "" {
		s.Labels = map[string]string{corev1.LabelOSStable: string(corev1.Windows), corev1.LabelWindowsBuild: f.build}
		s.Devices, err = addresses()
		errs = append(errs, err)
	}
	s.Launches = func(t *instancetypes.InstanceType, o offerings.Offering) bool {
		return (f.build == "" || t.Labels[corev1.LabelArchStable] == "amd64") && reaches(n.Status.Subnets, o) &&
			(len(images) == 0 || slices.ContainsFunc(images, func(runs instancetypes.Filter) bool { return runs(t, o) }))
	}
	return s, errors.Join(errs...)
}

// volume returns the size of the volume that pods write to, in bytes.
func (n *NodeClass) volume(f family) int64 {
	mappings := n.Spec.BlockDeviceMappings
	at := slices.IndexFunc(mappings, func(m BlockDeviceMapping) bool { return m.RootVolume })
	if at < 0 || mappings[at].size() == nil {
		at = slices.IndexFunc(mappings, func(m BlockDeviceMapping) bool { return f.device != "" && m.DeviceName == f.device })
		if f.device == "" {
			at = len(mappings) - 1
		}
	}
	if at < 0 || mappings[at].size() == nil {
		return f.volume
	}
	return mappings[at].size().Value()
}

func (m *BlockDeviceMapping) size() *resource.Quantity {
	if m.EBS == nil {
		return nil
	}
	return m.EBS.VolumeSize
}

// reaches says whether one of the subnets of a class is where an offering is. A class of which
// they are not known is everywhere.
func reaches(subnets []Subnet, o offerings.Offering) bool {
	return len(subnets) == 0 || slices.ContainsFunc(subnets, func(s Subnet) bool {
		if id := o.Labels[labelZoneID]; id != "" && s.ZoneID != "" {
			return id == s.ZoneID
		}
		return o.Zone == s.Zone
	})
}

// images returns, for each image, the requirements of the machines that run it.
func (n *NodeClass) images() (out []instancetypes.Filter, err error) {
	for i, image := range n.Status.AMIs {
		set, err := requirements.FromNodeSelector(image.Requirements)
		if err != nil {
			return nil, &instancetypes.CatalogFault{Field: fmt.Sprintf("status.amis[%d].requirements", i), Problem: "is no list of requirements: " + err.Error()}
		}
		out = append(out, instancetypes.ByRequirements(set))
	}
	return out, nil
}

// addresses returns how many addresses each type has for Windows pods: those of one
// network interface less its own.
func addresses() (map[string]corev1.ResourceList, error) {
	var table facts.Shapes
	if err := embedded.Read(shapes, "shapes", &table); err != nil {
		return nil, err
	}
	out := make(map[string]corev1.ResourceList, len(table.List))
	for i := range table.List {
		if s := &table.List[i]; s.Addresses > 1 {
			out[s.Name] = corev1.ResourceList{privateIPv4: *resource.NewQuantity(s.Addresses-1, resource.DecimalSI)}
		}
	}
	return out, nil
}
