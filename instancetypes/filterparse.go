package instancetypes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
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

// measure compares the value of a term's key with the term's i-th value; it also says whether the
// key has a value, which alone counts where i is -1.
type measure func(t *InstanceType, o *offerings.Offering, i int) (order int, there bool)

// filter turns a term into a function.
func (t filterTerm) filter() (Filter, error) {
	measured, err := t.measure()
	if err != nil {
		return nil, err
	}
	return func(it *InstanceType, o offerings.Offering) bool {
		switch order, there := measured(it, &o, min(0, len(t.values)-1)); t.op {
		case "exists", "absent":
			return there == (t.op == "exists")
		case "<":
			return there && order < 0
		case "<=":
			return there && order <= 0
		case ">":
			return there && order > 0
		case ">=":
			return there && order >= 0
		}
		equal := false
		for i := range t.values {
			order, there := measured(it, &o, i)
			equal = equal || there && order == 0
		}
		return equal != t.negated()
	}, nil
}

// negated reports whether the term holds where no value is equal or the key has none.
func (t filterTerm) negated() bool { return t.op == "!=" || t.op == "notin" }

// needs returns an error if the operator is none of the named ones, = and in, != and notin.
func (t filterTerm) needs(others ...string) error {
	if slices.Contains(append(others, "=", "in", "!=", "notin"), t.op) {
		return nil
	}
	return fmt.Errorf("needs =, !=, in (…) or notin (…) after %s", t.key)
}

// measure finds the meaning of the key and reads the values accordingly.
func (t filterTerm) measure() (measure, error) {
	if name, ok := strings.CutPrefix(t.key, "capacity:"); ok {
		return t.ofResources(func(r corev1.ResourceName) bool { return string(r) == name })
	}
	switch t.key {
	case "available":
		if t.op != "exists" && t.op != "absent" {
			return nil, errors.New("compares available, which is either so (available) or not (!available)")
		}
		return func(_ *InstanceType, o *offerings.Offering, _ int) (int, bool) {
			return 0, o.Launchable() && o.Zone != ""
		}, nil
	case "name":
		return func(it *InstanceType, _ *offerings.Offering, i int) (int, bool) {
			return unlike(t.values[i], it.Name), true
		}, t.needs()
	case "price":
		return t.price()
	case "cpu", "memory", "pods", "ephemeral-storage":
		return t.ofResources(func(r corev1.ResourceName) bool { return string(r) == t.key })
	case "gpu":
		return t.ofResources(func(r corev1.ResourceName) bool { return strings.HasSuffix(string(r), "/gpu") })
	}
	return t.label()
}

// unlike is 0 if a text matches a pattern.
func unlike(pattern, s string) int {
	if glob(pattern, s) {
		return 0
	}
	return 1
}

// label measures the first of the labels that a node has: as an integer for the order relations, by
// pattern for all others.
func (t filterTerm) label() (measure, error) {
	keys, err := labelKeys(t.key)
	if err != nil {
		return nil, err
	}
	var limit int64
	ordered := strings.ContainsAny(t.op, "<>")
	if ordered {
		if limit, err = strconv.ParseInt(t.values[0], 10, 64); err != nil {
			return nil, fmt.Errorf("needs a whole number after %s", t.op)
		}
	}
	if slices.Contains(keys, offerings.CapacityTypeLabel) {
		for _, v := range t.values {
			if _, err := offerings.ParseCapacityType(v); err != nil && !ordered && !isPattern(v) {
				return nil, fmt.Errorf("has an unknown %w", err)
			}
		}
	}
	return func(it *InstanceType, o *offerings.Offering, i int) (int, bool) {
		for _, key := range keys {
			value, ok := it.label(o, key)
			switch {
			case !ok:
				continue
			case i < 0:
				return 0, true
			case ordered:
				n, err := strconv.ParseInt(value, 10, 64)
				return cmp.Compare(n, limit), err == nil
			}
			return unlike(t.values[i], value), true
		}
		return 0, false
	}, nil
}

// price measures the price of an offering. Without an offering there is none, and no term about
// it holds.
func (t filterTerm) price() (measure, error) {
	prices := make([]offerings.Price, 0, len(t.values))
	for _, v := range t.values {
		p, err := offerings.ParsePrice(v)
		if err != nil {
			return nil, fmt.Errorf("has a bad %w", err)
		}
		prices = append(prices, p)
	}
	return func(_ *InstanceType, o *offerings.Offering, i int) (int, bool) {
		if o.Zone == "" {
			return 0, t.negated()
		}
		return cmp.Compare(o.Price, prices[i]), true
	}, t.needs("<", "<=", ">", ">=")
}

