package compact

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
)

const magic = "plimsoll-table 1"

// Text writes the table in the form of the package comment, uncompressed. It
// reports every name that occurs twice, every text that holds a line feed and
// columns of unequal length.
func (t *Table) Text() ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("encode table: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(magic + "\n")
	for _, f := range t.Facts {
		b.WriteString("fact\t" + f.Key + "\t" + f.Value + "\n")
	}
	b.WriteString("rows\t" + strconv.Itoa(t.Rows()) + "\n")
	for _, c := range t.Columns {
		b.WriteString("column\t" + c.Name + "\n")
		for _, cell := range c.Cells {
			b.WriteString(cell)
			b.WriteByte('\n')
		}
	}
	if b.Len() > MaxText {
		return nil, fmt.Errorf("encode table: %d bytes of text, at most %d can be read again", b.Len(), MaxText)
	}
	return b.Bytes(), nil
}

// Encode writes the table compressed, without a time stamp. The errors are those of
// [Table.Text].
func (t *Table) Encode() ([]byte, error) {
	text, err := t.Text()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("encode table: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("encode table: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encode table: %w", err)
	}
	return b.Bytes(), nil
}
