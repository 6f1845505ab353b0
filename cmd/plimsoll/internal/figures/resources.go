package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requests writes requests, pod slots aside.
func Requests(list corev1.ResourceList) string {
	first := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	others := lo.Without(slices.Sorted(maps.Keys(list)), corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods)
	var parts []string
	for _, name := range slices.Concat(first, others) {
		if q, ok := list[name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s", name, quantity(name, q)))
		}
	}
	return cmp.Or(Join(parts), "nothing but a pod slot")
}

// quantity writes a quantity as it is or, where that is a long figure of bytes, in a unit.
func quantity(name corev1.ResourceName, q resource.Quantity) string {
	n := q.Value()
	text := q.String()
	bytes := name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	if _, err := strconv.ParseInt(text, 10, 64); !bytes || err != nil || n < 1<<20 {
		return text
	}
	for i, suffix := range []string{"Ei", "Pi", "Ti", "Gi", "Mi"} {
		unit := int64(1) << (60 - 10*i)
		switch {
		case n == math.MaxInt64: // plans use it for amounts that 64 bits do not hold
			return "8Ei or more"
		case n >= unit:
			return Decimal(float64(n)/float64(unit)) + suffix
		}
	}
	return text
}

// Units is the amount of a resource in a list, in the units of plans: millicores of CPU, else the unit of the resource.
func Units(list corev1.ResourceList, name corev1.ResourceName) int64 {
	q := list[name]
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// Amount writes an amount of a resource in the units of plans.
func Amount(of string, n int64) string {
	switch {
	case of == string(corev1.ResourceCPU):
		return Cores(n)
	case of == string(corev1.ResourceMemory) || of == string(corev1.ResourceEphemeralStorage) || strings.HasPrefix(of, corev1.ResourceHugePagesPrefix):
		return GiB(n)
	default:
		return fmt.Sprint(n)
	}
}
