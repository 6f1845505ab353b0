package manifest

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeTemplate is what Karpenter had in place of EC2NodeClasses up to version 0.31.
type nodeTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   nodeSettings    `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// nodeSettings are those of an AWSNodeTemplate. In older Provisioners they stand in
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

// nodeTemplate reads an AWSNodeTemplate as the EC2NodeClass that Karpenter's guide to
// v1beta1 makes of it.
func (c *collector) nodeTemplate(o rawObject) {
	f, ok := take[nodeTemplate](c, o, false)
	if !ok {
		return
	}
	message := "was read as EC2NodeClass " + f.obj.Name
	if f.obj.Spec.LaunchTemplate != "" {
		message += "; spec.launchTemplate is not read"
	}
	c.warn(warned(o.kind, f.obj), message)
	c.convert(o.at, "EC2NodeClass", awsGroup, map[string]any{"metadata": f.obj.ObjectMeta, "spec": f.obj.Spec.fields(), "status": f.obj.Status})
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

// convert reads an object that another one of the input was made into.
func (c *collector) convert(at Location, name, group string, fields map[string]any) {
	apiVersion := group + "/v1beta1"
	fields["kind"], fields["apiVersion"] = name, apiVersion
	raw, err := json.Marshal(fields)
	if err != nil {
		c.fault(&Fault{At: at, Object: name, Message: err.Error()})
		return
	}
	c.add(rawObject{at: at, apiVersion: apiVersion, kind: name, json: raw})
}
