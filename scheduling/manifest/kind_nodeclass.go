package manifest

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/samber/lo"
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
	const image, volume = "spec.amiSelectorTerms[*].", "spec.blockDeviceMappings[*].ebs."
	takeClass[ec2.NodeClass](c, o, append([]string{
		"spec.context", "spec.connectionTracking", "spec.detailedMonitoring", "spec.instanceProfile", "spec.ipPrefixCount",
		"spec.metadataOptions", "spec.role", "spec.securityGroupSelectorTerms", "spec.tags",
		image + "id", image + "name", image + "owner", image + "ssmParameter", image + "tags",
		volume + "deleteOnTermination", volume + "encrypted", volume + "iops", volume + "kmsKeyID", volume + "snapshotID",
		volume + "throughput", volume + "volumeInitializationRate", volume + "volumeType",
	}, idleKubelet(path{}.key("spec", "kubelet"))...))
}

// idleKubelet are the settings of a kubelet that do not change what its node holds, below a
// path.
func idleKubelet(at path) []string {
	names := []string{
		"clusterDNS", "containerRuntime", "cpuCFSQuota", "evictionMaxPodGracePeriod", "evictionSoft", "evictionSoftGracePeriod",
		"imageGCHighThresholdPercent", "imageGCLowThresholdPercent",
	}
	return lo.Map(names, func(name string, _ int) string { return at.key(name).String() })
}

func (c *collector) aksNodeClass(o rawObject) {
	takeClass[azure.NodeClass](c, o, []string{"spec.imageVersion", "spec.kubelet", "spec.linuxOSConfig", "spec.tags", "spec.vnetSubnetID"})
}

func (c *collector) kwokNodeClass(o rawObject) { takeClass[kwokNodeClass](c, o, nil) }

// takeClass takes a node class in. harmless are the fields that have no say in
// what nodes hold.
func takeClass[T any, P interface {
	*T
	metav1.Object
	nodeClass
}](c *collector, o rawObject, harmless []string) {
	f, ok := take[T, P](c, o, false)
	for _, field := range harmless {
		delete(c.unknown, unknownField{o.kind, field})
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
	idle := idleKubelet(at)
	for _, field := range types.unknown {
		if !slices.Contains(idle, field.String()) {
			c.warn("NodePool/"+pool.Name, field.String()+" is not known and was ignored")
		}
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
