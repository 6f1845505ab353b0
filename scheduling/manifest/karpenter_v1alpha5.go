package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// formerPoolLabel carried the name of a node's Provisioner, as [scheduling.NodePoolLabel]
// does that of its NodePool.
const formerPoolLabel = karpenterGroup + "/provisioner-name"

// provisioner is the predecessor of NodePools in Karpenter up to version 0.31.
type provisioner struct {
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

// readProvisioner reads a Provisioner as the NodePool that Karpenter's guide to v1beta1 converts it to.
// Defaults are the ones of 0.31: no consolidation, no expiry, and the requirements that Karpenter
// added on admission.
func readProvisioner(c *collector, o rawObject) {
	p, ok := take[provisioner](c, o, false, nil)
	if !ok {
		return
	}
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
		c.convert(o.at, "EC2NodeClass", awsGroup, "v1beta1", map[string]any{"metadata": map[string]any{"name": class}, "spec": p.Spec.Provider.fields()})
		told = append(told, "spec.provider as EC2NodeClass "+class)
	}
	if class != "" {
		template["nodeClassRef"] = map[string]any{"apiVersion": awsGroup + "/v1beta1", "kind": "EC2NodeClass", "name": class}
	}
	if len(added) > 0 {
		told = append(told, "as Karpenter 0.31 did, it requires "+strings.Join(lo.Map(added, func(r requirements.Selector, _ int) string {
			return fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, " "))
		}), ", "))
	}
	c.found.warn(warned(o.kind, p), "was read as NodePool "+p.Name+": "+strings.Join(append(told, "pods select its nodes by "+scheduling.NodePoolLabel), "; "))
	c.convert(o.at, "NodePool", karpenterGroup, "v1beta1", map[string]any{
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
	})
}

// missing returns the requirements that Karpenter 0.31 added to a Provisioner.
func (p *provisioner) missing() []requirements.Selector {
	const aws = awsGroup + "/instance-"
	named := func(keys ...string) bool {
		return slices.ContainsFunc(p.Spec.Requirements, func(r requirements.Selector) bool { return slices.Contains(keys, r.Key) })
	}
	out := lo.Reject(plainMachines(), func(r requirements.Selector, _ int) bool { return named(r.Key) })
	if !named(corev1.LabelInstanceTypeStable, aws+"family", aws+"category", aws+"generation") {
		out = append(out, oneOf(aws+"category", "c", "m", "r"), moreThan(aws+"generation", "2"))
	}
	return out
}

// disruption returns the fields of v1beta1 for the removal of nodes, and notes for the warning.
func (p *provisioner) disruption() (fields map[string]any, told []string) {
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

// nodeTemplate is the predecessor of EC2NodeClasses in Karpenter up to version 0.31.
type nodeTemplate struct {
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

// readNodeTemplate reads an AWSNodeTemplate as the EC2NodeClass that Karpenter's guide to
// v1beta1 makes of it.
func readNodeTemplate(c *collector, o rawObject) {
	t, ok := take[nodeTemplate](c, o, false, nil)
	if !ok {
		return
	}
	message := "was read as EC2NodeClass " + t.Name
	if t.Spec.LaunchTemplate != "" {
		message += "; spec.launchTemplate is not read"
	}
	c.found.warn(warned(o.kind, t), message)
	c.convert(o.at, "EC2NodeClass", awsGroup, "v1beta1", map[string]any{"metadata": t.ObjectMeta, "spec": t.Spec.fields(), "status": t.Status})
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
