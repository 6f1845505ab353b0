package schedulingtest

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// In asks for one of the values.
func In(key string, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.In, Values: values}
}

// NotIn asks for none of the values; a node without the label will do.
func NotIn(key string, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.NotIn, Values: values}
}

// Exists asks for the label, whatever its value.
func Exists(key string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.Exists}
}

// DoesNotExist asks for a node without the label.
func DoesNotExist(key string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: requirements.DoesNotExist}
}

// Gt asks for an integer above n.
func Gt(key string, n int64) requirements.Selector { return bound(key, requirements.Gt, n) }

// Lt asks for an integer below n.
func Lt(key string, n int64) requirements.Selector { return bound(key, requirements.Lt, n) }

// Gte asks for an integer of at least n. NodePools alone may ask for it.
func Gte(key string, n int64) requirements.Selector { return bound(key, requirements.Gte, n) }

// Lte asks for an integer of at most n. NodePools alone may ask for it.
func Lte(key string, n int64) requirements.Selector { return bound(key, requirements.Lte, n) }

// AtLeast asks that the instance types of every launch offer at least n values of
// the key. NodePools alone may ask for it.
func AtLeast(n int, s requirements.Selector) requirements.Selector {
	s.MinValues = &n
	return s
}

func bound(key string, op requirements.Operator, n int64) requirements.Selector {
	return requirements.Selector{Key: key, Operator: op, Values: []string{strconv.FormatInt(n, 10)}}
}

// term is the form in which pods write a conjunction. It drops minValues, which
// pods do not have.
func term(exprs []requirements.Selector) corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for _, e := range exprs {
		t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: e.Key, Operator: e.Operator, Values: slices.Clone(e.Values),
		})
	}
	return t
}
