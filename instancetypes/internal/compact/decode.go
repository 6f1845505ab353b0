package compact

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MaxText is how many bytes of text a table may have, so that a few bytes cannot
// unpack to more than memory holds.
const MaxText = 4 << 20

// maxNames is how many facts and how many columns a table may have.
const maxNames = 256

// Decode reads a table that [Table.Encode] wrote. Errors name the line.
func Decode(data []byte) (*Table, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decode table: %w", err)
	}
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(z, MaxText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decode table: %w", err)
	case n > MaxText:
		return nil, fmt.Errorf("decode table: more than %d bytes of text", MaxText)
	}
	t, err := Parse(text.String())
	if err != nil {
		return nil, fmt.Errorf("decode table: %w", err)
	}
	return t, nil
}

// Parse reads the uncompressed form. The table's strings are pieces of text.
func Parse(text string) (*Table, error) {
	p := parser{rest: text}
	t := &Table{}
	if line, ok := p.next(); !ok || line != magic {
		return nil, p.errorf("want %q", magic)
	}
	rows, err := p.facts(t)
	if err != nil {
		return nil, err
	}
	for p.rest != "" {
		line, ok := p.next()
		name, isColumn := strings.CutPrefix(line, "column\t")
		if !ok || !isColumn {
			return nil, p.errorf("want a column")
		}
		if len(t.Columns) == maxNames {
			return nil, p.errorf("more than %d columns", maxNames)
		}
		if _, twice := t.Column(name); twice || name == "" || strings.Contains(name, "\t") {
			return nil, p.errorf("column %q: want a name of its own without tabs", name)
		}
		cells, err := p.cells(rows)
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, Column{Name: name, Cells: cells})
	}
	if rows > 0 && len(t.Columns) == 0 {
		return nil, p.errorf("%d rows without a column", rows)
	}
	return t, nil
}

// parser walks the lines of a text.
type parser struct {
	rest string
	line int // of the line read last, counting from 1
}

// next returns the next line; false if there is none that a line feed ends.
func (p *parser) next() (string, bool) {
	p.line++
	line, rest, ok := strings.Cut(p.rest, "\n")
	if !ok {
		return "", false
	}
	p.rest = rest
	return line, true
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{p.line}, args...)...)
}

// facts reads up to the line that tells the number of rows, and returns that.
func (p *parser) facts(t *Table) (int, error) {
	for {
		line, ok := p.next()
		if !ok {
			return 0, p.errorf("want a fact or the number of rows")
		}
		kind, rest, _ := strings.Cut(line, "\t")
		switch kind {
		case "fact":
			key, value, ok := strings.Cut(rest, "\t")
			if len(t.Facts) == maxNames {
				return 0, p.errorf("more than %d facts", maxNames)
			}
			if _, twice := t.Fact(key); !ok || twice || key == "" {
				return 0, p.errorf("fact %q: want a key of its own, a tab and a value", rest)
			}
			t.Facts = append(t.Facts, Fact{Key: key, Value: value})
		case "rows":
			rows, err := strconv.Atoi(rest)
			if err != nil || strconv.Itoa(rows) != rest || rows < 0 {
				return 0, p.errorf("rows %q: want a whole number", rest)
			}
			// Every cell takes a line feed, so more rows than bytes are a lie.
			if rows > len(p.rest) {
				return 0, p.errorf("rows %d: only %d bytes follow", rows, len(p.rest))
			}
			return rows, nil
		default:
			return 0, p.errorf("%q: want a fact or the number of rows", kind)
		}
	}
}

func (p *parser) cells(rows int) ([]string, error) {
	if rows > len(p.rest) {
		return nil, p.errorf("want %d cells, only %d bytes follow", rows, len(p.rest))
	}
	cells := make([]string, rows)
	for i := range cells {
		cell, ok := p.next()
		if !ok {
			return nil, p.errorf("want %d cells, found %d: %w", rows, i, errShort)
		}
		cells[i] = cell
	}
	return cells, nil
}

var errShort = errors.New("the text ends early")
