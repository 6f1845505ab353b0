package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// formerPoolLabel carried the name of a node's Provisioner, as [scheduling.NodePoolLabel]
// does that of its NodePool.
const formerPoolLabel = karpenterGroup + "/provisioner-name"

// provisioner is what Karpenter had in place of NodePools up to version 0.31.
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

// provisioner reads a Provisioner as the NodePool that Karpenter's guide to v1beta1 makes
// of it. What it left unsaid stays as it was in 0.31: nothing is consolidated, nothing
// expires, and the requirements are those that Karpenter added on admission.
func (c *collector) provisioner(o rawObject) {
	f, ok := take[provisioner](c, o, false)
	if !ok {
		return
	}
	p := f.obj
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
		c.convert(o.at, "EC2NodeClass", awsGroup, map[string]any{"metadata": map[string]any{"name": class}, "spec": p.Spec.Provider.fields()})
		told = append(told, "spec.provider as EC2NodeClass "+class)
	}
	if class != "" {
		template["nodeClassRef"] = map[string]any{"apiVersion": awsGroup + "/v1beta1", "kind": "EC2NodeClass", "name": class}
	}
	if len(added) > 0 {
		told = append(told, "as Karpenter 0.31 did, it requires "+strings.Join(texts(added), ", "))
	}
	c.warn(warned(o.kind, p), "was read as NodePool "+p.Name+": "+strings.Join(append(told, "pods select its nodes by "+scheduling.NodePoolLabel), "; "))
	c.convert(o.at, "NodePool", karpenterGroup, map[string]any{
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

// missing returns the requirements that Karpenter 0.31 added to those of a Provisioner.
func (p *provisioner) missing() []requirements.Selector {
	const aws = awsGroup + "/instance-"
	named := func(keys ...string) bool {
		return slices.ContainsFunc(p.Spec.Requirements, func(r requirements.Selector) bool { return slices.Contains(keys, r.Key) })
	}
	in := func(key string, values ...string) requirements.Selector {
		return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
	}
	var out []requirements.Selector
	for _, r := range []requirements.Selector{
		in(corev1.LabelOSStable, string(corev1.Linux)),
		in(corev1.LabelArchStable, "amd64"),
		in(scheduling.CapacityTypeLabel, "on-demand"),
	} {
		if !named(r.Key) {
			out = append(out, r)
		}
	}
	if !named(corev1.LabelInstanceTypeStable, aws+"family", aws+"category", aws+"generation") {
		out = append(out, in(aws+"category", "c", "m", "r"),
			requirements.Selector{Key: aws + "generation", Operator: requirements.Gt, Values: []string{"2"}})
	}
	return out
}

// texts writes requirements for people.
func texts(list []requirements.Selector) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, " "))
	}
	return out
}

// disruption returns the fields of v1beta1 for when nodes go, and what there is to tell of
// them.
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
