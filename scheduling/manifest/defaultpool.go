package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// DefaultNodePool returns a NodePool for manifests that hold none, to answer what
// they would cost: every type that runs Linux on amd64, on demand, and can keep up its
// full speed, which EC2's burstable family t cannot. Images that run on arm64, and pods
// that bear an interruption, would cost less; a NodePool says so.
func DefaultNodePool() *scheduling.NodePool {
	in := func(key, value string) requirements.Selector {
		return requirements.Selector{Key: key, Operator: requirements.In, Values: []string{value}}
	}
	pool := &scheduling.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: karpenterGroup + "/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
	}
	pool.Spec.Template.Spec.Requirements = []requirements.Selector{
		in(corev1.LabelArchStable, "amd64"),
		in(corev1.LabelOSStable, string(corev1.Linux)),
		in(scheduling.CapacityTypeLabel, string(offerings.OnDemand)),
		{Key: "karpenter.k8s.aws/instance-category", Operator: requirements.NotIn, Values: []string{"t"}},
	}
	return pool
}
