package requirements

import corev1 "k8s.io/api/core/v1"

// Operator relates a label key to values. It is the operator type of the
// Kubernetes node selector, so that selectors of pods need no conversion.
type Operator = corev1.NodeSelectorOperator

// The operators. [Gte] and [Lte] are understood on NodePools only; Kubernetes
// does not know them in the node affinity of a pod.
const (
	// In allows the listed values.
	In = corev1.NodeSelectorOpIn
	// NotIn allows every value except the listed ones, and a missing label.
	NotIn = corev1.NodeSelectorOpNotIn
	// Exists allows every value, but no missing label.
	Exists = corev1.NodeSelectorOpExists
	// DoesNotExist allows a missing label only.
	DoesNotExist = corev1.NodeSelectorOpDoesNotExist
	// Gt allows the integers above a number.
	Gt = corev1.NodeSelectorOpGt
	// Lt allows the integers below a number, negative ones included.
	Lt = corev1.NodeSelectorOpLt
	// Gte allows a number and the integers above it.
	Gte Operator = "Gte"
	// Lte allows a number and the integers below it.
	Lte Operator = "Lte"
)

// comparison reports whether op compares with a number.
func comparison(op Operator) bool {
	return op == Gt || op == Lt || op == Gte || op == Lte
}
