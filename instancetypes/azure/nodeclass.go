package azure

import (
	"errors"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// NodeClass is an AKSNodeClass of karpenter.azure.com/v1beta1 or v1alpha2, as far as it changes the
// capacity of nodes. Manifests decode unchanged.
type NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodeClassSpec `json:"spec"`
}

// NodeClassSpec is the desired state of the nodes.
type NodeClassSpec struct {
	// OSDiskSizeGB is the size of the disk that pods write to, in units of 10^9 bytes;
	// nil is 128.
	OSDiskSizeGB *int32 `json:"osDiskSizeGB,omitempty"`
	// MaxPods is how many pods a node admits. nil is the catalog's 110; with network
	// plugins other than kubenet AKS has other defaults.
	MaxPods *int32 `json:"maxPods,omitempty"`
	// ImageFamily is Ubuntu (the default), Ubuntu2204, Ubuntu2404 or AzureLinux.
	ImageFamily string `json:"imageFamily,omitempty"`
	// FIPSMode is FIPS for images that are validated, Disabled or empty for others.
	FIPSMode string `json:"fipsMode,omitempty"`

	// The fields below exclude sizes, and are not read; see [NodeClass.Unread].

	ArtifactStreaming map[string]any `json:"artifactStreaming,omitempty"`
	EncryptionAtHost  bool           `json:"encryptionAtHost,omitempty"`
	GPU               map[string]any `json:"gpu,omitempty"`
	LocalDNS          map[string]any `json:"localDNS,omitempty"`
	Security          map[string]any `json:"security,omitempty"`
}

// Labels by which nodes tell the operating system of their images.
const (
	labelOSSKU = "kubernetes.azure.com/os-sku"
	labelFIPS  = "kubernetes.azure.com/fips_enabled"
)

// Unread returns the paths of the fields that are set, bear on which sizes are launched,
// and are not read, sorted.
func (n *NodeClass) Unread() []string {
	s := &n.Spec
	var out []string
	for field, set := range map[string]bool{
		"artifactStreaming": len(s.ArtifactStreaming) > 0, "encryptionAtHost": s.EncryptionAtHost,
		"gpu": len(s.GPU) > 0, "localDNS": len(s.LocalDNS) > 0, "security": len(s.Security) > 0,
	} {
		if set {
			out = append(out, "spec."+field)
		}
	}
	slices.Sort(out)
	return out
}

// Settings returns the settings of the nodes of a NodePool of this class. kubelet, if not nil, is
// the one of a NodePool of v1beta1, of which maxPods counts where the class has none. The error
// reports every fault at once, as [instancetypes.CatalogFault] values.
//
// The rules are those of Karpenter's Azure provider (pkg/providers/instancetype/instancetype.go):
// the disk is all that pods write to, the kubelet's settings do not change the reserved resources,
// and the image tells the labels kubernetes.azure.com/os-sku and fips_enabled.
func (n *NodeClass) Settings(kubelet *instancetypes.Kubelet) (instancetypes.NodeSettings, error) {
	s := instancetypes.NodeSettings{VolumeBytes: osDisk, Labels: map[string]string{labelOSSKU: n.Spec.ImageFamily}}
	if kubelet != nil {
		s.Kubelet.MaxPods = kubelet.MaxPods
	}
	var errs []error
	positive := func(field string, value *int32) bool {
		if value != nil && *value <= 0 {
			errs = append(errs, &instancetypes.CatalogFault{Field: field, Value: strconv.Itoa(int(*value)), Problem: "is not more than zero"})
		}
		return value != nil
	}
	if positive("spec.maxPods", n.Spec.MaxPods) {
		pods := intstr.FromInt32(*n.Spec.MaxPods)
		s.Kubelet.MaxPods = &pods
	}
	if positive("spec.osDiskSizeGB", n.Spec.OSDiskSizeGB) {
		s.VolumeBytes = int64(*n.Spec.OSDiskSizeGB) * 1_000_000_000
	}
	switch n.Spec.ImageFamily {
	case "", "Ubuntu", "Ubuntu2204", "Ubuntu2404":
		s.Labels[labelOSSKU] = "Ubuntu"
	case "AzureLinux":
	default:
		errs = append(errs, &instancetypes.CatalogFault{Field: "spec.imageFamily", Value: n.Spec.ImageFamily, Problem: "is no family of images: known are Ubuntu, Ubuntu2204, Ubuntu2404 and AzureLinux"})
	}
	if n.Spec.FIPSMode == "FIPS" {
		s.Labels[labelFIPS] = "true"
	}
	return s, errors.Join(errs...)
}
