package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Warner collects warnings, one for each workload and message however many pods it
// concerns.
type Warner struct {
	Counts map[scheduling.Warning]int
}

// Add counts a warning of an object.
func (w *Warner) Add(object, message string) {
	w.Counts[scheduling.Warning{Object: object, Message: message}]++
}

// List are the warnings, sorted, each once.
func (w *Warner) List() []scheduling.Warning {
	out := []scheduling.Warning{}
	for warning, n := range w.Counts {
		if n > 1 {
			warning.Message += fmt.Sprintf(" (%d pods)", n)
		}
		out = append(out, warning)
	}
	slices.SortFunc(out, func(a, b scheduling.Warning) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return out
}

// Workload is the name of what controls the pod, as namespace/name, or the pod's own.
func Workload(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return podspec.NamespaceOf(pod) + "/" + owner.Name
	}
	return podspec.PodName(pod)
}

// Unmodelled names the constraints of a pod that the solver does not know.
func Unmodelled(spec *corev1.PodSpec) []string {
	a := spec.Affinity
	if a == nil || a.PodAffinity == nil {
		return nil
	}
	for i := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.TopologyKey == corev1.LabelHostname {
			return []string{"spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution over " + corev1.LabelHostname}
		}
	}
	return nil
}
