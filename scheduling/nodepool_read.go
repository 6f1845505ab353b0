package scheduling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// manifest is a document being read. It collects faults and warnings.
type manifest struct {
	Faults
	warnings        []string
	stored          bool   // in an API server, which gave it a UID
	kubeletSettings string // of v1beta1, as JSON
}

func (m *manifest) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

// value is a part of a document, with the path that leads to it.
type value struct {
	*manifest
	path string
	v    any
}

// parts says how the fields of an object are read, by name.
type parts map[string]func(value)

// object reads an object field by field. Fields that are null count as absent,
// fields without a reader as unknown.
func (v value) object(read parts) {
	fields, ok := v.v.(map[string]any)
	if !ok {
		v.fault("is not an object")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		part := value{v.manifest, strings.TrimPrefix(v.path+Field(name), "."), fields[name]}
		if part.v == nil {
			continue
		}
		if r, ok := read[name]; ok {
			r(part)
		} else {
			part.unknown()
		}
	}
}

// unknown reports an unknown field. It is a fault where it is probably a typo. An API server has
// checked a stored object against its schema, so that its unknown fields are newer than the fields
// known here.
func (v value) unknown() {
	meant := spelling.Field(reflect.TypeFor[NodePool](), v.path)
	switch {
	case meant == "":
		v.warn("%s is not known and was ignored", v.path)
	case v.stored:
		v.warn("%s is not known and was ignored (did you mean %s?)", v.path, meant)
	default:
		v.fault("is not known (did you mean " + meant + "?)")
	}
}

// fault notes a fault of the value.
func (v value) fault(message string) {
	text, ok := v.v.(string)
	if !ok {
		raw, err := json.Marshal(v.v)
		if err != nil {
			raw = nil
		}
		text = string(raw)
	}
	const limit = 80
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	v.Add(text, message, v.path)
}

func (v value) list(each func(value)) {
	entries, ok := v.v.([]any)
	if !ok {
		v.fault("is not a list")
		return
	}
	for i, e := range entries {
		each(value{v.manifest, v.path + "[" + strconv.Itoa(i) + "]", e})
	}
}

func (v value) text() string {
	s, ok := v.v.(string)
	if !ok {
		v.fault("is not text: put it into quotes")
	}
	return s
}

func (v value) texts() []string {
	out := []string{}
	v.list(func(e value) { out = append(out, e.text()) })
	return out
}

func (v value) textMap() map[string]string {
	fields, ok := v.v.(map[string]any)
	if !ok {
		v.fault("is not an object")
		return nil
	}
	out := make(map[string]string, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out[name] = value{v.manifest, v.path + Field(name), fields[name]}.text()
	}
	return out
}

// whole reads an integer of so many bits.
func (v value) whole(bits int) int64 {
	if number, ok := v.v.(json.Number); ok {
		if n, err := strconv.ParseInt(number.String(), 10, bits); err == nil {
			return n
		}
	}
	v.fault(fmt.Sprintf("is not a whole number of %d bits", bits))
	return 0
}

func (v value) quantities() corev1.ResourceList {
	fields, ok := v.v.(map[string]any)
	if !ok {
		v.fault("is not an object")
		return nil
	}
	out := make(corev1.ResourceList, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		e := value{v.manifest, v.path + Field(name), fields[name]}
		text, ok := e.v.(string)
		if number, isNumber := e.v.(json.Number); isNumber {
			text, ok = number.String(), true
		}
		q, err := parseQuantity(text)
		if !ok || err != nil {
			e.fault(`is not a quantity such as "1000" or "4000Gi"`)
			continue
		}
		out[corev1.ResourceName(name)] = q
	}
	return out
}

// parseQuantity refuses quantities that no machine can have before apimachinery writes out their
// digits, because 1e-1000000000 takes it minutes.
func parseQuantity(s string) (resource.Quantity, error) {
	const digits, places = 100, 3
	_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if len(s) > digits || len(strings.TrimLeft(exponent, "+-0")) > places {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(s)
}

// nillable reads a duration or Never. A number is read as seconds, with a warning.
func (v value) nillable() *NillableDuration {
	raw, err := json.Marshal(v.v)
	if err != nil {
		v.fault(err.Error())
		return nil
	}
	d := new(NillableDuration)
	if err := d.UnmarshalJSON(raw); err != nil {
		v.fault(durationMessage(err, v.v))
		return nil
	}
	if number, ok := v.v.(json.Number); ok {
		v.warn("%s: %s has no unit and was read as seconds", v.path, number)
	}
	return d
}

// duration reads a duration that may not be Never.
func (v value) duration() *metav1.Duration {
	text, ok := v.v.(string)
	if !ok {
		v.fault(`is no duration: want for example "720h"`)
		return nil
	}
	d, err := parseDuration(text)
	if err != nil {
		v.fault(durationMessage(err, v.v))
		return nil
	}
	return &metav1.Duration{Duration: d}
}

// durationMessage drops the value from the front of an error that names it, because
// field errors name it anyway.
func durationMessage(err error, v any) string {
	if text, ok := v.(string); ok {
		return strings.TrimPrefix(err.Error(), strconv.Quote(text)+" ")
	}
	raw, marshalErr := json.Marshal(v)
	if marshalErr != nil {
		return err.Error()
	}
	return strings.TrimPrefix(err.Error(), string(raw)+" ")
}

// time reads a point in time.
func (v value) time() *metav1.Time {
	text, ok := v.v.(string)
	t, err := time.Parse(time.RFC3339, text)
	if !ok || err != nil {
		v.fault(`is not a time such as "2026-01-31T12:00:00Z"`)
		return nil
	}
	return &metav1.Time{Time: t}
}

// Tree parses JSON without losing digits.
func Tree(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
