package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// typeChecker compares a tree with a Go type. It finds every value that does not
// fit, where the decoder stops at the first and, for types that decode themselves,
// does not say where it was; and every field that the type does not have.
type typeChecker struct {
	faults  []fieldFault
	unknown []path
}

// check compares one value with the type that it is decoded into.
func (c *typeChecker) check(v any, t reflect.Type, at path) {
	if v == nil || len(c.faults) >= maxFaults {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		c.decodes(v, t, at)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		c.object(v, at, func(name string) (reflect.Type, bool) { return jsonField(t, name) })
	case reflect.Map:
		c.object(v, at, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			c.decodes(v, t, at)
			return
		}
		l, ok := v.([]any)
		if !ok {
			c.report(v, "is not a list", at)
		}
		for i, e := range l {
			c.check(e, t.Elem(), at.at(i))
		}
	case reflect.String:
		switch v.(type) {
		case string:
		case bool:
			c.report(v, "is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)", at)
		default:
			c.report(v, "is not text: put it into quotes", at)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			c.report(v, "is not true or false", at)
		}
	default:
		c.decodes(v, t, at)
	}
}

// object compares the members of an object with the types that they have by name.
func (c *typeChecker) object(v any, at path, member func(name string) (reflect.Type, bool)) {
	m, ok := v.(map[string]any)
	if !ok {
		c.report(v, "is not an object", at)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		t, known := member(name)
		switch below := at.key(name); {
		case known:
			c.check(m[name], t, below)
		case !ownedByServer(below):
			c.unknown = append(c.unknown, below)
		}
	}
}

// decodes has a value decoded on its own, as only its type knows what it may be.
func (c *typeChecker) decodes(v any, t reflect.Type, at path) {
	raw, err := json.Marshal(v)
	if err != nil || json.Unmarshal(raw, reflect.New(t).Interface()) == nil {
		return
	}
	msg := "does not fit the field's type " + t.Name()
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		msg = `is not a quantity such as "500m" or "2Gi"`
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		msg = fmt.Sprintf("is not a whole number of %d bits", t.Bits())
	case t.Name() == "Time" || t.Name() == "MicroTime":
		msg = `is not a time such as "2026-01-31T12:00:00Z"`
	case strings.HasSuffix(t.Name(), "Duration"):
		msg = `is not a duration such as "30s" or "12h"`
	case t.Name() == "IntOrString":
		msg = `is not a number and not a text such as "10%"`
	}
	c.report(v, msg, at)
}

// report adds a fault.
func (c *typeChecker) report(v any, msg string, at path) {
	c.faults = append(c.faults, fieldFault{field: at.String(), value: written(v), msg: msg})
}

// jsonField returns the type of the field that a struct has under a JSON name.
func jsonField(t reflect.Type, name string) (reflect.Type, bool) {
	for field := range spelling.Fields(t) {
		if field.Name == name {
			return field.Type, true
		}
	}
	return nil, false
}
