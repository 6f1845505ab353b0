package former

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// The API groups of Karpenter and of its AWS provider.
const (
	karpenterGroup = "karpenter.sh"
	awsGroup       = "karpenter.k8s.aws"
)

// version is the API version that objects of Karpenter 0.31 are converted to.
const version = "v1beta1"

// PoolLabel carried the name of a node's Provisioner, as [scheduling.NodePoolLabel]
// does that of its NodePool.
const PoolLabel = karpenterGroup + "/provisioner-name"

// Conversion is the result of converting an object of a former kind.
type Conversion struct {
	// Results take the place of the object; a NodePool comes after its node class.
	Results []Object
	// Message says how the object was read, in words that follow its name.
	Message string
}

// Object is an object of a kind that took the place of a former one. Fields lacks kind and
// apiVersion.
type Object struct {
	Kind, Group, Version string
	Fields               map[string]any
}

// nodeClass is an EC2NodeClass.
func nodeClass(fields map[string]any) Object {
	return Object{Kind: "EC2NodeClass", Group: awsGroup, Version: version, Fields: fields}
}

// Provisioner is the predecessor of NodePools in Karpenter up to version 0.31.
type Provisioner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Annotations          map[string]string       `json:"annotations"`
		Labels               map[string]string       `json:"labels"`
		Taints               []corev1.Taint          `json:"taints"`
		StartupTaints        []corev1.Taint          `json:"startupTaints"`
		Requirements         []requirements.Selector `json:"requirements"`
		KubeletConfiguration json.RawMessage         `json:"kubeletConfiguration"`
		Provider             *nodeSettings           `json:"provider"`
		ProviderRef          *struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"providerRef"`
		Limits struct {
			Resources json.RawMessage `json:"resources"`
		} `json:"limits"`
		Weight                 *int32 `json:"weight"`
		TTLSecondsAfterEmpty   *int64 `json:"ttlSecondsAfterEmpty"`
		TTLSecondsUntilExpired *int64 `json:"ttlSecondsUntilExpired"`
		Consolidation          struct {
			Enabled bool `json:"enabled"`
		} `json:"consolidation"`
	} `json:"spec"`
}

// Converted returns the NodePool that Karpenter's guide to v1beta1 converts a Provisioner to, and the
// EC2NodeClass of its spec.provider. Defaults are the ones of 0.31: no consolidation, no expiry, and
// the requirements that Karpenter added on admission.
func (p *Provisioner) Converted() Conversion {
	var out Conversion
	added := p.missing()
	disruption, told := p.disruption()
	template := map[string]any{
		"requirements":  slices.Concat(p.Spec.Requirements, added),
		"taints":        p.Spec.Taints,
		"startupTaints": p.Spec.StartupTaints,
		"kubelet":       p.Spec.KubeletConfiguration,
	}
	class := ""
	switch {
	case p.Spec.ProviderRef != nil:
		class = p.Spec.ProviderRef.Name
	case p.Spec.Provider != nil:
		class = p.Name
		out.Results = append(out.Results, nodeClass(map[string]any{"metadata": map[string]any{"name": class}, "spec": p.Spec.Provider.fields()}))
		told = append(told, "spec.provider as EC2NodeClass "+class)
	}
	if class != "" {
		template["nodeClassRef"] = map[string]any{"apiVersion": awsGroup + "/" + version, "kind": "EC2NodeClass", "name": class}
	}
	if len(added) > 0 {
		told = append(told, "as Karpenter 0.31 did, it requires "+strings.Join(lo.Map(added, func(r requirements.Selector, _ int) string {
			return fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, " "))
		}), ", "))
	}
	out.Message = "was read as NodePool " + p.Name + ": " + strings.Join(append(told, "pods select its nodes by "+scheduling.NodePoolLabel), "; ")
	out.Results = append(out.Results, Object{Kind: "NodePool", Group: karpenterGroup, Version: version, Fields: map[string]any{
		"metadata": p.ObjectMeta,
		"spec": map[string]any{
			"template": map[string]any{
				"metadata": map[string]any{"labels": p.Spec.Labels, "annotations": p.Spec.Annotations},
				"spec":     template,
			},
			"disruption": disruption,
			"limits":     p.Spec.Limits.Resources,
			"weight":     p.Spec.Weight,
		},
	}})
	return out
}

// missing returns the requirements that Karpenter 0.31 added to a Provisioner.
func (p *Provisioner) missing() []requirements.Selector {
	const aws = awsGroup + "/instance-"
	named := func(keys ...string) bool {
		return slices.ContainsFunc(p.Spec.Requirements, func(r requirements.Selector) bool { return slices.Contains(keys, r.Key) })
	}
	oneOf := func(key string, values ...string) requirements.Selector {
		return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
	}
	out := lo.Reject([]requirements.Selector{
		oneOf(corev1.LabelArchStable, "amd64"), oneOf(corev1.LabelOSStable, string(corev1.Linux)), oneOf(offerings.CapacityTypeLabel, string(offerings.OnDemand)),
	}, func(r requirements.Selector, _ int) bool { return named(r.Key) })
	if !named(corev1.LabelInstanceTypeStable, aws+"family", aws+"category", aws+"generation") {
		out = append(out, oneOf(aws+"category", "c", "m", "r"), requirements.Selector{Key: aws + "generation", Operator: requirements.Gt, Values: []string{"2"}})
	}
	return out
}

// disruption returns the fields of v1beta1 for the removal of nodes, and notes for the warning.
func (p *Provisioner) disruption() (fields map[string]any, told []string) {
	const never = "Never"
	fields = map[string]any{"consolidationPolicy": "WhenEmpty", "consolidateAfter": never, "expireAfter": never}
	seconds := func(n *int64) string { return fmt.Sprintf("%ds", *n) }
	switch empty := p.Spec.TTLSecondsAfterEmpty; {
	case p.Spec.Consolidation.Enabled:
		fields["consolidationPolicy"] = "WhenUnderutilized"
		delete(fields, "consolidateAfter")
		told = append(told, "consolidation.enabled as consolidationPolicy WhenEmptyOrUnderutilized")
	case empty != nil:
		fields["consolidateAfter"] = seconds(empty)
		told = append(told, fmt.Sprintf("ttlSecondsAfterEmpty as consolidationPolicy WhenEmpty with consolidateAfter %ds", *empty))
	default:
		told = append(told, "without consolidation, as it has neither consolidation.enabled nor ttlSecondsAfterEmpty")
	}
	if expire := p.Spec.TTLSecondsUntilExpired; expire != nil {
		fields["expireAfter"] = seconds(expire)
		told = append(told, "ttlSecondsUntilExpired as expireAfter "+seconds(expire))
	}
	return fields, told
}

// NodeTemplate is the predecessor of EC2NodeClasses in Karpenter up to version 0.31.
type NodeTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   nodeSettings    `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// nodeSettings are the settings of an AWSNodeTemplate. Older Provisioners have them in
// spec.provider.
type nodeSettings struct {
	metav1.TypeMeta `json:",inline"`

	AMIFamily             string            `json:"amiFamily"`
	AMISelector           map[string]string `json:"amiSelector"`
	SubnetSelector        map[string]string `json:"subnetSelector"`
	SecurityGroupSelector map[string]string `json:"securityGroupSelector"`
	BlockDeviceMappings   json.RawMessage   `json:"blockDeviceMappings"`
	Context               json.RawMessage   `json:"context"`
	DetailedMonitoring    json.RawMessage   `json:"detailedMonitoring"`
	InstanceProfile       json.RawMessage   `json:"instanceProfile"`
	LaunchTemplate        string            `json:"launchTemplate"`
	MetadataOptions       json.RawMessage   `json:"metadataOptions"`
	Tags                  map[string]string `json:"tags"`
	UserData              json.RawMessage   `json:"userData"`
}

