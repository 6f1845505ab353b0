package documents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// yamlDocument is a document that is being read. The items of a list are handed on
// one by one, the rest is kept to the end.
type yamlDocument struct {
	at   Position
	text bytes.Buffer // without the items of a list
	skip bool         // the rest makes no sense, as a fault says

	items   *list // nil before items: was seen
	inItems bool  // the present lines belong to items
	indent  int   // of the items' dashes; -1 before the first
	itemAt  Position
	item    bytes.Buffer
	anchors []byte // the items so far that have anchors
}

// scanYAML reads documents to the end of the source.
func (s *scanner) scanYAML() {
	s.limit.object = -1
	var doc *yamlDocument
	for !s.source.Enough() {
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
			s.closeDocument(doc)
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
			doc = &yamlDocument{at: Position{Document: s.document, Item: -1, Line: s.line}, indent: -1}
			s.refuse(doc, notMapping(line))
		}
		if !doc.skip {
			s.refuse(doc, s.yamlLine(doc, line))
		}
	}
	if !s.source.Enough() {
		s.closeDocument(doc)
	}
}

// refuse reports why a document makes no sense, if it does not, and lets the rest of it
// go by.
func (s *scanner) refuse(doc *yamlDocument, msg string) {
	if msg != "" {
		s.source.Fault(Fault{At: doc.at, Message: msg, Kind: NoObject})
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
	for long := slices.Clone(line); len(long) <= MaxObjectBytes; {
		line, err = s.in.ReadSlice('\n')
		long = append(long, line...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
	}
	return nil, errObjectTooLarge
}

// documentMarker says whether a line ends a document, and returns the rest of the line.
func documentMarker(line []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) || len(line) > 3 && !isSpace(line[3]) {
		return nil, false
	}
	if line[0] == '.' || isBlank(line[3:]) {
		return nil, true
	}
	// Text behind the dashes keeps its column, so that the indentation of the next lines still
	// applies.
	return append([]byte("   "), line[3:]...), true
}

// isSpace says whether a byte is white space.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isBlank says whether a line holds white space or a comment only.
func isBlank(line []byte) bool {
	content := bytes.TrimLeft(line, " \t\r\n")
	return len(content) == 0 || content[0] == '#'
}

var (
	// mappingStart is the first line of an object: a key and a colon, an object in
	// braces, an explicit key or a tag or anchor before them.
	mappingStart = regexp.MustCompile(`^\s*([{?&!]|("[^"]*"|'[^']*'|[^\s#:"'\[\]{},][^#:]*)\s*:(\s|$))`)
	// listing is the first line of kubectl's tables, or of a list of names.
	listing = regexp.MustCompile(`^(NAMESPACE\s+)?NAME(\s|$)|^[a-z][a-z.]*/[a-z0-9][-a-z0-9.]*\s*$`)
	// itemsKey is the line that opens the items of a list.
	itemsKey = regexp.MustCompile(`^items:\s*(#.*)?$`)
)

// notMapping says why a document that begins with line is no object, so that a
// large file of another kind is refused at once.
func notMapping(line []byte) string {
	head := line[:min(len(line), 4<<10)]
	if mappingStart.Match(head) && !bytes.HasPrefix(bytes.TrimLeft(head, " "), []byte("- ")) {
		return ""
	}
	msg := fmt.Sprintf("is not a Kubernetes object: begins with %q", Shorten(string(bytes.TrimSpace(head))))
	if listing.Match(head) {
		msg += " (it looks like a listing: have kubectl print objects, with -o json or -o yaml)"
	}
	return msg
}

// yamlLine adds a line to the document at hand. It says why the document makes no
// sense, if it does not.
func (s *scanner) yamlLine(doc *yamlDocument, line []byte) string {
	into := &doc.text
	if doc.inItems {
		content := bytes.TrimLeft(line, " ")
		indent := len(line) - len(content)
		dash := len(content) > 0 && content[0] == '-' && (len(content) == 1 || isSpace(content[1]))
		switch {
		case isBlank(line), doc.indent >= 0 && indent > doc.indent:
			into = &doc.item
		case dash && (doc.indent < 0 || indent == doc.indent):
			s.closeItem(doc)
			doc.indent, doc.itemAt.Line = indent, s.line
			line = slices.Clone(line)
			line[indent] = ' '
			into = &doc.item
		case doc.indent < 0 && indent > 0:
			return "has items that are not a list"
		default:
			s.closeItem(doc)
			doc.inItems = false
		}
	}
	switch {
	case into.Len()+len(line) > MaxObjectBytes:
		return errObjectTooLarge.Error()
	case !doc.inItems && itemsKey.Match(line):
		doc.items, doc.inItems, doc.indent, doc.itemAt = &list{scanner: s}, true, -1, doc.at
	default:
		into.Write(line)
	}
	return ""
}

// closeItem hands on the item at hand, if there is one.
func (s *scanner) closeItem(doc *yamlDocument) {
	if doc.indent >= 0 {
		doc.itemAt.Item++
		raw, err := doc.itemToJSON()
		if raw = s.checked(doc.itemAt, doc.item.Bytes(), raw, err); raw != nil {
			doc.items.item(doc.itemAt, raw)
		}
	}
	doc.item.Reset()
}

// closeDocument hands on the document at hand, if there is one.
func (s *scanner) closeDocument(doc *yamlDocument) {
	if doc == nil || doc.skip || s.source.Enough() {
		return
	}
	if doc.inItems {
		s.closeItem(doc)
	}
	raw, err := yamlToJSON(doc.text.Bytes())
	switch raw = s.checked(doc.at, doc.text.Bytes(), raw, err); {
	case raw == nil:
	case doc.items != nil:
		doc.items.close(doc.at, headerOf(raw))
	default:
		s.alone(doc.at, raw)
	}
}

// checked returns the JSON to which the text of one object was converted. It reports a
// fault and returns nil where that is none.
func (s *scanner) checked(at Position, text, raw []byte, err error) []byte {
	f := Fault{At: at}
	switch {
	case err != nil:
		f.At.Line, f.Message = yamlMessage(at.Line, err)
		f.Kind = BadSyntax
		if IsTemplate(string(text)) {
			f.Message, f.Kind = f.Message+templateHint, Template
		}
	case !isObject(raw):
		f.Message, f.Kind = "is not a Kubernetes object: "+Shorten(string(raw)), NoObject
	default:
		return raw
	}
	s.source.Fault(f)
	return nil
}

var (
	// yamlLineNumber is how the parser names a line, counted from the text's start.
	yamlLineNumber = regexp.MustCompile(`^line (\d+): `)
	// yamlParserError is an error of which the parser names the line before its own.
	yamlParserError = regexp.MustCompile(`did not find expected (<document|'-'|key|',')`)
	// yamlOtherLine is how it names the line of the other one of two keys.
	yamlOtherLine = regexp.MustCompile(` at line \d+$`)
)

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
		if yamlParserError.MatchString(msg) {
			line++
		}
		msg = strings.TrimPrefix(msg, m[0])
	}
	msg = yamlOtherLine.ReplaceAllString(msg, "")
	if strings.Contains(msg, "cannot start any token") {
		msg += " (YAML is indented by spaces, never by tabs, and text that begins with @ or ` wants quotes)"
	}
	if strings.Contains(msg, "unsupported value") {
		msg = "a number that is not finite (.nan or .inf)"
	}
	return line, "is not valid YAML: " + msg
}

