package instancetypes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFaults bounds how many faults one error lists, so that a file that is wrong
// in every line does not produce a message as long as itself.
const maxFaults = 100

// enoughFaults is the number at which a reader gives up on a file.
const enoughFaults = 10_000

// CatalogFault is one thing that is wrong with an instance type or with a file of them.
// Errors of this package that complain about data hold one or more; errors.As
// finds the first.
type CatalogFault struct {
	// Line and Column say where in the file, counting from 1 and in bytes; 0 where
	// there is no file.
	Line, Column int
	// Type is the name of the instance type; empty if the fault lies outside of any.
	Type string
	// Field is the path of the field within the type, e.g. "offerings[2].price".
	Field string
	// Value is the offending value as text; empty where a value is missing.
	Value string
	// Problem states the fault.
	Problem string
	// Err is the cause, if it has a type worth asking for.
	Err error
}

// Error returns the fault as one line.
func (f *CatalogFault) Error() string {
	var b strings.Builder
	sep := func() {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d", f.Line, f.Column)
	}
	if f.Type != "" {
		sep()
		fmt.Fprintf(&b, "instance type %s", f.Type)
	}
	if f.Field != "" {
		sep()
		b.WriteString(f.Field)
	}
	if f.Value != "" {
		sep()
		b.WriteString(shortened(f.Value))
	}
	sep()
	b.WriteString(f.Problem)
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (f *CatalogFault) Unwrap() error { return f.Err }

// faults collects the faults of one input.
type faults struct {
	list  []*CatalogFault
	extra int
}

func (fs *faults) add(f *CatalogFault) {
	if len(fs.list) >= maxFaults {
		fs.extra++
		return
	}
	fs.list = append(fs.list, f)
}

// err joins the faults; nil if there are none.
func (fs *faults) err() error {
	errs := make([]error, 0, len(fs.list)+1)
	for _, f := range fs.list {
		errs = append(errs, f)
	}
	switch {
	case fs.enough():
		errs = append(errs, fmt.Errorf("and at least %d more faults", fs.extra))
	case fs.extra > 0:
		errs = append(errs, fmt.Errorf("and %d more faults", fs.extra))
	}
	return errors.Join(errs...)
}

// enough reports whether there is no point in reading on.
func (fs *faults) enough() bool { return len(fs.list)+fs.extra >= enoughFaults }

// shortened quotes a value from a file for a message.
func shortened(value string) string {
	const limit = 80
	if len(value) <= limit {
		return fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("%q (%d bytes)", value[:limit]+"…", len(value))
}

// reason returns the message of an error of package offerings without the value, which the fault
// has already.
func reason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, `": `); i >= 0 {
		return text[i+len(`": `):]
	}
	return text
}

// Limits of the input of a reader, so that a file that is not a catalog fails before it fills the
// memory. The largest real catalogs (every type of a cloud in a region) are a few megabytes.
const (
	maxInput = 256 << 20 // bytes of a whole file
	maxEntry = 4 << 20   // bytes of one instance type, or of one row
	maxLines = 1 << 18   // lines of one instance type
)

// position is a place in a file: line and column in bytes, from 1.
type position struct{ line, column int }

// in returns the position of a byte of a text that begins at p.
func (p position) in(text []byte, offset int64) position {
	before := text[:min(offset, int64(len(text)))]
	lines := bytes.Count(before, []byte("\n"))
	if lines == 0 {
		return position{line: p.line, column: p.column + len(before)}
	}
	return position{line: p.line + lines, column: len(before) - bytes.LastIndexByte(before, '\n')}
}

// input counts lines and enforces the limits on behalf of a decoder that reads ahead. The decoder
// reports its progress through at and begin; the memory used here is bounded by its read-ahead.
type input struct {
	r     io.Reader
	read  int64 // bytes handed out
	entry int64 // offset at which the present entry begins
	err   error // why reading stopped, unless at the end

	lines     bool    // whether at will be asked for
	newlines  []int64 // offsets of newlines passed to the decoder; the ones before head are behind it
	head      int
	line      int   // of the position last asked for
	lineStart int64 // offset at which that line begins
}

// newInput reads from r, without the byte order mark that several editors write. Without lines it
// does not count them, for decoders that do.
func newInput(r io.Reader, lines bool) *input {
	b := bufio.NewReader(r)
	// An error here comes back with the first Read.
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = b.Discard(len(mark))
	}
	return &input{r: b, line: 1, lines: lines}
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if in.err != nil {
		return 0, in.err
	}
	switch {
	case in.read >= maxInput:
		in.err = fmt.Errorf("the file is larger than %d MiB: this is not a catalog", maxInput>>20)
		return 0, in.err
	case len(in.newlines)-in.head > maxLines:
		in.err = fmt.Errorf("a single entry has more than %d lines: this is not a catalog", maxLines)
		return 0, in.err
	case in.read-in.entry >= maxEntry:
		in.err = fmt.Errorf("a single entry is larger than %d MiB: this is not a catalog", maxEntry>>20)
		return 0, in.err
	}
	p = p[:min(int64(len(p)), maxEntry-(in.read-in.entry), maxInput-in.read)]
	n, err := in.r.Read(p)
	if in.lines {
		for i, b := range p[:n] {
			if b == '\n' {
				in.newlines = append(in.newlines, in.read+int64(i))
			}
		}
	}
	in.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
	}
	return n, err
}

// begin says that an entry starts at offset: its limit counts from here.
func (in *input) begin(offset int64) { in.entry = offset }

// at turns an offset into line and column. Offsets must not decrease from call to
// call.
func (in *input) at(offset int64) position {
	for in.head < len(in.newlines) && in.newlines[in.head] < offset {
		in.line++
		in.lineStart = in.newlines[in.head] + 1
		in.head++
	}
	if in.head > len(in.newlines)/2 {
		in.newlines = append(in.newlines[:0], in.newlines[in.head:]...)
		in.head = 0
	}
	return position{line: in.line, column: int(max(offset-in.lineStart, 0)) + 1}
}
