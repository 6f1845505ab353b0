package instancetypes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/resource"
)

// jsonCursor walks through a JSON file and knows at each step where it is. Unlike
// json.Unmarshal it takes keys in the given case only, refuses those that are
// unknown or repeated, and goes on after a wrong value, so that one reading
// reports every fault. After a fault of syntax nothing more can be read: stop is
// set, and every method returns at once.
type jsonCursor struct {
	in   *input
	dec  *json.Decoder
	fs   faults
	at   position // of the token that was read last
	typ  string   // name of the instance type being read, for messages
	stop bool
}

func newJSONCursor(r io.Reader) *jsonCursor {
	in := newInput(r, true)
	dec := json.NewDecoder(in)
	dec.UseNumber()
	return &jsonCursor{in: in, dec: dec, at: position{line: 1, column: 1}}
}

func (c *jsonCursor) fault(field, value, problem string) {
	c.faultAt(c.at, field, value, problem)
}

func (c *jsonCursor) faultAt(at position, field, value, problem string) {
	c.fs.add(&Fault{Line: at.line, Column: at.column, Type: c.typ, Field: field, Value: value, Problem: problem})
}

// token reads the next token; nil if reading has come to a stop.
func (c *jsonCursor) token() json.Token {
	if c.stop {
		return nil
	}
	if c.fs.enough() {
		c.stop = true
		return nil
	}
	tok, err := c.dec.Token()
	end := c.dec.InputOffset()
	if err != nil {
		c.stop = true
		c.at = c.in.at(end)
		c.fs.add(readFault(c.at, c.typ, err))
		return nil
	}
	c.at = c.in.at(end - tokenLength(tok))
	return tok
}

// readFault describes why a file could not be read further.
func readFault(at position, typ string, err error) *Fault {
	f := &Fault{Line: at.line, Column: at.column, Type: typ, Err: err}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		f.Problem = "the file ends too early"
	case errors.As(err, &syntax):
		f.Problem = "is not JSON: " + err.Error()
	default:
		f.Problem = err.Error()
	}
	return f
}

// tokenLength returns how many bytes a token took in the file, as far as its value
// tells: a string may have been written with escapes.
func tokenLength(tok json.Token) int64 {
	switch tok := tok.(type) {
	case string:
		return int64(len(tok)) + 2
	case json.Number:
		return int64(len(tok))
	case bool:
		if !tok {
			return int64(len("false"))
		}
		return int64(len("true"))
	case nil:
		return int64(len("null"))
	}
	return 1
}

// kind names what a token is, for messages.
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
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}

// wrong reports a token of the wrong kind and skips the rest of its value.
func (c *jsonCursor) wrong(tok json.Token, path, want string) {
	if c.stop {
		return
	}
	c.fault(path, "", fmt.Sprintf("must be %s, not %s", want, kind(tok)))
	c.skip(tok)
}

// skip passes over the value that begins with tok.
func (c *jsonCursor) skip(tok json.Token) {
	const deepest = 1000
	for depth := 0; !c.stop; tok = c.token() {
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > deepest {
				c.fault("", "", "is nested too deeply: this is not a catalog")
				c.stop = true
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// object reads an object. read is called after each key, reads the value and
// reports whether it knows the key; if it does not it must not read.
func (c *jsonCursor) object(path string, read func(key string) bool) {
	c.objectFrom(c.token(), path, read)
}

// objectFrom reads the rest of an object that begins with tok.
func (c *jsonCursor) objectFrom(tok json.Token, path string, read func(key string) bool) {
	if tok != json.Delim('{') {
		c.wrong(tok, path, "an object")
		return
	}
	seen := map[string]bool{}
	for {
		key, ok := c.token().(string)
		if !ok {
			return // the end of the object, or of reading
		}
		field := dotted(path, key)
		if seen[key] {
			c.fault(field, "", "stands here twice")
			c.skip(c.token())
			continue
		}
		seen[key] = true
		if !read(key) {
			c.fault(field, "", "is not a known field")
			c.skip(c.token())
		}
	}
}

// array reads an array; read is called before each element, and reads it.
func (c *jsonCursor) array(path string, read func(i int)) {
	if tok := c.token(); tok != json.Delim('[') {
		c.wrong(tok, path, "an array")
		return
	}
	for i := 0; !c.stop && c.dec.More(); i++ {
		read(i)
	}
	c.token()
}

func (c *jsonCursor) text(path string) string {
	tok := c.token()
	s, ok := tok.(string)
	if !ok {
		c.wrong(tok, path, "a string")
	}
	return s
}

func (c *jsonCursor) boolean(path string) bool {
	tok := c.token()
	b, ok := tok.(bool)
	if !ok {
		c.wrong(tok, path, "true or false")
	}
	return b
}

// number reads a number as it is written.
func (c *jsonCursor) number(path string) (string, bool) {
	tok := c.token()
	n, ok := tok.(json.Number)
	if !ok {
		c.wrong(tok, path, "a number")
	}
	return n.String(), ok
}

// quantity reads an amount of a resource: a string, or a plain number.
func (c *jsonCursor) quantity(path string) resource.Quantity {
	tok := c.token()
	var text string
	switch tok := tok.(type) {
	case string:
		text = tok
	case json.Number:
		text = tok.String()
	default:
		c.wrong(tok, path, "a quantity")
		return resource.Quantity{}
	}
	q, err := parseQuantity(text)
	if err != nil {
		c.fault(path, text, err.Error())
	}
	return q
}

func dotted(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
