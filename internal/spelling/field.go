package spelling

import (
	"cmp"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// Nearest returns the name that a mistyped one was probably meant to be: it differs in
// case only, or in few letters. It is empty where there is none.
func Nearest(typed string, names []string) string {
	lower := strings.ToLower(typed)
	near := Closest(names, 1, func(name string) (int, bool) {
		d := Distance(lower, strings.ToLower(name))
		return d, d <= 1+len(typed)/5 && d < len(typed)
	})
	if len(near) == 0 {
		return ""
	}
	return near[0]
}

// JSONField is a field as encoding/json knows it.
type JSONField struct {
	Name string
	Type reflect.Type
}

// Fields returns the fields of a struct, those of structs that it embeds among them.
func Fields(t reflect.Type) iter.Seq[JSONField] {
	return func(yield func(JSONField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-":
			case name != "":
				if !yield(JSONField{name, f.Type}) {
					return
				}
			case f.Anonymous && f.Type.Kind() == reflect.Struct:
				for inner := range Fields(f.Type) {
					if !yield(inner) {
						return
					}
				}
			}
		}
	}
}

// FieldOf returns the type of the field that a struct has under a JSON name.
func FieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for field := range Fields(t) {
		if field.Name == name {
			return field.Type, true
		}
	}
	return nil, false
}

// farthest is how many levels a field may be from where it was written: a container of a
// CronJob written into its specification is 4 off.
const farthest = 4

// Field returns the field that was probably meant by the one at a path, such as
// spec.containers[0].imag, that the type of the object does not have: the name of one in
// the same place that is spelt almost the same, or the path of the nearest one of that
// name in another place. It is empty where there is none, or no single one.
func Field(object reflect.Type, at string) string {
	levels := split(at)
	here, name := levels[:len(levels)-1], levels[len(levels)-1]
	s := search{name: name, here: here}
	s.in(object, nil, nil)
	if near := Nearest(name, s.siblings); near != "" {
		return near
	}
	slices.SortStableFunc(s.found, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.common, a.common))
	})
	switch {
	case len(s.found) == 0, s.found[0].distance > farthest:
		return ""
	case len(s.found) > 1 && s.found[1].distance == s.found[0].distance && s.found[1].common == s.found[0].common:
		return ""
	}
	return s.found[0].path
}

// split takes a path apart into names and indexes: spec, containers, [0], name.
func split(path string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(path, "[", ".["), "..", "."), ".")
}

// search looks for a name in all places of a type.
type search struct {
	name     string
	here     []string
	siblings []string // the fields there are where the name was written
	found    []place
}

// place is where there is a field of the name.
type place struct {
	path             string
	distance, common int // levels up and down again; levels in common
}

// in looks in a type at a place, to which the types above lead.
func (s *search) in(t reflect.Type, at []string, above []reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || slices.Contains(above, t) {
		return
	}
	above = append(above[:len(above):len(above)], t)
	switch t.Kind() {
	case reflect.Slice:
		s.in(t.Elem(), append(at[:len(at):len(at)], s.index(at)), above)
	case reflect.Struct:
		common := 0
		for common < min(len(at), len(s.here)) && at[common] == s.here[common] {
			common++
		}
		if len(at) == common && len(s.here) == common {
			for f := range Fields(t) {
				s.siblings = append(s.siblings, f.Name)
			}
		}
		for f := range Fields(t) {
			if len(at) == 0 && f.Name == "status" {
				continue // because the API server writes the status, not the user
			}
			below := append(slices.Clone(at), f.Name)
			if f.Name == s.name {
				s.found = append(s.found, place{
					path:     strings.ReplaceAll(strings.Join(below, "."), ".[", "["),
					distance: len(s.here) - common + len(at) - common,
					common:   common,
				})
			}
			s.in(f.Type, below, above)
		}
	}
}

// index is the one that was written, as long as it is the same list, and any otherwise.
func (s *search) index(at []string) string {
	if len(s.here) > len(at) && slices.Equal(s.here[:len(at)], at) && strings.HasPrefix(s.here[len(at)], "[") {
		return s.here[len(at)]
	}
	return "[*]"
}