// ofResources measures the capacity of the resources that match, added up. A machine
// that has none of them has 0.
func (t filterTerm) ofResources(match func(corev1.ResourceName) bool) (measure, error) {
	inBytes := slices.Contains([]string{"memory", "ephemeral-storage"}, strings.TrimPrefix(t.key, "capacity:"))
	amounts := make([]resource.Quantity, 0, len(t.values))
	for _, v := range t.values {
		q, err := parseQuantity(v)
		switch {
		case err != nil:
			return nil, fmt.Errorf("has %q, which %w", v, err)
		case inBytes && strings.Trim(v, "0123456789") == "" && !q.IsZero(): // more likely a mistake than an amount
			return nil, fmt.Errorf("needs a unit after %s, such as %sGi or %sMi", v, v, v)
		}
		amounts = append(amounts, q)
	}
	return func(it *InstanceType, o *offerings.Offering, i int) (int, bool) {
		var sum resource.Quantity
		for name, q := range it.CapacityOf(*o) {
			if match(name) {
				sum.Add(q)
			}
		}
		if i < 0 {
			return 0, !sum.IsZero()
		}
		return sum.Cmp(amounts[i]), true
	}, nil
}

// filterTerm is one condition of a filter expression, as written.
type filterTerm struct {
	text   string // the whole term
	key    string
	op     string // = != < <= > >= in notin, or exists and absent
	values []string
}

// splitTerms cuts an expression at its commas outside of parentheses.
func splitTerms(expr string) []string {
	var terms []string
	depth, start := 0, 0
	for i := range len(expr) {
		switch expr[i] {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				terms = append(terms, expr[start:i])
				start = i + 1
			}
		}
	}
	return append(terms, expr[start:])
}

// readTerm takes one term apart.
func readTerm(text string) (filterTerm, error) {
	text = strings.TrimSpace(text)
	t := filterTerm{text: text}
	if text == "" {
		return t, errors.New("is empty")
	}
	rest, negated := strings.CutPrefix(text, "!")
	rest = strings.TrimSpace(rest)
	end := strings.IndexFunc(rest, func(r rune) bool { return !isKeyRune(r) })
	if end < 0 {
		end = len(rest)
	}
	t.key, rest = rest[:end], strings.TrimSpace(rest[end:])
	switch {
	case t.key == "":
		return t, errors.New("does not start with a key")
	case rest == "" && negated:
		t.op = "absent"
		return t, nil
	case rest == "":
		t.op = "exists"
		return t, nil
	case negated:
		return t, errors.New("cannot have both ! and a comparison; use !=, notin or the opposite comparison")
	}
	err := t.readValues(rest)
	return t, err
}

// readValues reads the values behind the key.
func (t *filterTerm) readValues(rest string) error {
	for _, word := range []string{"in", "notin"} {
		if list, ok := strings.CutPrefix(rest, word); ok && (strings.HasPrefix(list, "(") || strings.HasPrefix(list, " ")) {
			t.op = word
			return t.readList(strings.TrimSpace(list))
		}
	}
	// The longer spelling of an operator stands before its beginning.
	for _, op := range []string{"==", "!=", "<=", ">=", "=", "<", ">"} {
		value, ok := strings.CutPrefix(rest, op)
		if !ok {
			continue
		}
		t.op = strings.Replace(op, "==", "=", 1)
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			return fmt.Errorf("has no value after %s", op)
		case strings.ContainsAny(value, "()<>=! \t\n"):
			return fmt.Errorf("has %q where one value was expected; use in (a b) for several", value)
		}
		t.values = []string{value}
		return nil
	}
	return fmt.Errorf("has %q where =, !=, <, <=, >, >=, in (…) or notin (…) was expected", rest)
}

func (t *filterTerm) readList(list string) error {
	inner, ok := strings.CutPrefix(list, "(")
	if ok {
		inner, ok = strings.CutSuffix(inner, ")")
	}
	if !ok || strings.ContainsAny(inner, "()") {
		return fmt.Errorf("has %q where a list like (a b c) was expected", list)
	}
	t.values = strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	if len(t.values) == 0 {
		return errors.New("has an empty list")
	}
	return nil
}

// isKeyRune reports whether r may stand in a key: label keys, resource names and
// the prefixes label: and capacity:.
func isKeyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:", r)
}
