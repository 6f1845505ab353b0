package instancetypes

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxQuantity is the least float64 that is too large for an int64. Kubernetes
// turns quantities in binary units that are larger into the largest int64, so
// that value is refused as well.
const maxQuantity = float64(math.MaxInt64)

// parseQuantity reads a Kubernetes quantity from untrusted text. Beyond what
// resource.ParseQuantity refuses it refuses exponents of more than two digits,
// which make that function compute numbers of a billion digits, and values that
// do not fit an int64.
func parseQuantity(s string) (resource.Quantity, error) {
	const maxLength = 64
	if len(s) > maxLength || longExponent(s) {
		return resource.Quantity{}, errors.New("is too long for a quantity")
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return resource.Quantity{}, errors.New("is not a quantity such as 4, 500m or 16Gi")
	}
	return q, nil
}

// longExponent reports whether s ends in an exponent of three digits or more.
func longExponent(s string) bool {
	i := strings.LastIndexAny(s, "eE")
	return i >= 0 && len(strings.TrimLeft(strings.TrimLeft(s[i+1:], "+-"), "0")) > 2
}

// quantityProblem says what is wrong with an amount of a resource; empty for
// nothing. Amounts are counted in millicores for cpu and in whole units (bytes,
// pods, devices) for the rest, as int64.
func quantityProblem(name corev1.ResourceName, q resource.Quantity) string {
	if q.Sign() < 0 {
		return "must not be negative"
	}
	// Approximate on purpose: it costs the same for every exponent, where exact
	// comparison of 1e1000000 does not.
	amount := q.AsApproximateFloat64()
	if name == corev1.ResourceCPU {
		amount *= 1000
	}
	if amount >= maxQuantity {
		return "is too large: it must fit a signed 64-bit integer" +
			map[bool]string{true: " of millicores"}[name == corev1.ResourceCPU]
	}
	if mustBeWhole(name) && q.CmpInt64(q.Value()) != 0 {
		return "must be a whole number"
	}
	return ""
}

// mustBeWhole reports whether a resource comes in pieces. Fractions of bytes and
// of millicores are rounded up, as the kubelet does.
func mustBeWhole(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return false
	}
	return !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// checkResources reports what is wrong with a resource list.
func checkResources(list corev1.ResourceList, report func(field, value, problem string), field string) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		path := field + "." + string(name)
		if msgs := labelKeyFaults(string(name)); len(msgs) > 0 {
			report(path, string(name), "is not a resource name: "+strings.Join(msgs, "; "))
			continue
		}
		q := list[name]
		if problem := quantityProblem(name, q); problem != "" {
			report(path, quantityText(q), problem)
		}
	}
}

// quantityText prints a quantity that may be absurd.
func quantityText(q resource.Quantity) string {
	if a := math.Abs(q.AsApproximateFloat64()); a >= maxQuantity {
		return ""
	}
	return q.String()
}

// canonical returns a list of the same amounts in the form of canonicalQuantity; nil for an
// empty list.
func canonical(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return nil
	}
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		out[name] = canonicalQuantity(q)
	}
	return out
}

// canonicalQuantity returns the same amount, whose text does not change when it is read and
// written again. Kubernetes' own does: 1000 bytes print as "1000" if they were once given in
// binary units, and that reads back as "1k".
func canonicalQuantity(q resource.Quantity) resource.Quantity {
	if again, err := resource.ParseQuantity(q.String()); err == nil {
		return again
	}
	return q
}
