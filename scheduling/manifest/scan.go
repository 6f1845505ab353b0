package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/samber/lo"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Limits that keep memory bounded whatever the input.
const (
	// DefaultMaxBytes is the largest size of a file or stream if [Loader.MaxBytes] is 0: 2 GiB, the
	// dump of some 200,000 pods.
	DefaultMaxBytes = 2 << 30
	// maxObjectBytes is the size that one object may have. The API server takes
	// no object above 3 MiB.
	maxObjectBytes = 4 << 20
)

// Errors that end the reading of a source.
var (
	errObjectTooLarge = errors.New("an object is larger than 4 MiB, so this is no Kubernetes manifest")
	errSourceTooLarge = errors.New("the input is too large")
	errTooManyFaults  = errors.New("too many faults")
)

// sizeLimit bounds the bytes that are read from a source, in all and for one object.
type sizeLimit struct {
	in         io.Reader
	most, left int64 // bytes of the source
	object     int64 // bytes left of the object at hand; negative is no bound
	failed     error // why the source cannot be read to its end
}

// Read reads from the source within the bounds.
func (l *sizeLimit) Read(p []byte) (int, error) {
	n := min(int64(len(p)), l.left)
	switch {
	case len(p) == 0:
		return 0, nil
	case l.left <= 0:
		l.failed = fmt.Errorf("%w: more than %d bytes", errSourceTooLarge, l.most)
		return 0, l.failed
	case l.object == 0:
		return 0, errObjectTooLarge
	case l.object > 0:
		n = min(n, l.object)
	}
	got, err := l.in.Read(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		l.failed = err
	}
	l.left -= int64(got)
	if l.object > 0 {
		l.object -= int64(got)
	}
	return got, err
}

// Object is one of the input, as it stands there.
type Object struct {
	// APIVersion and Kind are its own.
	APIVersion, Kind string
	// JSON is the object, also where the input is YAML.
	JSON []byte
	// Read says that its kind counts for plans.
	Read bool
}

// rawObject is one object of the input, still undecoded.
type rawObject struct {
	at         Location
	apiVersion string
	kind       string
	json       []byte
}

// scanner takes one source apart into objects. Lists are read item by item, so that the
// memory it takes does not grow with them.
type scanner struct {
	name     string
	limit    *sizeLimit
	in       *bufio.Reader
	document int
	line     int // the last line read, in YAML
	emit     func(rawObject)
	fault    func(*Fault)
	// full says that enough faults were found.
	full func() bool
}

// scan reads the source to its end, or to the point from which on it makes no sense.
func (s *scanner) scan() {
	head, err := s.in.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		s.unreadable(err)
		return
	}
	whole := Location{Source: s.name, Item: -1}
	if msg := notText(head); msg != "" {
		s.fault(&Fault{At: whole, Message: msg, Kind: NotText})
		return
	}
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		_, _ = s.in.Discard(len(byteOrderMark)) // it was peeked, so it is there
		head = head[len(byteOrderMark):]
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte("{{")) {
		s.fault(&Fault{At: whole, Message: "is not a manifest" + templateHint, Kind: Template})
		return
	}
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') && !s.scanJSON() {
		return
	}
	s.scanYAML()
}

// templateHint helps users who pass the templates of a chart.
const templateHint = " (it looks like a template: render it first, for example with helm template)"

// isTemplate says whether invalid text has the marks of a template of Helm, Jinja or Terraform that
// is not rendered yet.
func isTemplate(text string) bool {
	return lo.SomeBy([]string{"{{", "{%", "%{"}, func(mark string) bool { return strings.Contains(text, mark) })
}

// notText says why a file that begins with head holds no manifest, if it does not.
func notText(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "is encoded in UTF-16; save it as UTF-8"
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "is compressed with gzip; unpack it first"
	}
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			if !utf8.FullRune(head[i:]) {
				return "" // cut by the end of head
			}
			return fmt.Sprintf("is not text: byte 0x%02x at offset %d is not UTF-8", head[i], i)
		case r < ' ' && r != '\t' && r != '\n' && r != '\r':
			return fmt.Sprintf("is not text: control character 0x%02x at offset %d", r, i)
		}
		i += n
	}
	return ""
}

// unreadable reports that the source ended before its end.
func (s *scanner) unreadable(err error) {
	reason := lo.Ternary(s.limit.failed != nil, Unreadable, NoObject)
	s.fault(&Fault{At: Location{Source: s.name, Document: s.document, Item: -1, Line: s.line}, Message: err.Error(), Kind: reason})
}

// header holds the fields of an object that are needed before it can be decoded.
type header struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      json.RawMessage `json:"items"`
}

// headerOf returns the header of raw, empty where it is malformed.
func headerOf(raw []byte) (h header) {
	if err := kjson.Unmarshal(raw, &h); err != nil {
		return header{}
	}
	return h
}

// isList says whether a kind is a list of objects.
func (h header) isList() bool { return strings.HasSuffix(h.Kind, "List") }

// object hands on one object, or the objects of a list that was not read item by
// item. It reports false for an object without a kind, which a list may still name.
func (s *scanner) object(at Location, raw []byte) bool {
	var h header
	if err := kjson.Unmarshal(raw, &h); err != nil {
		s.fault(&Fault{At: at, Message: "is not a Kubernetes object: apiVersion and kind must be text", Kind: NoObject})
		return true
	}
	switch {
	case h.isList() && h.Items != nil:
		var items []json.RawMessage
		if err := json.Unmarshal(h.Items, &items); err != nil {
			s.fault(&Fault{At: at, Object: h.Kind, Field: "items", Message: "must be a list of objects"})
			return true
		}
		l := list{scanner: s, head: &h}
		for at.Item = 0; at.Item < len(items) && !s.full(); at.Item++ {
			l.item(at, items[at.Item])
		}
	case h.Kind == "":
		return false
	default:
		s.emit(rawObject{at: at, apiVersion: h.APIVersion, kind: h.Kind, json: raw})
	}
	return true
}

// list is a list that is being read. Its items need not have a kind, and items of the API's own
// lists have none: a PodList holds Pods.
type list struct {
	*scanner
	head    *header     // nil as long as the kind of the list is not known
	waiting []rawObject // items without a kind, until the list has told its own
}

// item hands on one item.
func (l *list) item(at Location, raw []byte) {
	switch {
	case isObject(raw) && l.object(at, raw):
	case l.head == nil:
		l.waiting = append(l.waiting, rawObject{at: at, json: raw})
	default:
		l.untyped(at, raw, l.head)
	}
}

// close hands on the items that waited for the head of the list.
func (l *list) close(at Location, head header) {
	if !head.isList() {
		l.fault(&Fault{At: at, Message: "has items, but its kind is not List", Kind: NoObject})
		return
	}
	for _, o := range l.waiting {
		l.untyped(o.at, o.json, &head)
	}
}

// untyped hands on an object that only the head of its list says something of.
func (s *scanner) untyped(at Location, raw []byte, head *header) {
	kind := strings.TrimSuffix(head.Kind, "List")
	if !isObject(raw) || kind == "" {
		s.fault(&Fault{At: at, Message: "is not a Kubernetes object: it has no apiVersion and kind", Kind: NoObject})
		return
	}
	s.emit(rawObject{at: at, apiVersion: head.APIVersion, kind: kind, json: raw})
}

// alone hands on an object that is in no list.
func (s *scanner) alone(at Location, raw []byte) {
	if !s.object(at, raw) {
		s.untyped(at, raw, &header{})
	}
}

// isObject says whether raw is a JSON object.
func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }
