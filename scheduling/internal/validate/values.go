package validate

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// amountFaults adds every quantity with a fault.
func amountFaults(to *faults.Collector, list corev1.ResourceList, path string, fault func(corev1.ResourceName, *resource.Quantity) string) {
	for name, q := range podspec.Listed(list) {
		if message := fault(name, &q); message != "" {
			to.Add(q.String(), message, strict.Member(path, string(name)))
		}
	}
}

// AmountFault returns the fault of a requested or limited quantity; "" for none. It may exceed any machine: see
// [podspec.Amount].
func AmountFault(_ corev1.ResourceName, q *resource.Quantity) string {
	if q.Sign() < 0 {
		return "is negative"
	}
	return ""
}

// capacityFault returns the fault of a node's quantity; "" for none.
func capacityFault(name corev1.ResourceName, q *resource.Quantity) string {
	if podspec.Beyond64Bits(name, q) {
		return "is too large"
	}
	return AmountFault(name, q)
}

// exceeds reports whether a request is above its limit, if the limit fits in 64 bits. Both must be copies.
func exceeds(name corev1.ResourceName, request, limit *resource.Quantity) bool {
	if podspec.Beyond64Bits(name, limit) {
		return false
	}
	// Values that are far apart need no exact arithmetic, which may allocate.
	if request.AsApproximateFloat64() < limit.AsApproximateFloat64()*(1-1e-9) {
		return false
	}
	return podspec.Beyond64Bits(name, request) || request.Cmp(*limit) > 0
}

// plainLabels reports whether all keys and values are valid.
func plainLabels(labels map[string]string) bool {
	for k, v := range labels {
		if !LabelKey(k) || !LabelValue(v) {
			return false
		}
	}
	return true
}

// labelFaults adds invalid keys and values.
func labelFaults(to *faults.Collector, labels map[string]string, path string) {
	for k, v := range labels {
		if !LabelKey(k) {
			to.Add(k, NotALabelKey, path)
		}
		if !LabelValue(v) {
			to.Add(v, NotALabelValue, strict.Member(path, k))
		}
	}
}

// selectorFaults adds the faults found by package requirements, each below the path.
func selectorFaults(to *faults.Collector, err error, path string) {
	for _, e := range faults.Unjoin(err) {
		var fault *requirements.SelectorError
		if !errors.As(e, &fault) {
			to.Add("", e.Error(), path)
			continue
		}
		message := fault.Problem
		if fault.Key != "" {
			message = fmt.Sprintf("label %q: %s", fault.Key, fault.Problem)
		}
		to.Add(fault.Value, message, path+fault.Path)
	}
}
