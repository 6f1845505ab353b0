package nopanic

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// maker makes values of any type, and spoils some.
type maker struct {
	t   *testing.T
	rng *rand.Rand
	// depth is the number of pointers, structs and lists down to which values are filled; values below are zero, as is
	// one value in six above.
	depth int
}

func pick[T any](m *maker, of ...T) T { return of[m.rng.IntN(len(of))] }

// text is a string that some reader might take, or none.
func (m *maker) text() string {
	return pick(m, "", "a", "default", "web-0", "zone-a", "spot", "In", "NoSchedule", "kubernetes.io/hostname", "a/b/c", "1", "-1", "9223372036854775808", "1e400",
		"NaN", "100%", "@daily", "\x00\xff", "{}", "[]", "null", `{"items":[null]}`, strings.Repeat("x", 300))
}

// integer is a number of so many bits, mostly at an end of their range.
func (m *maker) integer(bits int) int64 {
	high := int64(math.MaxInt64) >> (64 - bits)
	return pick(m, 0, 1, -1, 2, 7, 1000&high, high, high-1, -high-1)
}

// make makes a value of a type.
func (m *maker) make(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	m.fill(v, m.depth)
	return v
}

// fill sets a value.
func (m *maker) fill(v reflect.Value, depth int) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Interface:
		m.fillInterface(v)
	case depth <= 0, depth < m.depth && m.rng.IntN(6) == 0:
		v.SetZero()
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(m.rng.Int64N(1<<32), 0)))
	case t == reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse(pick(m, "0", "1", "-1", "100m", "1n", "4Gi", "1e30", "9223372036854775807", "-9223372036854775808"))))
	default:
		m.fillKind(v, depth)
	}
}

// fillKind sets a value of a kind.
func (m *maker) fillKind(v reflect.Value, depth int) {
	switch t := v.Type(); t.Kind() {
	case reflect.Bool:
		v.SetBool(m.rng.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(m.integer(t.Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(m.integer(t.Bits())) & (1<<t.Bits() - 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(m, 0, 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64))
	case reflect.String:
		v.SetString(m.text())
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		m.fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, m.rng.IntN(3), 3))
		for i := range v.Len() {
			m.fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for range m.rng.IntN(3) {
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			m.fill(key, depth)
			m.fill(value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if v.Field(i).CanSet() {
				m.fill(v.Field(i), depth-1)
			}
		}
	case reflect.Func:
		v.Set(answers(t))
	default:
	}
}

// fillInterface sets a value of an interface of Go's own library; others stay nil.
func (m *maker) fillInterface(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[context.Context]():
		v.Set(reflect.ValueOf(m.t.Context()))
	case reflect.TypeFor[io.Reader]():
		v.Set(reflect.ValueOf(strings.NewReader(m.text())))
	case reflect.TypeFor[io.Writer]():
		v.Set(reflect.ValueOf(io.Discard))
	case reflect.TypeFor[error]():
		if m.rng.IntN(2) == 0 {
			v.Set(reflect.ValueOf(errors.New(m.text())))
		}
	}
}

// answers is a function that answers true where it is asked yes or no, and else nothing.
func answers(t reflect.Type) reflect.Value {
	return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
		var out []reflect.Value
		for i := range t.NumOut() {
			x := reflect.New(t.Out(i)).Elem()
			if x.Kind() == reflect.Bool {
				x.SetBool(true)
			}
			out = append(out, x)
		}
		return out
	})
}

// spoil changes one thing somewhere within a value, and returns its path.
func (m *maker) spoil(v reflect.Value) (path string) {
	t := v.Type()
	whole := m.rng.IntN(12) == 0 || t == reflect.TypeFor[*instancetypes.Catalog]() || t == reflect.TypeFor[time.Time]()
	switch {
	case whole:
	case t.Kind() == reflect.Pointer && !v.IsNil():
		return m.spoil(v.Elem())
	case t.Kind() == reflect.Slice && v.Len() > 0:
		return "[]" + m.spoil(v.Index(m.rng.IntN(v.Len())))
	case t.Kind() == reflect.Map && v.Len() > 0:
		key, value := v.MapKeys()[m.rng.IntN(v.Len())], reflect.New(t.Elem()).Elem()
		value.Set(v.MapIndex(key))
		path = m.spoil(value)
		v.SetMapIndex(key, value)
		return "[" + key.String() + "]" + path
	case t.Kind() == reflect.Struct:
		for range 2 * t.NumField() {
			i := m.rng.IntN(t.NumField())
			if f := v.Field(i); f.CanSet() && (!f.IsZero() || m.rng.IntN(4) == 0) {
				return "." + t.Field(i).Name + m.spoil(f)
			}
		}
	}
	if m.rng.IntN(3) == 0 {
		v.SetZero()
	} else {
		m.fill(v, m.depth)
	}
	return ""
}
