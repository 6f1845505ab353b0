package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// yamlDocument is a document that is being read. The items of a list are handed on
// one by one, the rest is kept to the end.
type yamlDocument struct {
	at   Location
	text bytes.Buffer // without the items of a list

	inItems    bool // the lines read are those of items
	list       bool // items: was seen
	itemIndent int  // of the dashes; -1 before the first
	itemAt     Location
	skip       bool // the rest makes no sense, as a fault says
	item       bytes.Buffer
	anchors    []byte // the items so far that have anchors
	untyped    []rawObject
}

// scanYAML reads documents to the end of the source.
func (s *scanner) scanYAML() {
	s.meter.window = -1
	var doc *yamlDocument
	for !s.full() {
		line, err := s.readLine()
		if len(line) == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			s.unreadable(err)
			return
		}
		s.line++
		if rest, ok := documentMarker(line); ok {
			s.closeYAML(doc)
			doc = nil
			if line = rest; len(line) == 0 {
				continue
			}
		}
		if doc == nil {
			if isBlank(line) || line[0] == '%' {
				continue
			}
			s.document++
			doc = &yamlDocument{at: Location{Source: s.name, Document: s.document, Item: -1, Line: s.line}, itemIndent: -1}
			s.refuse(doc, notMapping(line))
		}
		if !doc.skip {
			s.refuse(doc, s.yamlLine(doc, line))
		}
	}
	if !s.full() {
		s.closeYAML(doc)
	}
}

// refuse reports why a document makes no sense, if it does not, and lets the rest of it
// go by.
func (s *scanner) refuse(doc *yamlDocument, msg string) {
	if msg != "" {
		s.fault(&Fault{At: doc.at, Message: msg, Reason: NoObject})
		doc.skip = true
	}
}

// readLine returns the next line with its end, of bounded length. It is valid until
// the next one is read.
func (s *scanner) readLine() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for long := slices.Clone(line); ; {
		line, err = s.in.ReadSlice('\n')
		long = append(long, line...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
		if len(long) > maxObjectBytes {
			return nil, errObjectTooLarge
		}
	}
}

// documentMarker says whether a line ends a document, and returns what follows the
// marker on the line.
func documentMarker(line []byte) ([]byte, bool) {
	if len(line) < 3 || line[0] != '-' && line[0] != '.' {
		return nil, false
	}
	marker, rest := string(line[:3]), line[3:]
	if marker != "---" && marker != "..." || len(rest) > 0 && !isSpace(rest[0]) {
		return nil, false
	}
	if marker == "..." || isBlank(rest) {
		return nil, true
	}
	// What stands behind the dashes keeps its column, so that what is indented
	// deeper in the next lines still is.
	return append([]byte("   "), rest...), true
}

// isSpace says whether a byte is white space.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isBlank says whether a line holds white space or a comment only.
func isBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return c == '#'
		}
	}
	return true
}

// mappingStart is the first line of an object: a key and a colon, an object in
// braces, an explicit key or a tag or anchor before them.
var mappingStart = regexp.MustCompile(`^\s*([{?&!]|("[^"]*"|'[^']*'|[^\s#:"'\[\]{},][^#:]*)\s*:(\s|$))`)

// notMapping says why a document that begins with line is no object, so that a
// large file of another kind is refused at once.
func notMapping(line []byte) string {
	head := line[:min(len(line), 4<<10)]
	if mappingStart.Match(head) && !bytes.HasPrefix(bytes.TrimLeft(head, " "), []byte("- ")) {
		return ""
	}
	return fmt.Sprintf("is not a Kubernetes object: begins with %q%s", shorten(string(bytes.TrimSpace(head))), listingHint(head))
}

// listing is the first line of what kubectl prints for people, or of names alone.
var listing = regexp.MustCompile(`^(NAMESPACE\s+)?NAME(\s|$)|^[a-z][a-z.]*/[a-z0-9][-a-z0-9.]*\s*$`)

// listingHint helps those who pass what kubectl prints for people.
func listingHint(head []byte) string {
	if listing.Match(head) {
		return " (it looks like a listing: have kubectl print objects, with -o json or -o yaml)"
	}
	return ""
}

