package documents

import (
	"bufio"
	"io"
	"strings"

	"github.com/samber/lo"
)

// Source is a file or stream, and the functions that are given its content.
type Source struct {
	// In is the text.
	In io.Reader
	// MaxBytes is the largest size of the text. A larger one is [Unreadable].
	MaxBytes int64
	// Object is called with each object, in the order of the text.
	Object func(Object)
	// Fault is called with each fault, in the order of the text.
	Fault func(Fault)
	// Enough reports whether there are so many faults that reading is to end.
	Enough func() bool
}

// Scan reads a source to its end, or to the point from which on it makes no sense. It returns the
// number of YAML documents and JSON values; blanks and comments are none, an empty list is one.
func Scan(source *Source) (documents int) {
	limit := &sizeLimit{in: source.In, most: source.MaxBytes, left: source.MaxBytes, object: -1}
	s := scanner{source: source, limit: limit, in: bufio.NewReaderSize(limit, 64<<10)}
	s.scan()
	return s.document
}

// Object is one object of a source, still undecoded.
type Object struct {
	At               Position
	APIVersion, Kind string
	// JSON is the object, also where the source is YAML.
	JSON []byte
}

// Position says where in a source an object or a fault stands.
type Position struct {
	// Document counts the YAML documents or JSON values, from 1; 0 stands for the whole source.
	Document int
	// Item is the index in a list, -1 for an object that stands alone.
	Item int
	// Line is the line on which the object begins, from 1; 0 where it is not known, as in JSON.
	Line int
}

// Kind is the kind of a fault.
type Kind string

// The kinds of faults.
const (
	Invalid    Kind = ""           // a value that an object must not have
	Unreadable Kind = "unreadable" // the source cannot be read to its end
	NotText    Kind = "not text"   // the file is compressed, binary, or in another encoding
	BadSyntax  Kind = "bad syntax" // neither YAML nor JSON
	Template   Kind = "template"   // of Helm or the like, not rendered yet
	NoObject   Kind = "no object"  // not an object of Kubernetes, e.g. the values of a chart
)

// Fault is a part of a source that is no object.
type Fault struct {
	At Position
	// Object and Field are the kind and the field of an object with a fault; empty where the text is
	// no object.
	Object, Field string
	// Message states the fault.
	Message string
	Kind    Kind
}

// IsTemplate says whether invalid text has the marks of a template of Helm, Jinja or Terraform that
// is not rendered yet.
func IsTemplate(text string) bool {
	return lo.SomeBy([]string{"{{", "{%", "%{"}, func(mark string) bool { return strings.Contains(text, mark) })
}

// Shorten cuts a quotation from the input to a length that fits a line.
func Shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
