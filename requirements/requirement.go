package requirements

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Requirement says which values the label of one key may take, whether the
// label may be missing, and how many different values a choice must keep open.
//
// A Requirement is an immutable value: no method changes its receiver, and no
// slice that goes in or comes out is shared with the caller. The zero value
// allows every value and also a missing label, under the empty key; it is the
// identity of [Requirement.Intersect].
type Requirement struct {
	key string

	// values is sorted and free of duplicates. It lists the allowed values when
	// listed is set, and the excluded ones otherwise.
	values []string
	listed bool

	// present means that a node without the label does not satisfy the
	// requirement. A listed, non-empty or numeric requirement has it set.
	present bool

	// numeric means that only integers between lower and upper (both included)
	// are allowed; the extremes of int64 stand for "no bound". It implies
	// present, excludes listed, and every excluded value lies within the bounds.
	numeric      bool
	lower, upper int64

	minValues int
}

// New returns the requirement that key stands in the relation op to values.
//
// Alias keys become the stable key that they stand for, see [NormalizeKey]. [In] needs a value;
// [Exists] and [DoesNotExist] take none; [Gt], [Lt], [Gte] and [Lte] take exactly one, an integer
// of 64 bits. [NotIn] without values excludes no value and allows a missing label. Values are not
// checked for being valid label values: one that is not can never be met, see [Selector.Validate]
// for the strict check. Errors are [*SelectorError], joined when there are several.
func New(key string, op Operator, values ...string) (Requirement, error) {
	if f := check(key, op, values); len(f.list) > 0 {
		return Requirement{}, f.err()
	}
	return build(key, op, values), nil
}

// MustNew is [New] for arguments known to be valid; it panics on an error.
func MustNew(key string, op Operator, values ...string) Requirement {
	r, err := New(key, op, values...)
	if err != nil {
		panic("requirements: " + err.Error())
	}
	return r
}

// build makes a requirement of arguments that passed check.
func build(key string, op Operator, values []string) Requirement {
	r := Requirement{key: NormalizeKey(key)}
	switch op {
	case In:
		r.listed, r.present, r.values = true, true, sortedValues(key, values)
	case NotIn:
		r.values = sortedValues(key, values)
	case Exists:
		r.present = true
	case DoesNotExist:
		r.listed = true
	default:
		n, _ := parseInt(values[0])
		return bounded(r.key, op, n)
	}
	return r
}

// bounded makes a requirement of one bound. A strict bound that no int64 can pass leaves no value,
// instead of wrapping around.
func bounded(key string, op Operator, n int64) Requirement {
	r := Requirement{key: key, present: true, numeric: true, lower: math.MinInt64, upper: math.MaxInt64}
	switch op {
	case Gt:
		if n == math.MaxInt64 {
			return nothing(key)
		}
		r.lower = n + 1
	case Gte:
		r.lower = n
	case Lt:
		if n == math.MinInt64 {
			return nothing(key)
		}
		r.upper = n - 1
	case Lte:
		r.upper = n
	}
	return r
}

// nothing is the requirement of key that neither a value nor a missing label satisfies.
func nothing(key string) Requirement {
	return Requirement{key: key, listed: true, present: true}
}

// sortedValues copies, sorts and deduplicates values given under key.
func sortedValues(key string, values []string) []string {
	if len(values) == 0 {
		return nil
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = normalizeValue(key, v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Key returns the label key, in its stable form.
func (r Requirement) Key() string { return r.key }

// Operator returns the operator that describes r best: [In] for listed values,
// [DoesNotExist] when no value is allowed, [NotIn] when values are excluded,
// [Exists] for the rest. Bounds do not show. Whether a missing label satisfies
// r is told by [Requirement.AllowsAbsent] alone: a contradiction such as
// Gt 5 and Lt 3 reports DoesNotExist without allowing absence.
func (r Requirement) Operator() Operator {
	switch {
	case r.listed && len(r.values) > 0:
		return In
	case r.listed:
		return DoesNotExist
	case len(r.values) > 0:
		return NotIn
	default:
		return Exists
	}
}

// Values returns the listed values of an [In], the excluded ones of a [NotIn],
// sorted, in a slice of the caller's own.
func (r Requirement) Values() []string { return slices.Clone(r.values) }

// Complement reports whether r allows all values except listed ones, rather than a list. Bounded
// requirements are complements.
func (r Requirement) Complement() bool { return !r.listed }

// Bounds returns the smallest and the largest integer that r allows, nil where
// it has no such bound. The pointers belong to the caller. A requirement with
// a bound allows integers only.
func (r Requirement) Bounds() (lower, upper *int64) {
	lo, hi := r.hasLower(), r.hasUpper()
	if lo {
		lower = &r.lower
	}
	if hi {
		upper = &r.upper
	}
	return lower, upper
}

// hasLower also holds for the widest numeric requirement, so that "any integer"
// is not mistaken for "anything".
func (r Requirement) hasLower() bool {
	return r.numeric && (r.lower != math.MinInt64 || r.upper == math.MaxInt64)
}

func (r Requirement) hasUpper() bool { return r.numeric && r.upper != math.MaxInt64 }

// MinValues returns how many different values of the key the instance types of one launch must keep
// open; 0 is no minimum.
func (r Requirement) MinValues() int { return r.minValues }

// WithMinValues returns r with that floor of different values; n below 1 removes it.
func (r Requirement) WithMinValues(n int) Requirement {
	r.minValues = max(n, 0)
	return r
}

// Equal reports whether r and o are the same requirement: same key, values,
// absence, bounds and floor.
func (r Requirement) Equal(o Requirement) bool {
	return r.key == o.key && r.listed == o.listed && r.present == o.present &&
		r.numeric == o.numeric && r.lower == o.lower && r.upper == o.upper &&
		r.minValues == o.minValues && slices.Equal(r.values, o.values)
}

// Operator relates a label key to values. It is the operator type of the
// Kubernetes node selector, so that selectors of pods need no conversion.
type Operator = corev1.NodeSelectorOperator

// The operators. [Gte] and [Lte] are understood on NodePools only; Kubernetes
// does not know them in the node affinity of a pod.
const (
	// In allows the listed values.
	In = corev1.NodeSelectorOpIn
	// NotIn allows every value except the listed ones, and a missing label.
	NotIn = corev1.NodeSelectorOpNotIn
	// Exists allows every value, but no missing label.
	Exists = corev1.NodeSelectorOpExists
	// DoesNotExist allows a missing label only.
	DoesNotExist = corev1.NodeSelectorOpDoesNotExist
	// Gt allows the integers above a number.
	Gt = corev1.NodeSelectorOpGt
	// Lt allows the integers below a number, negative ones included.
	Lt = corev1.NodeSelectorOpLt
	// Gte allows a number and the integers above it.
	Gte Operator = "Gte"
	// Lte allows a number and the integers below it.
	Lte Operator = "Lte"
)

// comparison reports whether op compares with a number.
func comparison(op Operator) bool {
	return op == Gt || op == Lt || op == Gte || op == Lte
}