// Converted returns the EC2NodeClass that Karpenter's guide to v1beta1 makes of an AWSNodeTemplate.
func (t *NodeTemplate) Converted() Conversion {
	message := "was read as EC2NodeClass " + t.Name
	if t.Spec.LaunchTemplate != "" {
		message += "; spec.launchTemplate is not read"
	}
	return Conversion{Message: message, Results: []Object{
		nodeClass(map[string]any{"metadata": t.ObjectMeta, "spec": t.Spec.fields(), "status": t.Status}),
	}}
}

// fields returns the specification of an EC2NodeClass of v1beta1. Without a family of
// images it was that of Amazon Linux 2.
func (s *nodeSettings) fields() map[string]any {
	fields := map[string]any{
		"amiFamily":                  "AL2",
		"amiSelectorTerms":           terms(s.AMISelector),
		"subnetSelectorTerms":        terms(s.SubnetSelector),
		"securityGroupSelectorTerms": terms(s.SecurityGroupSelector),
		"blockDeviceMappings":        s.BlockDeviceMappings,
		"detailedMonitoring":         s.DetailedMonitoring,
		"instanceProfile":            s.InstanceProfile,
		"metadataOptions":            s.MetadataOptions,
		"tags":                       s.Tags,
		"userData":                   s.UserData,
	}
	if s.AMIFamily != "" {
		fields["amiFamily"] = s.AMIFamily
	}
	return fields
}

// terms returns the terms of v1beta1 for a selector by tags or, under one key, by ids.
func terms(selector map[string]string) []map[string]any {
	for _, key := range []string{"aws-ids", "aws::ids"} {
		if ids, ok := selector[key]; ok {
			var out []map[string]any
			for id := range strings.SplitSeq(ids, ",") {
				out = append(out, map[string]any{"id": strings.TrimSpace(id)})
			}
			return out
		}
	}
	if len(selector) == 0 {
		return nil
	}
	return []map[string]any{{"tags": selector}}
}
