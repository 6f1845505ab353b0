package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/internal/untrusted"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// fieldFault is a fault of which the object is known.
type fieldFault struct {
	field, value, msg string

	cause *scheduling.FieldError // where the validation of a problem found it
}

// decode fills into, a pointer to the Go type of the kind, from JSON at a path of an object, "" for
// the object itself. Faults are all values of a wrong type and all duplicate keys; unknown are the
// paths, below at, of fields that users write and the type does not have; ok says that into was
// filled.
//
// An object that the API server has accepted, which has a UID, has none of these faults, but may
// have fields of a newer version of Kubernetes.
func decode(raw []byte, into any, at string) (faults []fieldFault, unknown []string, ok bool) {
	if field, value, found := untrusted.Quantity(raw); found {
		return []fieldFault{{field: field, value: value, msg: "is no quantity: its exponent is out of all proportion"}}, nil, false
	}
	strict, err := strictjson.UnmarshalStrict(raw, into)
	if obj, ok := into.(metav1.Object); ok && err == nil && obj.GetUID() != "" {
		return nil, nil, true
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return []fieldFault{{field: at, msg: err.Error()}}, nil, false
	}
	c := typeChecker{}
	c.check(tree, reflect.TypeOf(into).Elem(), at, "")
	for _, e := range strict {
		var field strictjson.FieldError
		if field, _ = e.(strictjson.FieldError); field == nil { //nolint:errorlint // they are not wrapped
			continue
		}
		switch path := field.FieldPath(); {
		case strings.HasPrefix(e.Error(), "duplicate"):
			c.faults = append(c.faults, fieldFault{field: below(at, path), msg: "stands there twice"})
		case !slices.Contains([]string{"status", "metadata"}, strings.SplitN(path, ".", 2)[0]): // fields of users, because the server writes all others
			unknown = append(unknown, path)
		}
	}
	if err != nil && len(c.faults) == 0 {
		c.faults = append(c.faults, fieldFault{field: at, msg: strings.TrimPrefix(err.Error(), "json: ")})
	}
	return c.faults, unknown, err == nil
}

// below returns a path below another one.
func below(at, path string) string {
	if at == "" || path == "" || path[0] == '[' {
		return at + path
	}
	return at + "." + path
}

// member returns the path of a field or of a map's key below at, as kubectl's users write
// it: names that hold dots or slashes stand in brackets.
func member(at, name string) string {
	if strings.ContainsAny(name, "./[] ") {
		return at + "[" + name + "]"
	}
	return below(at, name)
}

// element returns the path of an element of a list.
func element(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// typeChecker compares a tree with a Go type. It finds every value that does not
// fit, where the decoder stops at the first and, for types that decode themselves,
// does not say where it was; and every amount that the API server would refuse.
type typeChecker struct {
	faults []fieldFault
}

// check compares one value with the type that it is decoded into. name is the field or key
// that it stands under.
func (c *typeChecker) check(v any, t reflect.Type, at, name string) {
	if v == nil || len(c.faults) >= maxFaults {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind := t.Kind()
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) || kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		kind = reflect.Invalid // only the type knows which kinds of values it reads
	}
	switch kind {
	case reflect.Struct, reflect.Map:
		m, ok := v.(map[string]any)
		if !ok {
			c.report(v, "is not an object", at)
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if kind == reflect.Map {
				c.check(m[name], t.Elem(), member(at, name), name)
			} else if field, known := spelling.FieldOf(t, name); known {
				c.check(m[name], field, member(at, name), name)
			}
		}
	case reflect.Slice:
		l, ok := v.([]any)
		if !ok {
			c.report(v, "is not a list", at)
		}
		for i, e := range l {
			c.check(e, t.Elem(), element(at, i), name)
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
		c.decodes(v, t, at, name)
	}
}

// decodes has a value decoded on its own, and looks at the amount that it may be.
func (c *typeChecker) decodes(v any, t reflect.Type, at, name string) {
	raw, err := json.Marshal(v)
	if err != nil {
		return
	}
	into := reflect.New(t)
	if json.Unmarshal(raw, into.Interface()) == nil {
		if msg := amountFault(name, into.Interface()); msg != "" {
			c.report(v, msg, at)
		}
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
func (c *typeChecker) report(v any, msg, at string) {
	c.faults = append(c.faults, fieldFault{field: at, value: written(v), msg: msg})
}

// written returns a value as it stands in the input, shortened.
func written(v any) string { return shorten(inJSON(v)) }

// inJSON returns a value as JSON, with the keys of maps in order; "" where it has none.
func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// amountFault states the fault of an amount with a name: of a number of pods, or of a quantity of a
// resource. Pods and devices must be whole numbers. Amounts above 64 bits are allowed, as in the
// API server.
func amountFault(name string, amount any) string {
	switch a := amount.(type) {
	case *int32:
		if *a < 0 && slices.Contains([]string{"replicas", "parallelism", "completions", "start"}, name) {
			return "is negative"
		}
	case *resource.Quantity:
		switch {
		case a.Sign() < 0:
			return "is negative"
		case (name == string(corev1.ResourcePods) || strings.Contains(name, "/")) && !whole(*a):
			return "is not a whole number"
		}
	}
	return ""
}

// whole reports whether a quantity is a whole number.
func whole(q resource.Quantity) bool {
	q = q.DeepCopy() // rounding may change the form of its receiver
	return q.RoundUp(0)
}

// didYouMean asks about a typo, and is empty where no name is near.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}
