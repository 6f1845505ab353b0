package instancetypes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// ParseFilter reads the text form of a filter, a list of terms that must all hold:
//
//	arch=amd64, category in (c m r), generation>=5, capacity-type=on-demand, name=m7i.*
//
// The grammar is in the package comment. An empty expression keeps everything. The
// error reports every faulty term.
func ParseFilter(expr string) (Filter, error) {
	if strings.TrimSpace(expr) == "" {
		return func(*InstanceType, offerings.Offering) bool { return true }, nil
	}
	var all []Filter
	var faults []error
	for i, text := range splitTerms(expr) {
		term, err := readTerm(text)
		var f Filter
		if err == nil {
			f, err = term.filter()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("filter: term %d %s %w", i+1, shortened(term.text), err))
			continue
		}
		all = append(all, f)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return func(t *InstanceType, o offerings.Offering) bool { return keepsAll(all, t, o) }, nil
}

// filter turns a term into a function.
func (t filterTerm) filter() (Filter, error) {
	if name, ok := strings.CutPrefix(t.key, "capacity:"); ok {
		return t.resource(func(r corev1.ResourceName) bool { return string(r) == name })
	}
	switch t.key {
	case "available":
		return t.available()
	case "name":
		return t.name()
	case "price":
		return t.price()
	case "cpu", "memory", "pods", "ephemeral-storage":
		return t.resource(func(r corev1.ResourceName) bool { return string(r) == t.key })
	case "gpu":
		return t.resource(func(r corev1.ResourceName) bool { return strings.HasSuffix(string(r), "/gpu") })
	}
	return t.label()
}

func (t filterTerm) available() (Filter, error) {
	switch t.op {
	case "exists":
		return func(_ *InstanceType, o offerings.Offering) bool { return o.Launchable() && o.Zone != "" }, nil
	case "absent":
		return func(_ *InstanceType, o offerings.Offering) bool { return !o.Launchable() || o.Zone == "" }, nil
	}
	return nil, errors.New("compares available, which is either so (available) or not (!available)")
}

func (t filterTerm) name() (Filter, error) {
	negated, err := t.equality()
	if err != nil {
		return nil, err
	}
	return func(it *InstanceType, _ offerings.Offering) bool { return globAny(t.values, it.Name) != negated }, nil
}

// equality reports whether the term's operator is != or notin rather than = or in.
func (t filterTerm) equality() (negated bool, err error) {
	switch t.op {
	case "=", "in":
		return false, nil
	case "!=", "notin":
		return true, nil
	}
	return false, fmt.Errorf("needs =, !=, in (…) or notin (…) after %s", t.key)
}

// label compares a label: by integer for the order relations, by pattern for the
// others. An absent label satisfies !=, notin and !key only.
func (t filterTerm) label() (Filter, error) {
	keys, err := labelKeys(t.key)
	if err != nil {
		return nil, err
	}
	if op, ok := orderOperators[t.op]; ok {
		r, err := requirements.New(keys[0], op, t.values...)
		if err != nil {
			return nil, fmt.Errorf("needs a whole number after %s", t.op)
		}
		return labelFilter(keys, r.Has, false), nil
	}
	switch t.op {
	case "exists", "absent":
		return labelFilter(keys, func(string) bool { return t.op == "exists" }, t.op == "absent"), nil
	}
	negated, err := t.equality()
	if err != nil {
		return nil, err
	}
	if slices.Contains(keys, offerings.CapacityTypeLabel) {
		for _, v := range t.values {
			if _, err := offerings.ParseCapacityType(v); err != nil && !strings.ContainsAny(v, "*?") {
				return nil, fmt.Errorf("has an unknown %w", err)
			}
		}
	}
	return labelFilter(keys, func(v string) bool { return globAny(t.values, v) != negated }, negated), nil
}

// orderOperators maps the order relations to those of requirements.
var orderOperators = map[string]requirements.Operator{
	"<": requirements.Lt, "<=": requirements.Lte, ">": requirements.Gt, ">=": requirements.Gte,
}

// labelFilter tests the first of the labels that a node has.
func labelFilter(keys []string, test func(string) bool, absent bool) Filter {
	return func(t *InstanceType, o offerings.Offering) bool {
		for _, key := range keys {
			if value, ok := t.label(&o, key); ok {
				return test(value)
			}
		}
		return absent
	}
}

// price compares the price of an offering; without an offering there is none.
func (t filterTerm) price() (Filter, error) {
	prices := make([]offerings.Price, 0, len(t.values))
	for _, v := range t.values {
		p, err := offerings.ParsePrice(v)
		if err != nil {
			return nil, fmt.Errorf("has a bad %w", err)
		}
		prices = append(prices, p)
	}
	holds, err := t.comparison()
	if err != nil {
		return nil, err
	}
	return func(_ *InstanceType, o offerings.Offering) bool {
		return o.Zone != "" && holds(func(i int) int { return cmp.Compare(o.Price, prices[i]) })
	}, nil
}

// resource compares the capacity of the resources that match, added up. A machine
// that has none of them has 0.
func (t filterTerm) resource(match func(corev1.ResourceName) bool) (Filter, error) {
	if t.op == "exists" || t.op == "absent" {
		return func(it *InstanceType, o offerings.Offering) bool {
			q := capacitySum(it, &o, match)
			return q.IsZero() == (t.op == "absent")
		}, nil
	}
	amounts := make([]resource.Quantity, 0, len(t.values))
	for _, v := range t.values {
		q, err := parseQuantity(v)
		switch {
		case err != nil:
			return nil, fmt.Errorf("has %q, which %w", v, err)
		case inBytes(t.key) && strings.Trim(v, "0123456789") == "" && !q.IsZero():
			return nil, fmt.Errorf("needs a unit after %s, such as %sGi or %sMi", v, v, v)
		}
		amounts = append(amounts, q)
	}
	holds, err := t.comparison()
	if err != nil {
		return nil, err
	}
	return func(it *InstanceType, o offerings.Offering) bool {
		q := capacitySum(it, &o, match)
		return holds(func(i int) int { return q.Cmp(amounts[i]) })
	}, nil
}

// inBytes reports whether a bare number is more likely a mistake than an amount.
func inBytes(key string) bool {
	switch strings.TrimPrefix(key, "capacity:") {
	case "memory", "ephemeral-storage":
		return true
	}
	return false
}

func capacitySum(t *InstanceType, o *offerings.Offering, match func(corev1.ResourceName) bool) resource.Quantity {
	var sum resource.Quantity
	for name, q := range o.Capacity {
		if match(name) {
			sum.Add(q)
		}
	}
	for name, q := range t.Capacity {
		if _, replaced := o.Capacity[name]; !replaced && match(name) {
			sum.Add(q)
		}
	}
	return sum
}

// comparison returns a function that tells whether the term holds, given one that
// compares the actual amount with the term's i-th value.
func (t filterTerm) comparison() (func(order func(i int) int) bool, error) {
	switch t.op {
	case "<":
		return func(order func(int) int) bool { return order(0) < 0 }, nil
	case "<=":
		return func(order func(int) int) bool { return order(0) <= 0 }, nil
	case ">":
		return func(order func(int) int) bool { return order(0) > 0 }, nil
	case ">=":
		return func(order func(int) int) bool { return order(0) >= 0 }, nil
	}
	negated, err := t.equality()
	if err != nil {
		return nil, err
	}
	n := len(t.values)
	return func(order func(int) int) bool {
		for i := range n {
			if order(i) == 0 {
				return !negated
			}
		}
		return negated
	}, nil
}
