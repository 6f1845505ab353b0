package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Validate reports the faults of a policy, as [*FieldErrors].
func Validate(s *scheduling.Policy) error {
	f := faults.Collector{List: Faults(s)}
	return f.Err()
}

// Faults returns the faults of a policy.
func Faults(s *scheduling.Policy) []*scheduling.FieldError {
	f := &faults.Collector{}
	negative := func(is bool, value any, path string) {
		if is {
			f.Add(fmt.Sprint(value), "is negative", "solver."+path)
		}
	}
	policy := func(value, path string, of ...string) {
		if value != "" && !slices.Contains(of, value) {
			f.Add(value, "is none of "+strings.Join(of, ", "), "solver."+path)
		}
	}
	negative(s.Effort < 0, s.Effort, "effort")
	negative(s.MaxOptions < 0, s.MaxOptions, "maxOptions")
	negative(s.PreferencePrice < 0, s.PreferencePrice, "preferencePrice")
	negative(s.NodeOverhead < 0, s.NodeOverhead, "nodeOverhead")
	policy(string(s.MinValues), "minValues", string(scheduling.MinValuesStrict), string(scheduling.MinValuesBestEffort))
	policy(string(s.Weights), "weights", string(scheduling.WeightStrict), string(scheduling.WeightIgnore))
	policy(string(s.Preferences), "preferences", string(scheduling.PreferencesRespect), string(scheduling.PreferencesIgnore), string(scheduling.PreferencesPrice))
	policy(string(s.Placement), "placement", string(scheduling.PlacementPinned), string(scheduling.PlacementNominated), string(scheduling.PlacementFree))
	if s.WorkloadShare < 0 || s.WorkloadShare > 100 {
		f.Add(strconv.Itoa(s.WorkloadShare), "must be a percentage from 1 to 100, or 0 for no bound", "solver.workloadShare")
	}
	for _, k := range offers.All(s.Flexibility) {
		negative(k.Least < 0, k.Least, "flexibility."+k.Name)
	}
	offers.CheckNodeSize(s.Size, f)
	offers.Check(s.InterruptionCost, f)
	for _, err := range faults.Unjoin(s.Ranking.Validate()) {
		field, message, _ := strings.Cut(err.Error(), ": ")
		f.Add("", message, "solver.ranking."+field)
	}
	return f.List
}

// Warner collects warnings, one for each workload and message, with the number of pods.
type Warner struct {
	Counts map[scheduling.Warning]int
}

// Warn counts a warning about an object.
func (w *Warner) Warn(object, message string) {
	w.Counts[scheduling.Warning{Object: object, Message: message}]++
}

// List returns the warnings, sorted, each once.
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

// Workload returns the name of the pod's controller as namespace/name, or else of the pod.
func Workload(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return podspec.NamespaceOf(pod) + "/" + owner.Name
	}
	return podspec.PodName(pod)
}

// Unmodelled returns the constraints of a pod that planning ignores.
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
