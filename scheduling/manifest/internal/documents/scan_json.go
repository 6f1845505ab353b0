package documents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// scanJSON reads JSON values, one after another. It reports true if YAML follows,
// which s.in then holds.
func (s *scanner) scanJSON() bool {
	dec := json.NewDecoder(s.in)
	for !s.source.Enough() {
		s.limit.object = MaxObjectBytes
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
	case errors.Is(err, errTooManyFaults):
		return
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errors.New("it ends in the middle of a value")
	case errors.Is(err, errObjectTooLarge):
		msg = ""
	case s.limit.failed != nil:
		msg, reason = "", Unreadable
	}
	s.source.Fault(Fault{
		At:      Position{Document: s.document, Item: -1},
		Message: fmt.Sprintf("%s%v (near byte %d)", msg, err, dec.InputOffset()),
		Kind:    reason,
	})
}

// jsonValue reads one value: an object, or objects in a list.
func (s *scanner) jsonValue(dec *json.Decoder) error {
	at := Position{Document: s.document, Item: -1}
	if open, err := dec.Token(); err != nil || open == json.Delim('[') {
		if err == nil {
			err = s.jsonItems(dec, at, &list{scanner: s, head: &header{}})
		}
		return err
	}
	var items *list
	members := []byte("{") // without the items
	for dec.More() {
		s.limit.object = MaxObjectBytes
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key == "items" {
			if items, err = s.jsonList(dec, at, headerOf(closed(members))); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		if len(members) > 1 {
			members = append(members, ',')
		}
		members = append(append(append(members, name...), ':'), value...)
		if len(members) > MaxObjectBytes {
			return errObjectTooLarge
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if raw := closed(members); items == nil {
		s.alone(at, raw)
	} else {
		items.close(at, headerOf(raw))
	}
	return nil
}

// closed returns the members of an object as an object.
func closed(members []byte) []byte { return append(bytes.Clone(members), '}') }

// jsonList reads the items of a list one by one. head holds the fields before them: kubectl writes
// the kind of a list behind its items, the API server before.
func (s *scanner) jsonList(dec *json.Decoder, at Position, head header) (*list, error) {
	l := &list{scanner: s}
	if head.isList() {
		l.head = &head
	}
	open, err := dec.Token()
	switch {
	case err != nil || open == nil: // items: null
		return l, err
	case open != json.Delim('['):
		return l, errors.New("items is not a list")
	}
	return l, s.jsonItems(dec, at, l)
}

// jsonItems reads the elements of a list after its opening bracket, and the closing one.
func (s *scanner) jsonItems(dec *json.Decoder, at Position, l *list) error {
	for at.Item = 0; dec.More(); at.Item++ {
		if s.source.Enough() {
			return errTooManyFaults
		}
		s.limit.object = MaxObjectBytes
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		l.item(at, raw)
	}
	_, err := dec.Token()
	return err
}
