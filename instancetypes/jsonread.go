package instancetypes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// formatVersion is the version of the JSON format that this package writes, and
// the only one there is.
const formatVersion = "1"

// ReadJSON reads a catalog in the JSON format that the package comment describes. It is strict:
// unknown and repeated fields, values out of range and duplicate names are faults. The error
// reports every fault with its line, as [CatalogFault] values; after a fault of syntax the rest of the
// file is not read. A file without a type is an error, because it is never intended.
func ReadJSON(r io.Reader) (*Catalog, error) {
	in := newInput(r, true)
	j := &jsonReader{in: in, dec: json.NewDecoder(in), at: position{line: 1, column: 1}, places: places{}}
	j.dec.UseNumber()
	b := newCatalogBuilder(&j.fs)
	var provenance []Provenance
	if tok := j.token(); tok == json.Delim('[') {
		j.fault("", "", "must be an object that holds instanceTypes; an array of types is the format of Karpenter's KWOK provider, which ReadKWOK reads")
	} else {
		j.object(tok, "", func(key string) bool {
			switch key {
			case "version":
				if v, ok := j.scalar(j.token(), key, aNumber); ok && v != formatVersion {
					j.fault(key, v, "is not a version that this program knows")
				}
			case "provenance":
				j.readInto(j.token(), key, reflect.ValueOf(&provenance).Elem())
			case "instanceTypes":
				j.array(j.token(), key, func(int) { j.instanceType(b) })
			default:
				return false
			}
			return true
		})
		j.end()
	}
	catalog, err := b.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading JSON catalog: %w", err)
	}
	catalog.provenance = provenance
	return catalog, nil
}

// jsonReader walks through a JSON file and knows at each step where it is. Unlike json.Unmarshal it
// takes keys in the given case only, refuses unknown and repeated keys, and goes on after a wrong
// value, so that one reading reports every fault. After a fault of syntax no more can be read: stop
// is set, and every method returns at once.
type jsonReader struct {
	in     *input
	dec    *json.Decoder
	fs     faults
	at     position // of the token that was read last
	typ    string   // name of the instance type being read, for messages
	places places   // of the objects in it
	stop   bool
}

func (j *jsonReader) fault(field, value, problem string) {
	j.fs.add(&CatalogFault{Line: j.at.line, Column: j.at.column, Type: j.typ, Field: field, Value: value, Problem: problem})
}

// token reads the next token; nil if reading has come to a stop.
func (j *jsonReader) token() json.Token {
	if j.stop || j.fs.enough() {
		j.stop = true
		return nil
	}
	tok, err := j.dec.Token()
	end := j.dec.InputOffset()
	if err != nil {
		j.stop = true
		j.at = j.in.at(end)
		j.fs.add(readFault(j.at, j.typ, err))
		return nil
	}
	j.at = j.in.at(end - tokenLength(tok))
	return tok
}

// end checks that the input ends.
func (j *jsonReader) end() {
	if j.stop {
		return
	}
	tok, err := j.dec.Token()
	j.at = j.in.at(j.dec.InputOffset())
	switch {
	case err == nil:
		j.fault("", "", fmt.Sprintf("%s follows the end of the catalog", kind(tok)))
	case !errors.Is(err, io.EOF):
		j.fs.add(readFault(j.at, "", err))
	}
}

// instanceType reads one type and hands it to the builder.
func (j *jsonReader) instanceType(b *catalogBuilder) {
	j.in.begin(j.dec.InputOffset())
	known := len(j.fs.list)
	tok := j.token()
	t := &InstanceType{}
	j.places = places{"": j.at}
	fields := reflect.ValueOf(t).Elem()
	j.object(tok, "", func(key string) bool {
		ok := j.field(fields, "", key)
		j.typ = t.Name
		return ok
	})
	if !j.stop && tok == json.Delim('{') {
		var explained []string
		for _, f := range j.fs.list[known:] {
			explained = append(explained, f.Field)
		}
		b.add(t, j.places, explained)
	}
	j.typ = ""
}

// field reads the field of a struct that has a name, and reports whether there is one.
func (j *jsonReader) field(of reflect.Value, path, name string) bool {
	index := fieldIndex(of.Type(), name)
	if index == nil {
		return false
	}
	j.readInto(j.token(), dotted(path, name), of.FieldByIndex(index))
	return true
}

// Kinds of values, as messages name them.
const (
	anObject, anArray, aString, aNumber, aBool = "an object", "an array", "a string", "a number", "true or false"

	aQuantity = "a quantity" // a string, or a plain number
)

// kind names the kind of a token.
func kind(tok json.Token) string {
	switch tok {
	case json.Delim('{'):
		return anObject
	case json.Delim('['):
		return anArray
	}
	switch tok.(type) {
	case string:
		return aString
	case json.Number:
		return aNumber
	case bool:
		return aBool
	}
	return "null"
}