// yamlLine adds a line to the document at hand. It says why the document makes no
// sense, if it does not.
func (s *scanner) yamlLine(doc *yamlDocument, line []byte) string {
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	content := line[indent:]
	blank := isBlank(line)
	dash := len(content) > 0 && content[0] == '-' && (len(content) == 1 || isSpace(content[1]))

	if doc.inItems {
		switch {
		case blank:
			doc.item.Write(line)
			return ""
		case dash && (doc.itemIndent < 0 || indent == doc.itemIndent):
			s.closeItem(doc)
			doc.itemIndent = indent
			doc.itemAt.Line = s.line
			doc.item.Write(line[:indent])
			doc.item.WriteByte(' ')
			doc.item.Write(content[1:])
			return ""
		case doc.itemIndent >= 0 && indent > doc.itemIndent:
			if doc.item.Len()+len(line) > maxObjectBytes {
				return errObjectTooLarge.Error()
			}
			doc.item.Write(line)
			return ""
		}
		if doc.itemIndent < 0 && indent > 0 {
			return "has items that are not a list"
		}
		s.closeItem(doc)
		doc.inItems = false
	}
	if doc.text.Len()+len(line) > maxObjectBytes {
		return errObjectTooLarge.Error()
	}
	if itemsKey.Match(line) {
		doc.list, doc.inItems, doc.itemIndent = true, true, -1
		doc.itemAt = doc.at
		return ""
	}
	doc.text.Write(line)
	return ""
}

// itemsKey is the line that opens the items of a list.
var itemsKey = regexp.MustCompile(`^items:\s*(#.*)?$`)

// closeItem hands on the item at hand, if there is one.
func (s *scanner) closeItem(doc *yamlDocument) {
	if doc.itemIndent < 0 {
		doc.item.Reset()
		return
	}
	doc.itemAt.Item++
	raw, err := doc.itemToJSON()
	raw = s.checked(doc.itemAt, doc.item.Bytes(), raw, err)
	doc.item.Reset()
	if raw != nil && !s.object(doc.itemAt, raw) {
		doc.untyped = append(doc.untyped, rawObject{at: doc.itemAt, json: raw})
	}
}

// closeYAML hands on the document at hand, if there is one.
func (s *scanner) closeYAML(doc *yamlDocument) {
	if doc == nil || doc.skip || s.full() {
		return
	}
	if doc.inItems {
		s.closeItem(doc)
	}
	raw, err := yamlToJSON(doc.text.Bytes())
	if raw = s.checked(doc.at, doc.text.Bytes(), raw, err); raw == nil {
		return
	}
	if doc.list {
		s.closeList(doc.at, headerOf(raw), doc.untyped)
		return
	}
	if !s.object(doc.at, raw) {
		s.untyped(doc.at, raw, header{})
	}
}

// checked returns the JSON to which the text of one object was converted. It reports a
// fault and returns nil where that is none.
func (s *scanner) checked(at Location, text, raw []byte, err error) []byte {
	if err != nil {
		line, msg := yamlMessage(at.Line, err)
		reason := BadSyntax
		if isTemplate(string(text)) {
			msg, reason = msg+templateHint, Template
		}
		s.fault(&Fault{At: Location{Source: at.Source, Document: at.Document, Item: at.Item, Line: line}, Message: msg, Reason: reason})
		return nil
	}
	if !isObject(raw) {
		s.fault(&Fault{At: at, Message: fmt.Sprintf("is not a Kubernetes object: %s", shorten(string(bytes.TrimSpace(raw)))), Reason: NoObject})
		return nil
	}
	return raw
}

// yamlLineNumber is how the parser names a line, counted from the text's start.
var yamlLineNumber = regexp.MustCompile(`line (\d+): `)

// yamlMessage puts a parser's error into our words, with the line of the source.
func yamlMessage(first int, err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	msg = strings.TrimPrefix(msg, "unmarshal errors:\n  ")
	msg, _, _ = strings.Cut(msg, "\n")
	line = first
	if m := yamlLineNumber.FindStringSubmatch(msg); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			line = first + n - 1
		}
		msg = strings.Replace(msg, m[0], "", 1)
	}
	if strings.Contains(msg, "cannot start any token") {
		msg += " (YAML is indented by spaces, never by tabs, and text that begins with @ or ` wants quotes)"
	}
	if strings.Contains(msg, "unsupported value") {
		msg = "a number that is not finite (.nan or .inf)"
	}
	return line, "is not valid YAML: " + msg
}
