package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// rawObject is one object of the input, still undecoded.
type rawObject struct {
	at         Location
	apiVersion string
	kind       string
	json       []byte
}

// scanner takes one source apart into objects.
type scanner struct {
	name     string
	meter    *meter
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
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) && len(head) == 0 {
		s.unreadable(err)
		return
	}
	if msg := notText(head); msg != "" {
		s.fault(&Fault{At: Location{Source: s.name, Item: -1}, Message: msg, Reason: NotText})
		return
	}
	if bytes.HasPrefix(head, []byte("\ufeff")) {
		_, _ = s.in.Discard(len("\ufeff")) // it was peeked, so it is there
		head = head[len("\ufeff"):]
	}
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("{{")) {
		s.fault(&Fault{At: Location{Source: s.name, Item: -1}, Message: "is not a manifest" + templateHint, Reason: Template})
		return
	}
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if !s.scanJSON() {
			return
		}
	}
	s.scanYAML()
}

// templateHint helps those who pass a chart's templates.
const templateHint = " (it looks like a template: render it first, for example with helm template)"

// isTemplate says whether text that makes no sense has the marks of a template that is not
// rendered yet: those of Helm, of Jinja and of Terraform.
func isTemplate(text string) bool {
	return slices.ContainsFunc([]string{"{{", "{%", "%{"}, func(mark string) bool { return strings.Contains(text, mark) })
}

// notText says why a file that begins with head holds no manifest, if it does not.
func notText(head []byte) string {
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return "is encoded in UTF-16; save it as UTF-8"
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
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
	reason := NoObject
	if s.meter.failed != nil {
		reason = Unreadable
	}
	s.fault(&Fault{At: Location{Source: s.name, Document: s.document, Item: -1, Line: s.line}, Message: err.Error(), Reason: reason})
}

// header is what must be known of an object before it can be decoded.
type header struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      json.RawMessage `json:"items"`
}

// headerOf returns what raw says of itself, nothing where it says it badly.
func headerOf(raw []byte) (h header) {
	if err := kjson.Unmarshal(raw, &h); err != nil {
		return header{}
	}
	return h
}

// isList says whether a kind is a list of objects.
func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// object hands on one object, or the objects of a list that was not read item by
// item. It reports false for an object without a kind, which a list may still name.
func (s *scanner) object(at Location, raw []byte) bool {
	var h header
	if err := kjson.Unmarshal(raw, &h); err != nil {
		s.fault(&Fault{At: at, Message: "is not a Kubernetes object: apiVersion and kind must be text", Reason: NoObject})
		return true
	}
	switch {
	case isList(h.Kind) && h.Items != nil:
		s.listed(at, h)
	case h.Kind == "":
		return false
	default:
		s.emit(rawObject{at: at, apiVersion: h.APIVersion, kind: h.Kind, json: raw})
	}
	return true
}

// listed hands on the items of a list.
func (s *scanner) listed(at Location, list header) {
	var items []json.RawMessage
	if err := json.Unmarshal(list.Items, &items); err != nil {
		s.fault(&Fault{At: at, Object: list.Kind, Field: "items", Message: "must be a list of objects"})
		return
	}
	for i, raw := range items {
		if s.full() {
			return
		}
		itemAt := at
		itemAt.Item = i
		if isObject(raw) && s.object(itemAt, raw) {
			continue
		}
		s.untyped(itemAt, raw, list)
	}
}

// untyped hands on an item that does not say what it is, as the items of the API's
// own lists do not: a PodList holds Pods.
func (s *scanner) untyped(at Location, raw []byte, list header) {
	kind := strings.TrimSuffix(list.Kind, "List")
	if !isObject(raw) || kind == "" {
		s.fault(&Fault{At: at, Message: "is not a Kubernetes object: it has no apiVersion and kind", Reason: NoObject})
		return
	}
	s.emit(rawObject{at: at, apiVersion: list.APIVersion, kind: kind, json: raw})
}

// isObject says whether raw is a JSON object.
func isObject(raw []byte) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{'
}
