package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/internal/untrusted"
)

// checker compares a tree with a Go type. It finds every value that does not fit, and removes it
// from the tree, where the decoder stops at the first and, for types that decode themselves, does
// not say where it was.
type checker struct {
	rules  Rules
	faults []Fault
}

// check compares one value with the type that it is decoded into, and reports whether it fits but
// for values in it that have been removed. name is the field or key that it stands under.
func (c *checker) check(v any, t reflect.Type, at, name string) bool {
	if v == nil || len(c.faults) >= c.rules.MaxFaults {
		return true
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := t.Kind()
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || t == reflect.TypeFor[json.Number]() || kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		kind = reflect.Invalid // only the type knows which kinds of values it reads
	}
	switch kind {
	case reflect.Struct, reflect.Map:
		return c.object(v, t, at)
	case reflect.Slice:
		return c.list(v, t, at, name)
	case reflect.String:
		switch v.(type) {
		case string:
			return true
		case bool:
			return c.report(v, "is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)", at)
		}
		return c.report(v, "is not text: put it into quotes", at)
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return c.report(v, "is not true or false", at)
		}
		return true
	}
	return c.decodes(v, t, at, name)
}

// object checks the fields of a struct, or the entries of a map. Fields that a struct does not have
// are left to the decoder.
func (c *checker) object(v any, t reflect.Type, at string) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return c.report(v, "is not an object", at)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fits := true
		if t.Kind() == reflect.Map {
			fits = c.entry(m[name], t.Elem(), Member(at, name), name)
		} else if field, known := spelling.FieldOf(t, name); known {
			fits = c.check(m[name], field, Member(at, name), name)
		}
		if !fits {
			delete(m, name)
		}
	}
	return true
}

// list checks the elements of a list. Elements that do not fit become null, so that others keep
// their index.
func (c *checker) list(v any, t reflect.Type, at, name string) bool {
	l, ok := v.([]any)
	if !ok {
		return c.report(v, "is not a list", at)
	}
	for i, e := range l {
		if !c.entry(e, t.Elem(), Element(at, i), name) {
			l[i] = nil
		}
	}
	return true
}

// entry checks an entry of a list or a map.
func (c *checker) entry(v any, t reflect.Type, at, name string) bool {
	if v == nil && !c.rules.NullEntries {
		return c.report(nil, "is null", at)
	}
	return c.check(v, t, at, name)
}

// decodes has a value decoded on its own, and by the rules.
func (c *checker) decodes(v any, t reflect.Type, at, name string) bool {
	raw, err := json.Marshal(v)
	if err != nil {
		return true
	}
	if text := strings.Trim(string(raw), `"`); t == reflect.TypeFor[resource.Quantity]() && untrusted.Absurd(text) {
		return c.report(v, absurdExponent, at)
	}
	into := reflect.New(t)
	if err := json.Unmarshal(raw, into.Interface()); err != nil {
		return c.report(v, typeFault(t, v, err), at)
	}
	if c.rules.Check != nil {
		if msg := c.rules.Check(at, name, into.Interface(), v); msg != "" {
			return c.report(v, msg, at)
		}
	}
	return true
}

// report adds a fault, and returns false.
func (c *checker) report(v any, msg, at string) bool {
	c.faults = append(c.faults, Fault{Field: at, Value: v, Message: msg})
	return false
}

// module is the path of this module, whose types state their faults themselves.
const module = "github.com/plimsoll-go/plimsoll/"

// typeFault says why a value is none of a type that has refused it with an error.
func typeFault(t reflect.Type, v any, err error) string {
	switch {
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 && t.PkgPath() == "":
		return fmt.Sprintf("is not a whole number of %d bits", t.Bits())
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 || t == reflect.TypeFor[json.Number]():
		return "is not a number"
	case strings.HasPrefix(t.PkgPath(), module):
		return withoutValue(err.Error(), v)
	}
	switch t.Name() {
	case "Quantity":
		return `is not a quantity such as "500m" or "2Gi"`
	case "Time", "MicroTime":
		return `is not a time such as "2026-01-31T12:00:00Z"`
	case "Duration":
		text, ok := v.(string)
		if _, err := ParseDuration(text); ok && err != nil {
			return withoutValue(err.Error(), v)
		}
		return `is not a duration: want for example "720h"`
	case "IntOrString":
		return `is not a number and not a text such as "10%"`
	}
	return "does not fit the field's type " + t.Name()
}

// withoutValue returns the message of an error behind the value that it names, because a fault has
// the value beside its message.
func withoutValue(message string, v any) string {
	text := fmt.Sprint(v)
	for _, value := range []string{strconv.Quote(text), text} {
		if _, rest, named := strings.Cut(message, value); named {
			return strings.TrimLeft(rest, ": ")
		}
	}
	return message
}
