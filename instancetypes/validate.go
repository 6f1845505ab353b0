package instancetypes

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Validate reports all faults of the type, as [CatalogFault] values joined into one error; nil if there
// are none. The rules:
//
//   - the name is not empty and is a valid label value;
//   - cpu and memory are stated, and cpu is more than zero;
//   - every amount is at least 0 and fits an int64 (cpu in millicores), and
//     resources that come in pieces (pods, devices) are whole numbers;
//   - label keys and values are valid, node.kubernetes.io/instance-type is absent or
//     equal to the name, and zone, capacity type and reservation id are left to the
//     offerings;
//   - every offering is valid (see [offerings.Offering.Validate]), and no two agree
//     in zone, capacity type and reservation id.
func (t *InstanceType) Validate() error {
	var fs faults
	t.check(&fs)
	return fs.err()
}

func (t *InstanceType) check(fs *faults) {
	report := func(field, value, problem string) {
		fs.add(&CatalogFault{Type: t.Name, Field: field, Value: value, Problem: problem})
	}
	if t.Name == "" {
		report("name", "", "must not be empty")
	} else if msgs := labelValueFaults(t.Name); len(msgs) > 0 {
		report("name", t.Name, "is not a valid label value: "+strings.Join(msgs, "; "))
	}
	t.checkCapacity(report)
	checkResources(t.Overhead.KubeReserved, report, "overhead.kubeReserved")
	checkResources(t.Overhead.SystemReserved, report, "overhead.systemReserved")
	checkResources(t.Overhead.EvictionThreshold, report, "overhead.evictionThreshold")
	t.checkLabels(report)
	t.checkOfferings(report)
}

func (t *InstanceType) checkCapacity(report func(field, value, problem string)) {
	checkResources(t.Capacity, report, "capacity")
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		q, ok := t.Capacity[name]
		switch {
		case !ok:
			report("capacity."+string(name), "", "is missing")
		case name == corev1.ResourceCPU && q.IsZero():
			report("capacity.cpu", "0", "must be more than zero")
		}
	}
}

func (t *InstanceType) checkLabels(report func(field, value, problem string)) {
	byKey := make(map[string]string, len(t.Labels)) // normalised key → key as written
	for _, key := range slices.Sorted(maps.Keys(t.Labels)) {
		value, field := t.Labels[key], strict.Member("labels", key)
		if msgs := labelKeyFaults(key); len(msgs) > 0 {
			report(field, key, "is not a label key: "+strings.Join(msgs, "; "))
			continue
		}
		if msgs := labelValueFaults(value); len(msgs) > 0 {
			report(field, value, "is not a label value: "+strings.Join(msgs, "; "))
		}
		normal := requirements.NormalizeKey(key)
		if other, ok := byKey[normal]; ok && t.Labels[other] != value {
			report(field, value, fmt.Sprintf("contradicts %q of its alias %s", t.Labels[other], other))
		}
		byKey[normal] = key
		switch normal {
		case corev1.LabelInstanceTypeStable:
			if value != t.Name {
				report(field, value, "must be the name of the type")
			}
		case offerings.ZoneLabel, offerings.CapacityTypeLabel, offerings.ReservationIDLabel,
			requirements.NodePoolKey, corev1.LabelHostname:
			report(field, value, "differs from node to node and cannot be a label of the type")
		}
	}
}

func (t *InstanceType) checkOfferings(report func(field, value, problem string)) {
	seen := make(map[offerings.Key]int, len(t.Offerings))
	for i, o := range t.Offerings {
		at := strict.Element("offerings", i)
		o.Capacity, o.Overhead = nil, nil // checked below, more closely
		for _, err := range unjoin(o.Validate()) {
			field, problem, ok := strings.Cut(err.Error(), ": ")
			if !ok {
				field, problem = "", err.Error()
			}
			report(strings.TrimSuffix(at+"."+field, "."), "", problem)
		}
		checkResources(t.Offerings[i].Capacity, report, at+".capacity")
		checkResources(t.Offerings[i].Overhead, report, at+".overhead")
		t.checkOfferingLabels(o, at, report)
		key := o.Key("")
		if first, ok := seen[key]; ok {
			report(at, key.String(), fmt.Sprintf("is the same zone, capacity type and reservation as offerings[%d]", first))
			continue
		}
		seen[key] = i
	}
}

// checkOfferingLabels refuses offerings that would turn the machine into another
// kind of machine.
func (t *InstanceType) checkOfferingLabels(o offerings.Offering, at string, report func(field, value, problem string)) {
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		var own string
		var stated bool
		switch stable := requirements.NormalizeKey(key); stable {
		case corev1.LabelInstanceTypeStable:
			own, stated = t.Name, true
		case corev1.LabelArchStable, corev1.LabelOSStable:
			own, stated = t.Labels[stable]
		}
		if value := o.Labels[key]; stated && own != value {
			report(strict.Member(at+".labels", key), value, fmt.Sprintf("contradicts %q of the type", own))
		}
	}
}

// unjoin returns the errors that errors.Join put together.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	return []error{err}
}

// labelKeyFaults and labelValueFaults are apimachinery's messages on invalid label keys and values.
// Its regular expressions run only on text that fails the plain check, because otherwise they take
// most of the time of building a large catalog.
func labelKeyFaults(key string) []string {
	if requirements.ValidLabelKey(key) {
		return nil
	}
	return validation.IsQualifiedName(key)
}

func labelValueFaults(value string) []string {
	if requirements.ValidLabelValue(value) {
		return nil
	}
	return validation.IsValidLabelValue(value)
}

// maxQuantity is the least float64 that is too large for an int64. Kubernetes
// turns quantities in binary units that are larger into the largest int64, so
// that value is refused as well.
const maxQuantity = float64(math.MaxInt64)

// parseQuantity reads a Kubernetes quantity from untrusted text. In addition to
// resource.ParseQuantity it refuses exponents of more than two digits, which make that function
// compute numbers of a billion digits, and values that do not fit an int64.
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

// quantityProblem states the fault of an amount of a resource; empty if there is none. Amounts are
// counted in millicores for cpu and in whole units (bytes, pods, devices) for the rest, as int64.
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

// checkResources reports the faults of a resource list.
func checkResources(list corev1.ResourceList, report func(field, value, problem string), field string) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if msgs := labelKeyFaults(string(name)); len(msgs) > 0 {
			report(strict.Member(field, string(name)), string(name), "is not a resource name: "+strings.Join(msgs, "; "))
			continue
		}
		q := list[name]
		if problem := quantityProblem(name, q); problem != "" {
			report(strict.Member(field, string(name)), quantityText(q), problem)
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
