package manifest

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Locate finds the places in the input of faults that were found in the snapshot's problem after
// reading, e.g. by a [scheduling.Policy]: [*scheduling.FieldErrors] become [Faults] in the same
// order, each of which wraps the original fault. A fault in the template of a workload, which all
// of its pods share, is reported once. Objects outside of the input, e.g. a catalog, have no
// location. Any other error is returned unchanged.
func (s *Snapshot) Locate(err error) error {
	fields, ok := err.(*scheduling.FieldErrors) //nolint:errorlint // a wrapped error has more to say
	if !ok {
		return err
	}
	var out Faults
	seen := map[Fault]bool{}
	for _, e := range fields.Errors {
		f := s.fault(e)
		key := *f
		key.cause = nil
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

// fault says where the object of a fault stands.
func (s *Snapshot) fault(e *scheduling.FieldError) *Fault {
	f := &Fault{Field: e.Path, Value: quote(e.Value), Message: e.Message, cause: e}
	list, rest, _ := strings.Cut(e.Path, "[")
	name, field, named := strings.Cut(rest, "]")
	if !named {
		return f
	}
	namespace, object, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, object = "", name
	}
	field = strings.TrimPrefix(field, ".")
	for k, r := range readers() {
		at := s.seen[objectKey{k, namespace, object}]
		// Objects that were made for a workload, e.g. its claims, have no place in the input.
		if slices.Contains(strings.Fields(r.list), list) && at.Source != "" {
			f.At, f.Object, f.Field = at, k.name+" "+name, field
			return f
		}
	}
	if w := s.made[name]; w != nil && list == "pods" {
		f.At, f.Object, f.Field = w.at, reference(w.kind, w.obj), strict.Below(w.path+".template", field)
	}
	return f
}
