package instancetypes

import (
	"errors"
	"fmt"
	"strings"
)

// filterTerm is one condition of a filter expression, as written.
type filterTerm struct {
	text   string // the whole term
	key    string
	op     string // = != < <= > >= in notin, or exists and absent
	values []string
}

// splitTerms cuts an expression at its commas, but not at those inside parentheses.
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

// readValues reads what stands after the key.
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
