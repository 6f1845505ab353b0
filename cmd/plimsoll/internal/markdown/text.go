package markdown

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
)

// Text is a text that is being written. The zero value is empty.
type Text struct{ buffer bytes.Buffer }

// Line writes a line, by the format of [fmt.Sprintf]. Texts of users in it must have gone through [Literal].
func (t *Text) Line(format string, args ...any) { fmt.Fprintf(&t.buffer, format+"\n", args...) }

// Table begins a table; align has l or r for each column.
func (t *Text) Table(head []string, align string) {
	t.Line("")
	t.Row(head...)
	for _, a := range align {
		t.buffer.WriteString(map[rune]string{'l': "| :-- ", 'r': "| --: "}[a])
	}
	t.Line("|")
}

// Row writes the cells of a table, as they are.
func (t *Text) Row(cells ...string) {
	for _, c := range cells {
		t.buffer.WriteString("| " + Literal(c) + " ")
	}
	t.Line("|")
}

// Open begins a collapsed section below a summary. Markdown in a summary is not read, so that it is escaped as HTML.
func (t *Text) Open(summary string) {
	t.Line("\n<details><summary>%s</summary>", html.EscapeString(strings.Map(printable, summary)))
}

// Close ends a collapsed section.
func (t *Text) Close() { t.Line("\n</details>") }

// WriteTo implements [io.WriterTo]. It empties the text.
func (t *Text) WriteTo(w io.Writer) (int64, error) { return t.buffer.WriteTo(w) }

// Literal returns Markdown that is shown as text is. Characters that cannot be printed are shown as a dot.
func Literal(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune("\\`*_[]|~", r):
			b.WriteByte('\\')
		case r == '<' || r == '&':
			b.WriteString(map[rune]string{'<': "&lt;", '&': "&amp;"}[r])
			continue
		}
		b.WriteRune(printable(r))
	}
	return b.String()
}

// printable returns a character, or a dot in place of one that cannot be printed.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '·'
}
