package verify

import (
	"fmt"
	"slices"
	"strings"
)

// shownViolations bounds how many violations an error text spells out.
const shownViolations = 10

// Violation is one rule that a plan breaks, at one object.
type Violation struct {
	// Code names the rule; see [Codes].
	Code Code
	// Object is where the rule is broken, as kind/name: "pod/shop/web-0",
	// "launch/default-1/options[2]", "node/ip-10-0-0-1", "summary".
	Object string
	// Detail says what was found and what was expected.
	Detail string
}

// Error returns the violation as one line: object, rule, detail.
func (v Violation) Error() string {
	return fmt.Sprintf("%s: %s: %s", v.Object, v.Code, v.Detail)
}

// Report is the error that a plan which breaks rules is answered with. It holds
// every violation, in the order in which the plan is read.
type Report struct {
	// Violations are never none.
	Violations []Violation
}

// Error returns the number of violations and the first ten of them, one a line.
func (r *Report) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan breaks %d %s", len(r.Violations), plural("rule", len(r.Violations)))
	for i, v := range r.Violations {
		if i == shownViolations {
			fmt.Fprintf(&b, "\n  and %d more", len(r.Violations)-shownViolations)
			break
		}
		b.WriteString("\n  ")
		b.WriteString(v.Error())
	}
	return b.String()
}

// Unwrap returns the violations, so that errors.As finds a [Violation].
func (r *Report) Unwrap() []error {
	errs := make([]error, len(r.Violations))
	for i, v := range r.Violations {
		errs[i] = v
	}
	return errs
}

// Has reports whether any violation carries the code.
func (r *Report) Has(c Code) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Code == c })
}

// Count returns the number of violations of each code that occurs.
func (r *Report) Count() map[Code]int {
	n := make(map[Code]int)
	for _, v := range r.Violations {
		n[v.Code]++
	}
	return n
}

// err returns the report as an error, nil when nothing is wrong.
func (r *Report) err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	return r
}

func (r *Report) add(code Code, object, format string, args ...any) {
	r.Violations = append(r.Violations, Violation{Code: code, Object: object, Detail: fmt.Sprintf(format, args...)})
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
