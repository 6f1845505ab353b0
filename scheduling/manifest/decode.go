package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// fieldFault is a fault of which the object is known.
type fieldFault struct {
	field, value, msg string

	cause *scheduling.FieldError // where the validation of a problem found it
}

// decode fills into, a pointer to the Go type of the kind, from JSON at a path of an object, "" for
// the object itself. unknown are the paths, below at, of fields that users write and the type does
// not have; ok says that all of into was filled.
//
// An object that the API server has accepted, which has a UID, has no faults. Its unknown fields are
// ones of a newer version of Kubernetes.
func decode(raw []byte, into any, at string, rules strict.Rules) (faults []fieldFault, unknown []string, ok bool) {
	rules.MaxFaults = maxFaults
	obj, isObject := into.(metav1.Object)
	rules.Accepted = func() bool { return isObject && obj.GetUID() != "" }
	check := rules.Check
	rules.Check = func(field, name string, value, written any) string {
		if check != nil {
			if msg := check(field, name, value, written); msg != "" {
				return msg
			}
		}
		return amountFault(name, value)
	}
	result := strict.Decode(raw, into, rules)
	for _, f := range result.Faults {
		fault := fieldFault{field: strict.Below(at, f.Field), msg: f.Message}
		if f.Value != nil {
			fault.value = written(f.Value)
		}
		faults = append(faults, fault)
	}
	for _, path := range result.Unknown {
		first, _, _ := strings.Cut(path, ".")
		if !slices.Contains([]string{"status", "metadata"}, first) { // which the server writes
			unknown = append(unknown, path)
		}
	}
	return faults, unknown, result.OK
}

// unknownFault states that a field of the value at a path is not known, with the field that was
// probably meant. of is a pointer to the type that lacks the field.
func unknownFault(of any, at, field string) fieldFault {
	return fieldFault{field: strict.Below(at, field), msg: "is not known" + didYouMean(suggestedField(of, field))}
}

// suggestedField returns the field that was probably meant by one that a type lacks; "" for none. of is
// a pointer to the type.
func suggestedField(of any, field string) string {
	return spelling.Field(reflect.TypeOf(of).Elem(), field)
}

// builtIn reports whether the kinds of an API group are part of Kubernetes, and are no custom
// resources.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// written returns a value as it stands in the input, shortened.
func written(v any) string { return documents.Shorten(inJSON(v)) }

// inJSON returns a value as JSON, with the keys of maps in order; "" where it has none.
func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// amountFault states the fault of an amount with a name: of a number of pods, or of a quantity of a
// resource. Pods and devices must be whole numbers, limits on prices need not. Amounts above 64 bits are allowed, as in the
// API server.
func amountFault(name string, amount any) string {
	switch a := amount.(type) {
	case *int32:
		if *a < 0 && slices.Contains([]string{"replicas", "parallelism", "completions", "start"}, name) {
			return "is negative"
		}
	case *resource.Quantity:
		switch {
		case a.Sign() < 0:
			return "is negative"
		case name == string(scheduling.PriceResource):
		case (name == string(corev1.ResourcePods) || strings.Contains(name, "/")) && !whole(*a):
			return "is not a whole number"
		}
	}
	return ""
}

// whole reports whether a quantity is a whole number.
func whole(q resource.Quantity) bool {
	q = q.DeepCopy() // rounding may change the form of its receiver
	return q.RoundUp(0)
}

// didYouMean asks about a typo, and is empty where no name is near.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}
