package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// errEnough ends the reading of a source after too many faults.
var errEnough = errors.New("too many faults")

// scanJSON reads JSON values, one after another. It reports true if YAML follows,
// which s.in then holds.
func (s *scanner) scanJSON() bool {
	dec := json.NewDecoder(s.in)
	for !s.full() {
		s.meter.window = maxObjectBytes
		if !dec.More() {
			// More is false before a stray bracket, too.
			if _, err := dec.Token(); err != nil && !errors.Is(err, io.EOF) {
				s.jsonFault(dec, err)
			}
			return false
		}
		c := firstByte(dec.Buffered())
		if c == '-' && s.document > 0 {
			s.in = bufio.NewReader(io.MultiReader(dec.Buffered(), s.in))
			return true
		}
		s.document++
		err := fmt.Errorf("a value begins with %q, which no object does", c)
		if c == '{' || c == '[' {
			err = s.jsonValue(dec)
		}
		if err != nil {
			s.jsonFault(dec, err)
			return false
		}
	}
	return false
}

// firstByte returns the first byte of r that is no white space, 0 if there is none.
func firstByte(r io.Reader) byte {
	var b [1]byte
	for {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0
		}
		if !isSpace(b[0]) {
			return b[0]
		}
	}
}

// jsonFault reports where JSON could not be read.
func (s *scanner) jsonFault(dec *json.Decoder, err error) {
	msg, reason := "is not valid JSON: ", BadSyntax
	switch {
	case errors.Is(err, errEnough):
		return
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errors.New("it ends in the middle of a value")
	case errors.Is(err, errObjectTooLarge):
		msg = ""
	case s.meter.failed != nil:
		msg, reason = "", Unreadable
	}
	s.fault(&Fault{
		At:      Location{Source: s.name, Document: s.document, Item: -1},
		Message: fmt.Sprintf("%s%v (near byte %d)", msg, err, dec.InputOffset()),
		Reason:  reason,
	})
}

// jsonValue reads one value: an object, or objects in a list.
func (s *scanner) jsonValue(dec *json.Decoder) error {
	at := Location{Source: s.name, Document: s.document, Item: -1}
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open == json.Delim('[') {
		return s.jsonItems(dec, at, func(o rawObject) { s.untyped(o.at, o.json, header{}) })
	}
	obj := jsonObject{}
	for dec.More() {
		s.meter.window = maxObjectBytes
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key == "items" {
			err = s.jsonList(dec, at, &obj)
		} else {
			err = obj.member(dec, key)
		}
		if err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	s.closeJSON(at, &obj)
	return nil
}

// jsonObject is an object of which the items, if it is a list, were taken out.
type jsonObject struct {
	members bytes.Buffer
	list    bool
	untyped []rawObject // items that do not say what they are
}

// member takes one member of the object over from dec, which has read its key.
func (o *jsonObject) member(dec *json.Decoder, key json.Token) error {
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return err
	}
	if o.members.Len()+len(value) > maxObjectBytes {
		return errObjectTooLarge
	}
	name, err := json.Marshal(key)
	if err != nil {
		return err
	}
	if o.members.Len() > 0 {
		o.members.WriteByte(',')
	}
	o.members.Write(name)
	o.members.WriteByte(':')
	o.members.Write(value)
	return nil
}

// raw returns the object without its items.
func (o *jsonObject) raw() []byte {
	return append(append([]byte{'{'}, o.members.Bytes()...), '}')
}

// header returns what the members read so far say of the object.
func (o *jsonObject) header() header { return headerOf(o.raw()) }

// jsonList reads the items of a list one by one.
func (s *scanner) jsonList(dec *json.Decoder, at Location, obj *jsonObject) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	obj.list = true
	if open == nil {
		return nil // items: null
	}
	if open != json.Delim('[') {
		return errors.New("items is not a list")
	}
	// kubectl writes the kind of a list behind its items, the API server before.
	if h := obj.header(); isList(h.Kind) {
		return s.jsonItems(dec, at, func(o rawObject) { s.untyped(o.at, o.json, h) })
	}
	return s.jsonItems(dec, at, func(o rawObject) { obj.untyped = append(obj.untyped, o) })
}

// closeJSON hands on an object that was read to its end.
func (s *scanner) closeJSON(at Location, obj *jsonObject) {
	if !obj.list {
		if raw := obj.raw(); !s.object(at, raw) {
			s.untyped(at, raw, header{})
		}
		return
	}
	s.closeList(at, obj.header(), obj.untyped)
}

// closeList hands on the items of a list that did not say what they are, now that
// the list has.
func (s *scanner) closeList(at Location, h header, untyped []rawObject) {
	if !isList(h.Kind) {
		s.fault(&Fault{At: at, Message: "has items, but its kind is not List", Reason: NoObject})
		return
	}
	for _, o := range untyped {
		s.untyped(o.at, o.json, h)
	}
}

// jsonItems reads the elements of a list after its opening bracket, and the closing one.
func (s *scanner) jsonItems(dec *json.Decoder, at Location, untyped func(rawObject)) error {
	for at.Item = 0; dec.More(); at.Item++ {
		if s.full() {
			return errEnough
		}
		s.meter.window = maxObjectBytes
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if !isObject(raw) || !s.object(at, raw) {
			untyped(rawObject{at: at, json: raw})
		}
	}
	_, err := dec.Token()
	return err
}
