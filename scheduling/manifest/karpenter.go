package manifest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/samber/lo"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/former"
)

// readNodeOverlay reads a NodeOverlay.
func readNodeOverlay(c *collector, o rawObject) {
	overlay, ok := take(c, o, false, func(overlay *instancetypes.NodeOverlay) []fieldFault {
		return faultsOf(overlay.Validate(), "")
	})
	if ok {
		c.objects.overlays = append(c.objects.overlays, overlay)
	}
}

// readFormer reads an object of a kind of Karpenter up to version 0.31 as the objects that it is
// converted to, with a warning that states them.
func readFormer[T any, P interface {
	object[T]
	Converted() former.Conversion
}](c *collector, o rawObject) {
	obj, ok := take[T, P](c, o, false, nil)
	if !ok {
		return
	}
	conversion := obj.Converted()
	c.found.note(warned(o.kind, obj), conversion.Message)
	for _, made := range conversion.Results {
		c.convert(o.at, made.Kind, made.Group, made.Version, made.Fields)
	}
}

// nodeClass holds the settings of the nodes of a NodePool.
type nodeClass interface {
	// Settings returns it; kubelet, if not nil, is the NodePool's own.
	Settings(kubelet *instancetypes.Kubelet) (instancetypes.NodeSettings, error)
	// Unread names the fields that decide something and are not read.
	Unread() []string
}

// kwokNodeClass has no settings.
type kwokNodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		NodeRegistrationDelay json.RawMessage `json:"nodeRegistrationDelay"`
	} `json:"spec"`
}

// Settings implements [nodeClass].
func (*kwokNodeClass) Settings(*instancetypes.Kubelet) (s instancetypes.NodeSettings, err error) {
	return s, nil
}

// Unread implements [nodeClass].
func (*kwokNodeClass) Unread() []string { return nil }

// ec2Unread are the fields of an EC2NodeClass that do not change the capacity of nodes.
func ec2Unread() []string {
	const image, volume = "spec.amiSelectorTerms[*].", "spec.blockDeviceMappings[*].ebs."
	return append([]string{
		"spec.context", "spec.connectionTracking", "spec.detailedMonitoring", "spec.instanceProfile", "spec.ipPrefixCount",
		"spec.metadataOptions", "spec.role", "spec.securityGroupSelectorTerms", "spec.tags",
		image + "id", image + "name", image + "owner", image + "ssmParameter", image + "tags",
		volume + "deleteOnTermination", volume + "encrypted", volume + "iops", volume + "kmsKeyID", volume + "snapshotID",
		volume + "throughput", volume + "volumeInitializationRate", volume + "volumeType",
	}, kubeletUnread("spec.kubelet")...)
}

// autoUnread are the fields of a NodeClass of EKS Auto Mode that do not change the capacity of
// nodes.
func autoUnread() []string {
	const storage = "spec.ephemeralStorage."
	return []string{
		"spec.advancedSecurity", "spec.certificateBundles", "spec.instanceProfile", "spec.networkPolicy", "spec.networkPolicyEventLogs",
		"spec.podSecurityGroupSelectorTerms", "spec.podSubnetSelectorTerms", "spec.role", "spec.securityGroupSelectorTerms", "spec.snatPolicy", "spec.tags",
		storage + "iops", storage + "kmsKeyID", storage + "throughput",
	}
}

// gcpUnread are the fields of a GCENodeClass that do not change the capacity of nodes.
func gcpUnread() []string {
	const disk, image = "spec.disks[*].", "spec.imageSelectorTerms[*]."
	return append([]string{
		"spec.gpuDriverVersion", "spec.labels", "spec.metadata", "spec.networkConfig", "spec.networkTags", "spec.serviceAccount",
		"spec.shieldedInstanceConfig", "spec.subnetRangeName",
		disk + "kmsKeyName", disk + "kmsKeyServiceAccount", disk + "provisionedIOPS", disk + "provisionedThroughput",
		disk + "secondaryBootImage", disk + "secondaryBootMode", image + "channel", image + "id", image + "version",
	}, kubeletUnread("spec.kubeletConfiguration")...)
}

// kubeletUnread are the settings of a kubelet that do not change the capacity of its node, below a
// path.
func kubeletUnread(at string) []string {
	names := strings.Fields("clusterDNS containerRuntime cpuCFSQuota evictionMaxPodGracePeriod evictionSoft evictionSoftGracePeriod " +
		"imageGCHighThresholdPercent imageGCLowThresholdPercent")
	return lo.Map(names, func(name string, _ int) string { return strict.Below(at, name) })
}

// takeClass reads node classes of a kind. unread are the fields that do not change the capacity of
// nodes.
func takeClass[T any, P interface {
	object[T]
	nodeClass
}](unread []string) func(*collector, rawObject) {
	return func(c *collector, o rawObject) {
		class, ok := take(c, o, false, func(class P) []fieldFault {
			_, err := class.Settings(nil)
			return faultsOf(err, "")
		})
		for _, field := range unread {
			delete(c.unread.fields, unknownField{o.kind, field})
		}
		if ok {
			c.objects.classes[scheduling.NodeClassRef{Group: o.group().group, Kind: o.kind, Name: class.GetName()}] = class
		}
	}
}

// classNamed returns the node class that a NodePool refers to, as far as it says group and
// kind; nil where it has none or the input lacks it.
func classNamed(classes map[scheduling.NodeClassRef]nodeClass, ref *scheduling.NodeClassRef) nodeClass {
	if ref == nil {
		return nil
	}
	if class, ok := classes[*ref]; ok {
		return class
	}
	var found []nodeClass
	for key, class := range classes {
		if key.Name == ref.Name && slices.Contains([]string{"", key.Group}, ref.Group) && slices.Contains([]string{"", key.Kind}, ref.Kind) {
			found = append(found, class)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
