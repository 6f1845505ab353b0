package schedulingtest

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resourceName is the resource that a word of a scenario names; ok is false when
// the word names none. The short names are cpu, memory, pods, nodes, disk
// (ephemeral-storage) and gpu (nvidia.com/gpu); every name with a slash, huge pages and
// attachable volumes stand for themselves.
func resourceName(key string) (name corev1.ResourceName, ok bool) {
	switch key {
	case "cpu", "memory", "pods", "nodes":
		return corev1.ResourceName(key), true
	case "disk":
		return corev1.ResourceEphemeralStorage, true
	case "gpu":
		return gpuResource, true
	}
	known := strings.Contains(key, "/") || strings.HasPrefix(key, "hugepages-") || strings.HasPrefix(key, "attachable-volumes-")
	return corev1.ResourceName(key), known
}

// parseAmount reads a resource word such as cpu=500m.
func parseAmount(w word) (Amount, error) {
	name, ok := resourceName(w.key)
	if !ok {
		return Amount{}, unexpected(w)
	}
	q, err := resource.ParseQuantity(w.value)
	if err != nil {
		return Amount{}, fmt.Errorf("%s: %w", w, err)
	}
	return Amount{name, q}, nil
}

// parseAmounts reads resource words such as "cpu=500m memory=1Gi".
func parseAmounts(text string) ([]Amount, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	var amounts []Amount
	var errs []error
	for _, w := range words {
		a, err := parseAmount(w)
		amounts, errs = append(amounts, a), append(errs, err)
	}
	return amounts, errors.Join(errs...)
}
