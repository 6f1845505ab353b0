package manifest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// didYouMean asks about a slip, and is empty where no name is near.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}

// resourceHint says why the name of a resource is none that a container can ask for, if
// it is not: names without a domain are Kubernetes's own, and few.
func resourceHint(name corev1.ResourceName) string {
	own := []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}
	typed := string(name)
	switch {
	case strings.Contains(typed, "/"), strings.HasPrefix(typed, corev1.ResourceHugePagesPrefix), slices.Contains(own, typed):
		return ""
	case typed == "mem" || typed == "ram":
		return "is no resource of Kubernetes" + didYouMean(own[1])
	case typed == "gpu":
		return "is no resource of Kubernetes" + didYouMean("nvidia.com/gpu")
	}
	if meant := spelling.Nearest(typed, own); meant != "" {
		return "is no resource of Kubernetes" + didYouMean(meant)
	}
	return "is no resource of Kubernetes; those of device plugins have a domain in their name, as nvidia.com/gpu does"
}
