package manifest

import (
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// faultAt says where the object of a fault stands.
func faultAt(s *Snapshot, e *scheduling.FieldError) *Fault {
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