// wanted names the kind of value that a field takes.
func wanted(to reflect.Value) string {
	switch to.Interface().(type) {
	case resource.Quantity:
		return aQuantity
	case offerings.Price:
		return aNumber
	}
	switch to.Kind() {
	case reflect.Struct, reflect.Map:
		return anObject
	case reflect.Slice:
		return anArray
	case reflect.Int, reflect.Float64:
		return aNumber
	case reflect.Bool:
		return aBool
	}
	return aString
}

// readInto reads the value that begins with tok into a field.
func (j *jsonReader) readInto(tok json.Token, path string, to reflect.Value) {
	switch want := wanted(to); {
	case want == anArray:
		j.array(tok, path, func(i int) {
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			j.readInto(j.token(), fmt.Sprintf("%s[%d]", path, i), to.Index(i))
		})
	case to.Kind() == reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		j.object(tok, path, func(key string) bool {
			entry, field := reflect.New(to.Type().Elem()).Elem(), dotted(path, key)
			if entry.Kind() == reflect.String {
				field = path + "[" + key + "]"
			}
			j.readInto(j.token(), field, entry)
			to.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), entry)
			return true
		})
	case want == anObject:
		at, priced := j.at, false
		j.places[path] = at
		whole := j.object(tok, path, func(key string) bool {
			priced = priced || key == "price"
			return j.field(to, path, key)
		})
		if _, isOffering := to.Interface().(offerings.Offering); isOffering && whole && !priced {
			j.at = at
			j.fault(path+".price", "", "is missing; write 0 for what costs nothing")
		}
	default:
		if text, ok := j.scalar(tok, path, want); ok {
			if err := setText(to, text); err != nil {
				j.fault(path, text, err.Error())
			}
		}
	}
}

// scalar returns a token of the wanted kind as text. It reports a token of another kind and
// returns false.
func (j *jsonReader) scalar(tok json.Token, path, want string) (string, bool) {
	if got := kind(tok); got != want && (want != aQuantity || got != aString && got != aNumber) {
		j.wrong(tok, path, want)
		return "", false
	}
	return fmt.Sprint(tok), true
}

// object reads an object that begins with tok, and reports whether it was read to its end.
// read is called after each key, reads the value and reports whether it knows the key; if it
// does not it must not read.
func (j *jsonReader) object(tok json.Token, path string, read func(key string) bool) bool {
	if tok != json.Delim('{') {
		j.wrong(tok, path, anObject)
		return false
	}
	seen := map[string]bool{}
	for {
		key, ok := j.token().(string)
		if !ok {
			return !j.stop
		}
		field := dotted(path, key)
		switch {
		case seen[key]:
			j.fault(field, "", "stands here twice")
			j.skip(j.token())
		case !read(key):
			j.fault(field, "", "is not a known field")
			j.skip(j.token())
		}
		seen[key] = true
	}
}

// array reads an array that begins with tok; read is called before each element, and reads it.
func (j *jsonReader) array(tok json.Token, path string, read func(i int)) {
	if tok != json.Delim('[') {
		j.wrong(tok, path, anArray)
		return
	}
	for i := 0; !j.stop && j.dec.More(); i++ {
		read(i)
	}
	j.token()
}

// wrong reports a token of the wrong kind and skips the rest of its value.
func (j *jsonReader) wrong(tok json.Token, path, want string) {
	if !j.stop {
		j.fault(path, "", fmt.Sprintf("must be %s, not %s", want, kind(tok)))
		j.skip(tok)
	}
}

// skip passes over the value that begins with tok.
func (j *jsonReader) skip(tok json.Token) {
	const deepest = 1000
	for depth := 0; !j.stop; tok = j.token() {
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > deepest {
				j.fault("", "", "is nested too deeply: this is not a catalog")
				j.stop = true
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// readFault describes why a file could not be read further.
func readFault(at position, typ string, err error) *CatalogFault {
	f := &CatalogFault{Line: at.line, Column: at.column, Type: typ, Err: err, Problem: err.Error()}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		f.Problem = "the file ends too early"
	case errors.As(err, &syntax):
		f.Problem = "is not JSON: " + err.Error()
	}
	return f
}

// tokenLength returns how many bytes a token took in the file, as far as its value
// tells: a string may have been written with escapes.
func tokenLength(tok json.Token) int64 {
	switch tok := tok.(type) {
	case string:
		return int64(len(tok)) + 2
	case json.Delim:
		return 1
	case nil:
		return int64(len("null"))
	}
	return int64(len(fmt.Sprint(tok)))
}

func dotted(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
