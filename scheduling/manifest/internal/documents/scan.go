package documents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/samber/lo"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// MaxObjectBytes is the size that one object may have. The API server takes no object above 3 MiB.
const MaxObjectBytes = 4 << 20

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

// scanner takes one source apart into objects. Lists are read item by item, so that the
// memory it takes does not grow with them.
type scanner struct {
	source   *Source
	limit    *sizeLimit
	in       *bufio.Reader
	document int
	line     int // the last line read, in YAML
}

// scan reads the source to its end, or to the point from which on it makes no sense.
func (s *scanner) scan() {
	head, err := s.in.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		s.unreadable(err)
		return
	}
	whole := Position{Item: -1}
	if msg := notText(head); msg != "" {
		s.source.Fault(Fault{At: whole, Message: msg, Kind: NotText})
		return
	}
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		_, _ = s.in.Discard(len(byteOrderMark)) // it was peeked, so it is there
		head = head[len(byteOrderMark):]
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte("{{")) {
		s.source.Fault(Fault{At: whole, Message: "is not a manifest" + templateHint, Kind: Template})
		return
	}
	if message := kubectlError.Find(head); message != nil {
		s.source.Fault(Fault{At: whole, Message: "is no manifest, but an error of kubectl: " + string(message), Kind: NoObject})
		return
	}
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') && !s.scanJSON() {
		return
	}
	s.scanYAML()
}

// kubectlError is what kubectl prints in place of objects, e.g. into a file that its errors are written to as well.
var kubectlError = regexp.MustCompile(`^(Error from server|error:).*`)

// templateHint helps users who pass the templates of a chart.
const templateHint = " (it looks like a template: render it first, for example with helm template)"

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
	s.source.Fault(Fault{At: Position{Document: s.document, Item: -1, Line: s.line}, Message: err.Error(), Kind: reason})
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
func (s *scanner) object(at Position, raw []byte) bool {
	var h header
	if err := kjson.Unmarshal(raw, &h); err != nil {
		s.source.Fault(Fault{At: at, Message: "is not a Kubernetes object: apiVersion and kind must be text", Kind: NoObject})
		return true
	}
	switch {
	case h.isList() && h.Items != nil:
		var items []json.RawMessage
		if err := json.Unmarshal(h.Items, &items); err != nil {
			s.source.Fault(Fault{At: at, Object: h.Kind, Field: "items", Message: "must be a list of objects"})
			return true
		}
		l := list{scanner: s, head: &h}
		for at.Item = 0; at.Item < len(items) && !s.source.Enough(); at.Item++ {
			l.item(at, items[at.Item])
		}
	case h.Kind == "":
		return false
	default:
		s.source.Object(Object{At: at, APIVersion: h.APIVersion, Kind: h.Kind, JSON: raw})
	}
	return true
}

// list is a list that is being read. Its items need not have a kind, and items of the API's own
// lists have none: a PodList holds Pods.
type list struct {
	scanner *scanner
	head    *header  // nil as long as the kind of the list is not known
	waiting []Object // items without a kind, until the list has told its own
}

// item hands on one item.
func (l *list) item(at Position, raw []byte) {
	switch {
	case isObject(raw) && l.scanner.object(at, raw):
	case l.head == nil:
		l.waiting = append(l.waiting, Object{At: at, JSON: raw})
	default:
		l.scanner.untyped(at, raw, l.head)
	}
}

// close hands on the items that waited for the head of the list.
func (l *list) close(at Position, head header) {
	if !head.isList() {
		l.scanner.source.Fault(Fault{At: at, Message: "has items, but its kind is not List", Kind: NoObject})
		return
	}
	for _, o := range l.waiting {
		l.scanner.untyped(o.At, o.JSON, &head)
	}
}

// untyped hands on an object that only the head of its list says something of.
func (s *scanner) untyped(at Position, raw []byte, head *header) {
	kind := strings.TrimSuffix(head.Kind, "List")
	if isPlan(raw) {
		s.source.Fault(Fault{At: at, Message: "is a plan that plimsoll has printed, and no manifest: plimsoll verify --plan checks it, and plimsoll diff compares it with another", Kind: NoObject})
		return
	}
	if !isObject(raw) || kind == "" {
		s.source.Fault(Fault{At: at, Message: "is not a Kubernetes object: it has no apiVersion and kind", Kind: NoObject})
		return
	}
	s.source.Object(Object{At: at, APIVersion: head.APIVersion, Kind: kind, JSON: raw})
}

// alone hands on an object that is in no list.
func (s *scanner) alone(at Position, raw []byte) {
	if !s.object(at, raw) {
		s.untyped(at, raw, &header{})
	}
}

// isObject says whether raw is a JSON object.
func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }

// isPlan says whether raw is a plan of launches or of consolidation steps, as the command prints it.
func isPlan(raw []byte) bool {
	var plan struct{ Launches, Steps, Summary json.RawMessage }
	return json.Unmarshal(raw, &plan) == nil && plan.Summary != nil && (plan.Launches != nil || plan.Steps != nil)
}
