package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/plimsoll-go/plimsoll/internal/untrusted"
)

// Fault is a value that its field cannot have.
type Fault struct {
	// Field is the path of the field, e.g. spec.containers[0].name; "" for the whole document.
	Field string
	// Value is the value as encoding/json reads it into an any, with numbers as json.Number; nil for
	// faults of a key, and for a null.
	Value any
	// Message states the fault, and continues a sentence that begins with the value.
	Message string
}

// Rules are the rules for a document beside those of its Go type.
type Rules struct {
	// NullEntries admits null as an entry of a list or a map, as the API server does for kinds that
	// are built in. Schemas of custom resources refuse it. A field that is null is always absent.
	NullEntries bool
	// Accepted says of a document that was decoded without a fault that nothing else need be checked,
	// e.g. because the API server has accepted it; nil is never.
	Accepted func() bool
	// Check states the fault of a value of a type that decodes itself, or of a number; "" where there
	// is none. field is the path as in [Fault], name the field or the key of the entry at its end, for
	// an element of a list the field that holds the list. value is a pointer to the decoded value,
	// written is the value as in [Fault]. nil checks nothing.
	Check func(field, name string, value, written any) string
	// MaxFaults is the number of faults at which the comparison with the type ends.
	MaxFaults int
}

// Result is the result of [Decode].
type Result struct {
	// Faults are the values of a wrong type in the order of paths, then the duplicate keys.
	Faults []Fault
	// Unknown are the paths of fields that the Go type does not have.
	Unknown []string
	// OK says that the whole document was decoded. If it was not, the values without a fault were.
	OK bool

	raw    []byte
	layout *layout // nil until an offset is asked for
}

// Decode decodes a JSON document into the value that into points to.
func Decode(raw []byte, into any, rules Rules) *Result {
	r := &Result{raw: raw}
	var found []error
	err := errAbsurd
	field, value, absurd := untrusted.Quantity(raw)
	if !absurd {
		found, err = kjson.UnmarshalStrict(raw, into)
	}
	r.OK = err == nil
	if r.OK && len(found) == 0 && rules.Accepted != nil && rules.Accepted() {
		return r
	}
	tree, syntax := readTree(raw)
	if syntax != nil {
		r.Faults = []Fault{{Message: syntax.Error()}}
		return r
	}
	c := checker{rules: rules}
	fits := c.check(tree, reflect.TypeOf(into).Elem(), "", "")
	r.Faults = c.faults
	if absurd && len(r.Faults) == 0 {
		r.Faults = []Fault{{field, value, absurdExponent}} // of a field that is read as a quantity later
	}
	if !r.OK && fits {
		found = decodeRest(tree, into)
	}
	r.Unknown = unknownFields(found)
	if !r.OK || len(r.Unknown) < len(found) {
		for _, field := range r.where().duplicates {
			r.Faults = append(r.Faults, Fault{Field: field, Message: "is given twice"})
		}
	}
	if !r.OK && len(r.Faults) == 0 {
		r.Faults = []Fault{{Message: strings.TrimPrefix(err.Error(), "json: ")}}
	}
	return r
}

// absurdExponent is the message for a quantity that would take apimachinery minutes to read.
const absurdExponent = "is not a quantity: its exponent is too large"

// errAbsurd says that a document has such a quantity, and was not decoded.
var errAbsurd = errors.New("a quantity " + absurdExponent)

// readTree reads a document without its type.
func readTree(raw []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err = d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the end of the document")
	}
	return tree, nil
}

// decodeRest decodes a document again from which the checker has removed the faulty values, and
// returns the unknown fields.
func decodeRest(tree, into any) []error {
	rest, err := json.Marshal(tree)
	if _, _, absurd := untrusted.Quantity(rest); absurd || err != nil {
		return nil
	}
	found, err := kjson.UnmarshalStrict(rest, into)
	if err != nil {
		return nil // the checker does not know the fault, so that Decode reports the decoder's
	}
	return found
}

// unknownFields returns the paths of the fields that the decoder does not know.
func unknownFields(found []error) (paths []string) {
	for _, e := range found {
		field, ok := e.(kjson.FieldError) //nolint:errorlint // they are not wrapped
		if ok && strings.HasPrefix(e.Error(), "unknown") {
			paths = append(paths, field.FieldPath())
		}
	}
	return paths
}

// KeyOffset returns where the key of a field begins in the document, in bytes. The offset of the
// document itself, and of elements of lists, is that of the value.
func (r *Result) KeyOffset(field string) int64 {
	if at, ok := r.where().keys[field]; ok {
		return at
	}
	return r.ValueOffset(field)
}

// ValueOffset returns where the value of a field begins in the document, in bytes. For a field that
// is not in the document it is that of the innermost object that would hold it.
func (r *Result) ValueOffset(field string) int64 {
	for field != "" {
		if at, ok := r.where().values[field]; ok {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return r.where().values[""]
}

// Has reports whether the document has a field; null counts.
func (r *Result) Has(field string) bool {
	_, ok := r.where().values[field]
	return ok
}

// where returns the layout of the document.
func (r *Result) where() *layout {
	if r.layout == nil {
		r.layout = layoutOf(r.raw)
	}
	return r.layout
}

// layout says where in a document the fields are.
type layout struct {
	keys, values map[string]int64 // by path, in bytes; of a duplicate key the last
	duplicates   []string         // paths
}

// layoutOf returns the layout of a JSON document.
func layoutOf(raw []byte) *layout {
	l := &layout{keys: map[string]int64{}, values: map[string]int64{}}
	w := layoutWalk{layout: l, raw: raw, dec: json.NewDecoder(bytes.NewReader(raw))}
	w.value("")
	return l
}

// layoutWalk walks through a document.
type layoutWalk struct {
	layout *layout
	raw    []byte
	dec    *json.Decoder
}

// token returns the next token, nil at a fault of syntax, and where it begins.
func (w *layoutWalk) token() (json.Token, int64) {
	start := w.dec.InputOffset()
	for start < int64(len(w.raw)) && strings.IndexByte(" \t\r\n,:", w.raw[start]) >= 0 {
		start++
	}
	tok, err := w.dec.Token()
	if err != nil {
		return nil, start
	}
	return tok, start
}

// value notes the value at a path, and the values in it.
func (w *layoutWalk) value(at string) {
	tok, start := w.token()
	w.layout.values[at] = start
	switch tok {
	case json.Delim('{'):
		for w.dec.More() {
			key, begin := w.token()
			name, ok := key.(string)
			if !ok {
				return
			}
			path := Member(at, name)
			if _, twice := w.layout.keys[path]; twice && !slices.Contains(w.layout.duplicates, path) {
				w.layout.duplicates = append(w.layout.duplicates, path)
			}
			w.layout.keys[path] = begin
			w.value(path)
		}
		w.token()
	case json.Delim('['):
		for i := 0; w.dec.More(); i++ {
			w.value(Element(at, i))
		}
		w.token()
	}
}
