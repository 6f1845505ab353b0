package rule

import "fmt"

// Violation is one rule that a plan breaks, at one object.
type Violation struct {
	// Code names the rule, one of the constants of this package. Object is where it is broken, as kind/name, e.g.
	// "pod/shop/web-0". Detail states the value found and the one expected.
	Code, Object, Detail string
}

// Report collects violations.
type Report struct {
	Violations []Violation
}

// Add adds a violation; format and args make its detail.
func (r *Report) Add(code, object, format string, args ...any) {
	r.Violations = append(r.Violations, Violation{Code: code, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// AddWithin adds the violations of another report, with the objects as parts of one, e.g. "steps[0]/node/a" for the
// object "node/a" within "steps[0]".
func (r *Report) AddWithin(object string, other *Report) {
	for _, v := range other.Violations {
		v.Object = object + "/" + v.Object
		r.Violations = append(r.Violations, v)
	}
}
