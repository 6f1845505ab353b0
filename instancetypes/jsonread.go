package instancetypes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/internal/strict"
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
	j := &jsonReader{in: in, dec: json.NewDecoder(in)}
	j.types = newCatalogBuilder(&j.fs)
	j.document()
	catalog, err := j.types.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading JSON catalog: %w", err)
	}
	catalog.provenance = j.provenance
	return catalog, nil
}

// jsonReader reads a JSON file type by type, so that the memory it takes does not grow with them.
// After a fault of syntax no more can be read.
type jsonReader struct {
	in         *input
	dec        *json.Decoder
	fs         faults
	types      *catalogBuilder
	provenance []Provenance
}

// errStop ends the reading of a file whose faults have been reported.
var errStop = errors.New("no more can be read")

// document reads the whole file.
func (j *jsonReader) document() {
	tok, at, err := j.token()
	switch {
	case err != nil:
		return
	case tok == json.Delim('['):
		j.fault(at, "", "must be an object that holds instanceTypes; an array of types is the format of Karpenter's KWOK provider, which ReadKWOK reads")
		return
	case tok != json.Delim('{'):
		j.fault(at, "", "must be an object, not "+kind(tok))
		return
	}
	seen := map[string]bool{}
	for j.dec.More() {
		tok, at, err := j.token()
		key, ok := tok.(string)
		if err != nil || !ok || j.member(key, at, seen[key]) != nil {
			return
		}
		seen[key] = true
	}
	if _, _, err := j.token(); err != nil {
		return
	}
	tok, err = j.dec.Token()
	at = j.in.at(j.dec.InputOffset())
	switch {
	case err == nil:
		j.fault(at, "", kind(tok)+" follows the end of the catalog")
	case !errors.Is(err, io.EOF):
		j.fs.add(readFault(at, "", err))
	}
}

// member reads the value of a key at the top, which stands at a position. again says that the key
// has occurred before.
func (j *jsonReader) member(key string, at position, again bool) error {
	if key == "instanceTypes" && !again {
		return j.list()
	}
	j.in.begin(j.dec.InputOffset())
	raw, start, err := j.value()
	if err != nil {
		return err
	}
	switch version := json.Number(""); {
	case again:
		j.fault(at, key, "is given twice")
	case key == "version":
		if j.decode(raw, start, key, &version).OK && version != formatVersion {
			j.fs.add(&CatalogFault{Line: start.line, Column: start.column, Field: key, Value: version.String(), Problem: "is not a version that this program knows"})
		}
	case key == "provenance":
		j.decode(raw, start, key, &j.provenance)
	default:
		j.fault(at, key, "is not known"+didYouMean(spelling.Nearest(key, []string{"version", "provenance", "instanceTypes"})))
	}
	return nil
}

// list reads the instance types.
func (j *jsonReader) list() error {
	tok, at, err := j.token()
	if err != nil {
		return err
	}
	if tok != json.Delim('[') {
		j.fault(at, "instanceTypes", "must be an array, not "+kind(tok))
		return errStop
	}
	for j.dec.More() {
		if j.fs.enough() {
			return errStop
		}
		j.in.begin(j.dec.InputOffset())
		raw, start, err := j.value()
		if err != nil {
			return err
		}
		j.instanceType(raw, start)
	}
	_, _, err = j.token()
	return err
}

// instanceType reads one type, which begins at a position, and hands it to the builder.
func (j *jsonReader) instanceType(raw []byte, start position) {
	t := &InstanceType{}
	known := len(j.fs.list)
	r := j.decode(raw, start, "", t)
	var explained []string
	for _, f := range j.fs.list[known:] {
		explained = append(explained, f.Field)
	}
	if slices.Contains(explained, "") {
		return // not an object
	}
	for i := range t.Offerings {
		offering := strict.Element("offerings", i)
		price := offering + ".price"
		if t.Offerings[i].Price == 0 && !r.Has(price) && !slices.Contains(explained, offering) {
			at := start.in(raw, r.ValueOffset(offering))
			j.fs.add(&CatalogFault{Line: at.line, Column: at.column, Type: t.Name, Field: price, Problem: "is missing; write 0 if it is free"})
		}
	}
	j.types.add(t, func(field string) position { return start.in(raw, r.ValueOffset(field)) }, explained)
}

// decode decodes a value that begins at a position into the value that into points to, and reports
// its faults in the order of the file. field is the path of the value.
func (j *jsonReader) decode(raw []byte, start position, field string, into any) *strict.Result {
	r := strict.Decode(raw, into, strict.Rules{MaxFaults: maxFaults, Check: priceFault})
	name := ""
	if t, ok := into.(*InstanceType); ok {
		name = t.Name
	}
	type found struct {
		offset int64
		fault  *CatalogFault
	}
	var all []found
	for _, f := range r.Faults {
		offset := r.ValueOffset(f.Field)
		if f.Value == nil {
			offset = r.KeyOffset(f.Field)
		}
		all = append(all, found{offset, &CatalogFault{Field: f.Field, Value: valueText(f.Value), Problem: f.Message}})
	}
	for _, path := range r.Unknown {
		meant := spelling.Field(reflect.TypeOf(into).Elem(), path)
		all = append(all, found{r.KeyOffset(path), &CatalogFault{Field: path, Problem: "is not known" + didYouMean(meant)}})
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.offset, b.offset) })
	for _, f := range all {
		at := start.in(raw, f.offset)
		f.fault.Line, f.fault.Column, f.fault.Type, f.fault.Field = at.line, at.column, name, strict.Below(field, f.fault.Field)
		j.fs.add(f.fault)
	}
	return r
}

// priceFault states the fault of a price that was read.
func priceFault(_, _ string, value, _ any) string {
	if price, ok := value.(*offerings.Price); ok && *price < 0 {
		return "must not be negative"
	}
	return ""
}

// valueText returns a value of a file as text; "" for null.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// didYouMean asks about a typo, and is empty where no name is near.
func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", name)
}

// fault reports a fault outside of any type.
func (j *jsonReader) fault(at position, field, problem string) {
	j.fs.add(&CatalogFault{Line: at.line, Column: at.column, Field: field, Problem: problem})
}

// token reads the next token, and reports where no more can be read.
func (j *jsonReader) token() (json.Token, position, error) {
	tok, err := j.dec.Token()
	end := j.dec.InputOffset()
	if err != nil {
		j.fs.add(readFault(j.in.at(end), "", err))
		return nil, position{}, err
	}
	return tok, j.in.at(end - tokenLength(tok)), nil
}

// value reads the next value as it stands, with the position at which it begins.
func (j *jsonReader) value() (json.RawMessage, position, error) {
	var raw json.RawMessage
	err := j.dec.Decode(&raw)
	if err == nil {
		return raw, j.in.at(j.dec.InputOffset() - int64(len(raw))), nil
	}
	// The decoder stands before the value, and has read it up to the fault.
	text, readErr := io.ReadAll(j.dec.Buffered())
	if readErr != nil {
		text = nil
	}
	again := json.NewDecoder(bytes.NewReader(text))
	for {
		if _, syntax := again.Token(); syntax != nil {
			break
		}
	}
	j.fs.add(readFault(j.in.at(j.dec.InputOffset()+again.InputOffset()), "", err))
	return nil, position{}, err
}

// kind names the kind of a token.
func kind(tok json.Token) string {
	switch tok {
	case json.Delim('{'):
		return "an object"
	case json.Delim('['):
		return "an array"
	}
	switch tok.(type) {
	case string:
		return "a string"
	case json.Number, float64:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
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
