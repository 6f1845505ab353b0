package former

import (
	"cmp"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodePool is a NodePool of karpenter.sh/v1beta1.
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Template struct {
			Metadata scheduling.NodeMetadata `json:"metadata"`
			Spec     struct {
				Requirements           []requirements.Selector      `json:"requirements"`
				Taints                 []corev1.Taint               `json:"taints"`
				StartupTaints          []corev1.Taint               `json:"startupTaints"`
				NodeClassRef           *nodeClassRef                `json:"nodeClassRef"`
				Kubelet                json.RawMessage              `json:"kubelet"`
				ExpireAfter            *scheduling.NillableDuration `json:"expireAfter"`
				TerminationGracePeriod *metav1.Duration             `json:"terminationGracePeriod"`
			} `json:"spec"`
		} `json:"template"`
		Disruption struct {
			ConsolidationPolicy scheduling.ConsolidationPolicy `json:"consolidationPolicy"`
			ConsolidateAfter    *scheduling.NillableDuration   `json:"consolidateAfter"`
			ExpireAfter         *scheduling.NillableDuration   `json:"expireAfter"`
			Budgets             []scheduling.Budget            `json:"budgets"`
		} `json:"disruption"`
		Limits   corev1.ResourceList `json:"limits"`
		Weight   *int32              `json:"weight"`
		Replicas *int64              `json:"replicas"`
	} `json:"spec"`
}

// nodeClassRef refers to a node class by its API version, where v1 has the group alone.
type nodeClassRef struct {
	APIVersion string `json:"apiVersion"`
	Group      string `json:"group"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// Converted returns the pool in the form of karpenter.sh/v1, as Karpenter converts it: expireAfter moves from
// spec.disruption to the template, and the kubelet's settings, unchecked, to an annotation.
func (p *NodePool) Converted() *scheduling.NodePool {
	template, disruption := p.Spec.Template.Spec, p.Spec.Disruption
	out := &scheduling.NodePool{ObjectMeta: p.ObjectMeta}
	out.APIVersion, out.Kind = karpenterGroup+"/v1", p.Kind
	out.Spec = scheduling.NodePoolSpec{
		Template: scheduling.NodeTemplate{
			Metadata: p.Spec.Template.Metadata,
			Spec: scheduling.NodeTemplateSpec{
				Requirements: template.Requirements, Taints: template.Taints, StartupTaints: template.StartupTaints,
				ExpireAfter: template.ExpireAfter, TerminationGracePeriod: template.TerminationGracePeriod,
			},
		},
		Disruption: scheduling.Disruption{
			ConsolidationPolicy: disruption.ConsolidationPolicy, ConsolidateAfter: disruption.ConsolidateAfter, Budgets: disruption.Budgets,
		},
		Limits: p.Spec.Limits, Weight: p.Spec.Weight, Replicas: p.Spec.Replicas,
	}
	if disruption.ConsolidationPolicy == scheduling.WhenUnderutilized {
		out.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
	}
	if disruption.ExpireAfter != nil {
		out.Spec.Template.Spec.ExpireAfter = disruption.ExpireAfter
	}
	if ref := template.NodeClassRef; ref != nil {
		group, _, versioned := strings.Cut(ref.APIVersion, "/")
		if !versioned {
			group = ""
		}
		out.Spec.Template.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: cmp.Or(ref.Group, group), Kind: ref.Kind, Name: ref.Name}
	}
	if kubelet := string(template.Kubelet); kubelet != "" && kubelet != "null" {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, scheduling.KubeletAnnotation, kubelet)
	}
	return out
}
