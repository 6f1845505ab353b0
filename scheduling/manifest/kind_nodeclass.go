package manifest

import (
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// nodeClass is what says how the nodes of a NodePool are set up.
type nodeClass interface {
	// Settings returns it; kubelet, if not nil, is the NodePool's own.
	Settings(kubelet *instancetypes.Kubelet) (instancetypes.NodeSettings, error)
	// Unread names the fields that decide something and are not read.
	Unread() []string
}

// kwokNodeClass decides nothing.
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

func (c *collector) ec2NodeClass(o rawObject) {
	takeClass[ec2.NodeClass](c, o, []string{
		"context", "connectionTracking", "detailedMonitoring", "instanceProfile", "ipPrefixCount", "metadataOptions",
		"role", "securityGroupSelectorTerms", "tags",
		"amiSelectorTerms[*].id", "amiSelectorTerms[*].name", "amiSelectorTerms[*].owner", "amiSelectorTerms[*].ssmParameter",
		"amiSelectorTerms[*].tags",
		"blockDeviceMappings[*].ebs.deleteOnTermination", "blockDeviceMappings[*].ebs.encrypted",
		"blockDeviceMappings[*].ebs.iops", "blockDeviceMappings[*].ebs.kmsKeyID", "blockDeviceMappings[*].ebs.snapshotID",
		"blockDeviceMappings[*].ebs.throughput", "blockDeviceMappings[*].ebs.volumeInitializationRate",
		"blockDeviceMappings[*].ebs.volumeType",
		"kubelet.clusterDNS", "kubelet.cpuCFSQuota", "kubelet.evictionMaxPodGracePeriod", "kubelet.evictionSoft",
		"kubelet.evictionSoftGracePeriod", "kubelet.imageGCHighThresholdPercent", "kubelet.imageGCLowThresholdPercent",
	})
}

func (c *collector) aksNodeClass(o rawObject) {
	takeClass[azure.NodeClass](c, o, []string{"imageVersion", "kubelet", "linuxOSConfig", "tags", "vnetSubnetID"})
}

func (c *collector) kwokNodeClass(o rawObject) { takeClass[kwokNodeClass](c, o, nil) }

// takeClass takes a node class in. harmless are the fields of its specification that
// have no say in what nodes hold.
func takeClass[T any, P interface {
	*T
	metav1.Object
	nodeClass
}](c *collector, o rawObject, harmless []string) {
	f, ok := take[T, P](c, o, false)
	for _, field := range harmless {
		delete(c.unknown, unknownField{o.kind, "spec." + field})
	}
	if !ok {
		return
	}
	if _, err := f.obj.Settings(nil); err != nil {
		c.foreign(o, err)
		return
	}
	group, _ := splitVersion(o.apiVersion)
	c.classes[scheduling.NodeClassRef{Group: group, Kind: o.kind, Name: f.obj.GetName()}] = f.obj
}

// poolKubelet looks at the kubelet settings that a NodePool of v1beta1 has.
func (c *collector) poolKubelet(o rawObject, pool *scheduling.NodePool) {
	raw, ok := pool.Annotations[scheduling.KubeletAnnotation]
	if !ok {
		return
	}
	at := path{}.key("metadata", "annotations", scheduling.KubeletAnnotation)
	if _, version := splitVersion(o.apiVersion); version == "v1beta1" {
		at = path{}.key("spec", "template", "spec", "kubelet")
	}
	report := func(field, value, message string) {
		c.fault(&Fault{At: o.at, Object: refOf(o), Field: field, Value: value, Message: message})
	}
	tree, _, err := parseTree([]byte(raw))
	if err != nil {
		report(at.String(), "", "is no JSON: "+err.Error())
		return
	}
	types := typeChecker{}
	types.check(tree, reflect.TypeFor[instancetypes.Kubelet](), at)
	for _, f := range types.faults {
		report(f.field, f.value, f.msg)
	}
	if len(types.faults) > 0 {
		return
	}
	kubelet, err := kubeletOf(pool)
	if err == nil {
		err = kubelet.Validate()
	}
	if err != nil {
		c.foreign(o, err)
		return
	}
	for _, field := range kubelet.Expressions() {
		c.warn("NodePool/"+pool.Name, at.String()+"."+field+" is an expression, which is not evaluated: the default is assumed")
	}
}

// kubeletOf returns the kubelet settings of a NodePool of v1beta1; nil where there are
// none.
func kubeletOf(pool *scheduling.NodePool) (*instancetypes.Kubelet, error) {
	raw, ok := pool.Annotations[scheduling.KubeletAnnotation]
	if !ok {
		return nil, nil
	}
	k := &instancetypes.Kubelet{}
	return k, json.Unmarshal([]byte(raw), k)
}

// classOf returns the node class that a NodePool refers to, as far as it says group and
// kind; nil where it has none or the input lacks it.
func classOf(classes map[scheduling.NodeClassRef]nodeClass, ref *scheduling.NodeClassRef) nodeClass {
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
