package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// faultsOf returns the faults that other packages found in an object, or in the value at a path of
// it.
func faultsOf(err error, at string) (out []fieldFault) {
	var fields *scheduling.FieldErrors
	if errors.As(err, &fields) {
		for _, e := range fields.Errors {
			// The path begins with the object, which the fault names already.
			_, field, _ := strings.Cut(e.Path, "].")
			out = append(out, fieldFault{strict.Below(at, field), quote(e.Value), e.Message, nil})
		}
		return out
	}
	for _, e := range flatten(err) {
		f := fieldFault{field: at, msg: e.Error()}
		var overlay *instancetypes.OverlayError
		if errors.As(e, &overlay) {
			f.field, f.msg = overlay.Field, overlay.Err.Error()
		}
		var field *instancetypes.CatalogFault
		if errors.As(e, &field) {
			f = fieldFault{field: field.Field, value: quote(field.Value), msg: field.Problem}
		}
		out = append(out, f)
	}
	return out
}

// validate returns the faults of a problem that holds only the value at a path of an object.
func validate(alone *scheduling.Problem, at string) []fieldFault {
	err := provisioning.Validate(alone)
	faults := faultsOf(err, at)
	var fields *scheduling.FieldErrors
	if errors.As(err, &fields) {
		for i := range faults {
			faults[i].cause = fields.Errors[i]
		}
	}
	return faults
}

// problemOf returns the problem of one pod.
func problemOf(spec corev1.PodSpec) *scheduling.Problem {
	return &scheduling.Problem{Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: spec}}}
}

// flatten returns the single errors that are joined in err.
func flatten(err error) (out []error) {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}

// checkPod finds, in the pod specification at a path of an object, the faults that the API server
// refuses and on which no plan may be based.
func checkPod(found *findings, object string, spec *corev1.PodSpec, at string) (faults []fieldFault) {
	if len(spec.Containers) == 0 {
		faults = append(faults, fieldFault{field: at + ".containers", msg: "is missing or empty"})
	}
	names := map[string]bool{}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			ctr, here := &list.containers[i], strict.Element(at+"."+list.name, i)
			if ctr.Name != "" && names[ctr.Name] {
				faults = append(faults, fieldFault{field: here + ".name", value: quote(ctr.Name), msg: "is a duplicate of another container's"})
			}
			names[ctr.Name] = true
			faults = append(faults, checkNames(found, object, ctr.Resources, here+".resources")...)
		}
	}
	if spec.Resources != nil {
		faults = append(faults, checkNames(found, object, *spec.Resources, at+".resources")...)
	}
	return append(faults, validate(problemOf(*spec), strings.TrimSuffix(strings.TrimSuffix(at, "spec"), "."))...)
}

// checkNames finds names of resources that containers cannot request, and amounts that suggest a
// wrong unit.
func checkNames(found *findings, object string, r corev1.ResourceRequirements, at string) (faults []fieldFault) {
	for _, list := range []struct {
		name    string
		amounts corev1.ResourceList
	}{{"limits", r.Limits}, {"requests", r.Requests}} {
		for _, name := range slices.Sorted(maps.Keys(list.amounts)) {
			if msg := resourceHint(name); msg != "" {
				faults = append(faults, fieldFault{field: strict.Below(at, list.name), value: quote(string(name)), msg: msg})
				continue
			}
			inBytes := name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
			if q := list.amounts[name]; inBytes && q.Sign() > 0 && q.CmpInt64(1<<10) < 0 {
				found.warn(object, fmt.Sprintf("%s of %s is less than a kibibyte: check its unit, m stands for thousandths and Mi for mebibytes", strict.Member(strict.Below(at, list.name), string(name)), q.String()))
			}
		}
	}
	return faults
}

// resourceHint says why the name of a resource is none that a container can ask for, if
// it is not: names without a domain are Kubernetes's own, and few.
func resourceHint(name corev1.ResourceName) string {
	own := []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}
	typed := string(name)
	suggest := map[string]string{"mem": own[1], "ram": own[1], "gpu": "nvidia.com/gpu"}[typed]
	if suggest == "" {
		suggest = spelling.Nearest(typed, own)
	}
	switch {
	case suggest == typed, strings.Contains(typed, "/"), strings.HasPrefix(typed, corev1.ResourceHugePagesPrefix):
		return ""
	case suggest != "":
		return "is no resource of Kubernetes" + didYouMean(suggest)
	}
	return "is no resource of Kubernetes; those of device plugins have a domain in their name, as nvidia.com/gpu does"
}