// yamlToJSON converts one document of YAML 1.1 to JSON. A duplicate key in a mapping is an error; a
// key that overrides a merged one is not, and wins.
func yamlToJSON(text []byte) ([]byte, error) {
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	resolveAsYAML11(&document)
	var tree any
	if err := document.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// resolveAsYAML11 has the plain scalars of a tree read as Kubernetes reads them: yes and
// no are true and false, times are text, and so are all keys.
func resolveAsYAML11(n *yamlv3.Node) {
	const text, boolean, merge = "!!str", "!!bool", "!!merge"
	for i, child := range n.Content {
		key := n.Kind == yamlv3.MappingNode && i%2 == 0 && child.Kind == yamlv3.ScalarNode
		switch {
		case !key:
			resolveAsYAML11(child)
		case child.Tag != merge:
			child.Tag = text
		}
	}
	if n.Kind != yamlv3.ScalarNode || n.Style != 0 {
		return
	}
	switch word := strings.ToLower(n.Value); {
	case n.Tag == "!!timestamp":
		n.Tag = text
	case n.Tag == text && slices.Contains([]string{"y", "yes", "on"}, word):
		n.Tag, n.Value = boolean, "true"
	case n.Tag == text && slices.Contains([]string{"n", "no", "off"}, word):
		n.Tag, n.Value = boolean, "false"
	}
}

// maxAnchors is how much text of a list is kept for the anchors in it.
const maxAnchors = 256 << 10

// itemToJSON converts the item at hand. It may refer to anchors above it in the document.
func (d *yamlDocument) itemToJSON() ([]byte, error) {
	raw, err := yamlToJSON(d.item.Bytes())
	lacking := err != nil && strings.Contains(err.Error(), "unknown anchor")
	if !lacking && !bytes.ContainsRune(d.item.Bytes(), '&') {
		return raw, err
	}
	item := slices.Clone(d.item.Bytes())
	item[d.indent] = '-' // as it was
	if lacking {
		whole := slices.Concat(d.text.Bytes(), []byte("items:\n"), d.anchors, item)
		var above struct {
			Items []json.RawMessage `json:"items"`
		}
		if all, again := yamlToJSON(whole); again == nil && json.Unmarshal(all, &above) == nil && len(above.Items) > 0 {
			raw, err = above.Items[len(above.Items)-1], nil
		}
	}
	if len(d.anchors)+len(item) <= maxAnchors {
		d.anchors = append(d.anchors, item...)
	}
	return raw, err
}
