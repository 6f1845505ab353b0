package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodePool is a pool that may buy everything in the catalog unless an option
// narrows it.
func NodePool(name string, opts ...NodePoolOption) *scheduling.NodePool {
	p := &scheduling.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	for _, o := range opts {
		o.applyNodePool(p)
	}
	return p
}

// Limit bounds the sum of the capacity of the pool's nodes; see [MaxNodes] for
// their number.
func Limit(amounts ...Amount) NodePoolOption {
	return poolFunc(func(p *scheduling.NodePool) {
		p.Spec.Limits = merge(p.Spec.Limits, amounts)
	})
}

// MaxNodes bounds the number of the pool's nodes.
func MaxNodes(n int64) NodePoolOption { return Limit(Count(scheduling.NodesResource, n)) }

// Replicas makes the pool static: it keeps n nodes and launches none for pods.
func Replicas(n int64) NodePoolOption {
	return poolFunc(func(p *scheduling.NodePool) { p.Spec.Replicas = &n })
}

// poolLabels are the labels that the node of a pool carries because it is one.
func poolLabels(pool string) map[string]string {
	return map[string]string{
		scheduling.NodePoolLabel:    pool,
		scheduling.RegisteredLabel:  "true",
		scheduling.InitializedLabel: "true",
		corev1.LabelOSStable:        "linux",
		corev1.LabelArchStable:      "amd64",
	}
}
