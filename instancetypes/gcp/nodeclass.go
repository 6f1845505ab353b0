package gcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// NodeClass is a GCENodeClass of karpenter.k8s.gcp/v1alpha1, as far as it changes the capacity of
// nodes. Manifests decode unchanged.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodeClassSpec `json:"spec"`
}

// NodeClassSpec is the desired state of the nodes.
type NodeClassSpec struct {
	// Disks are the disks of nodes; without any it is a boot disk of 100 GiB.
	Disks []Disk `json:"disks,omitempty"`
	// ImageFamily is ContainerOptimizedOS or Ubuntu; without it the terms tell.
	ImageFamily        string              `json:"imageFamily,omitempty"`
	ImageSelectorTerms []ImageSelectorTerm `json:"imageSelectorTerms,omitempty"`
	// Kubelet holds the settings of the kubelet. maxPods is 110 unless set.
	Kubelet instancetypes.Kubelet `json:"kubeletConfiguration,omitzero"`

	// The fields below change launches or permissions, and are not read; see [NodeClass.Unread].

	AutoGPUTaint             bool   `json:"autoGPUTaint,omitempty"`
	ConfidentialInstanceType string `json:"confidentialInstanceType,omitempty"`
}

// Disk is a disk of a node.
type Disk struct {
	// SizeGiB is its size in units of 2^30 bytes, at least 10.
	SizeGiB int32 `json:"sizeGiB,omitempty"`
	// Category is its kind, e.g. pd-balanced. Pods write to disks of kind local-ssd.
	Category string `json:"category,omitempty"`
	// Boot says that the node boots from it. Pods write to it where no disk is local.
	Boot bool `json:"boot,omitempty"`
}

// ImageSelectorTerm chooses images.
type ImageSelectorTerm struct {
	Alias  string `json:"alias,omitempty"`
	Family string `json:"family,omitempty"`
}

// Unread returns the paths of the fields that are set, change launches or permissions, and are not
// read, sorted.
func (n *NodeClass) Unread() []string {
	var out []string
	if n.Spec.AutoGPUTaint {
		out = append(out, "spec.autoGPUTaint")
	}
	if n.Spec.ConfidentialInstanceType != "" {
		out = append(out, "spec.confidentialInstanceType")
	}
	return out
}

// Settings returns the settings of the nodes of a NodePool of this class. kubelet, if not nil,
// takes the place of the class's own. The error reports every fault at once, as
// [instancetypes.CatalogFault] values.
//
// The rules are those of Karpenter's provider for Google Cloud (pkg/providers/instancetype): pods
// write to the local disks that the class asks for, or to the boot disk; systemReserved is added to
// the request of kube-proxy.
func (n *NodeClass) Settings(kubelet *instancetypes.Kubelet) (instancetypes.NodeSettings, error) {
	s := instancetypes.NodeSettings{Kubelet: n.Spec.Kubelet}
	var errs []error
	if kubelet != nil {
		s.Kubelet = *kubelet
	} else {
		errs = append(errs, s.Kubelet.ValidateAt("spec.kubeletConfiguration"))
	}
	s.Kubelet.SystemReserved = maps.Clone(s.Kubelet.SystemReserved)
	if cpu, err := resource.ParseQuantity(s.Kubelet.SystemReserved["cpu"]); err == nil {
		cpu.Add(*resource.NewMilliQuantity(kubeProxy, resource.DecimalSI))
		s.Kubelet.SystemReserved["cpu"] = cpu.String()
	}
	if len(n.Spec.Disks) > 0 {
		disk, err := n.storage()
		errs = append(errs, err)
		s.VolumeBytes = disk.gib * gib
		s.Kubelet.KubeReserved = maps.Clone(s.Kubelet.KubeReserved)
		if _, set := s.Kubelet.KubeReserved["ephemeral-storage"]; !set {
			if s.Kubelet.KubeReserved == nil {
				s.Kubelet.KubeReserved = map[string]string{}
			}
			s.Kubelet.KubeReserved["ephemeral-storage"] = fmt.Sprintf("%dGi", disk.reserved())
		}
	}
	family, err := n.family()
	errs = append(errs, err)
	if family == "Ubuntu" {
		s.Labels = map[string]string{labelOS: "ubuntu"}
	}
	return s, errors.Join(errs...)
}

// storage is the total size of the class's disks.
func (n *NodeClass) storage() (storage, error) {
	boot, local := int64(bootDisk), storage{}
	var errs []error
	for i, d := range n.Spec.Disks {
		if (d.Boot || d.Category == "local-ssd") && d.SizeGiB < 10 {
			errs = append(errs, &instancetypes.CatalogFault{Field: fmt.Sprintf("spec.disks[%d].sizeGiB", i), Value: strconv.Itoa(int(d.SizeGiB)), Problem: "is less than 10"})
		}
		switch {
		case d.Boot:
			boot = int64(d.SizeGiB)
		case d.Category == "local-ssd":
			local.gib, local.localDisks = local.gib+int64(d.SizeGiB), local.localDisks+1
		}
	}
	if local.localDisks == 0 {
		local.gib = boot
	}
	return local, errors.Join(errs...)
}

// family is the one of the class's images; empty if images are named one by one.
func (n *NodeClass) family() (string, error) {
	known := []string{"ContainerOptimizedOS", "Ubuntu", "Ubuntu2404", "Ubuntu2204"}
	field, name := "spec.imageFamily", n.Spec.ImageFamily
	for i, term := range n.Spec.ImageSelectorTerms {
		if name != "" {
			break
		}
		if alias, _, _ := strings.Cut(term.Alias, "@"); alias != "" {
			field, name = fmt.Sprintf("spec.imageSelectorTerms[%d].alias", i), alias
		} else if term.Family != "" {
			field, name = fmt.Sprintf("spec.imageSelectorTerms[%d].family", i), term.Family
		}
	}
	if name != "" && !slices.Contains(known, name) {
		return "", &instancetypes.CatalogFault{Field: field, Value: name, Problem: "is no family of images: known are " + strings.Join(known, ", ")}
	}
	if strings.HasPrefix(name, "Ubuntu") {
		return "Ubuntu", nil
	}
	return name, nil
}
