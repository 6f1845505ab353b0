package instancetypes

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// ReadCSV reads a catalog in the CSV format that the package comment describes: a row of headings,
// then one row for each offering. Rows of one type need not be adjacent, and only one of them must
// describe the node; the others must not contradict it. Lines that begin with # are comments.
// Errors are like those of [ReadJSON].
func ReadCSV(r io.Reader) (*Catalog, error) {
	in := newInput(r, false)
	c := &csvReader{in: in, table: csv.NewReader(in), byName: map[string]*csvType{}}
	c.table.Comment = '#'
	c.table.ReuseRecord = true
	if c.readHeadings() {
		for c.readRow() {
		}
	}
	b := newCatalogBuilder(&c.fs)
	for _, t := range c.types {
		b.add(&t.InstanceType, t.at.of, t.explained)
	}
	catalog, err := b.catalog()
	if err != nil {
		return nil, fmt.Errorf("reading CSV catalog: %w", err)
	}
	return catalog, nil
}

// csvReader gathers the types of a table.
type csvReader struct {
	in      *input
	table   *csv.Reader
	fs      faults
	columns []csvColumn
	name    int // index of the column name
	types   []*csvType
	byName  map[string]*csvType
}

// csvType is a type of which one or more rows have been read.
type csvType struct {
	InstanceType
	at        places
	said      []csvSaying // by column: the values of the type in the rows so far
	explained []string    // fields whose cells are faulty
}

type csvSaying struct {
	cell string
	line int
}

// record reads a row; nil at the end, and where the table cannot be read further.
func (c *csvReader) record() []string {
	for !c.fs.enough() {
		c.in.begin(c.table.InputOffset())
		row, err := c.table.Read()
		var bad *csv.ParseError
		switch {
		case err == nil:
			return row
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad) && errors.Is(err, csv.ErrFieldCount):
			c.fs.add(&CatalogFault{
				Line: bad.Line, Column: 1, Err: err,
				Problem: fmt.Sprintf("the row has %d cells, but there are %d headings", len(row), len(c.columns)),
			})
		case errors.As(err, &bad):
			c.fs.add(&CatalogFault{Line: bad.Line, Column: bad.Column, Problem: "is not CSV: " + bad.Err.Error(), Err: err})
			return nil
		default:
			c.fs.add(&CatalogFault{Problem: err.Error(), Err: err})
			return nil
		}
	}
	return nil
}

// readHeadings reads the first row and reports whether the rest can be understood.
func (c *csvReader) readHeadings() bool {
	const most = 4096
	c.name = -1
	headings := c.record()
	if len(headings) > most {
		c.fs.add(&CatalogFault{Line: 1, Column: 1, Problem: fmt.Sprintf("there are %d headings: this is not a catalog", len(headings))})
		return false
	}
	seen := map[string]bool{}
	for i, heading := range headings {
		heading = strings.TrimSpace(heading)
		line, at := c.table.FieldPos(i)
		column, err := columnNamed(heading)
		switch {
		case err != nil:
			c.fs.add(&CatalogFault{Line: line, Column: at, Field: "heading", Value: heading, Problem: err.Error()})
		case seen[column.name]:
			c.fs.add(&CatalogFault{Line: line, Column: at, Field: "heading", Value: heading, Problem: "stands here twice"})
		case column.name == "name":
			c.name = i
		}
		seen[column.name] = true
		c.columns = append(c.columns, column)
	}
	if c.name < 0 && len(c.fs.list) == 0 && len(c.columns) > 0 {
		c.fs.add(&CatalogFault{Line: 1, Column: 1, Field: "heading", Problem: "there is no column name"})
	}
	return len(c.fs.list) == 0 && len(c.columns) > 0
}

// readRow reads one row and reports whether there was one.
func (c *csvReader) readRow() bool {
	row := c.record()
	if row == nil {
		return false
	}
	line, _ := c.table.FieldPos(0)
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	name := row[c.name]
	t := c.byName[name]
	if t == nil || name == "" { // rows without a name are faults of their own
		t = &csvType{at: places{"": {line: line, column: 1}}, said: make([]csvSaying, len(c.columns))}
		t.Name = strings.Clone(name) // the row's memory is used again
		c.byName[t.Name] = t
		c.types = append(c.types, t)
	}
	c.readOffering(t, row, line)
	for i, column := range c.columns {
		if cell := row[i]; cell != "" && !column.offering {
			c.readTypeCell(t, i, cell, line)
		}
	}
	return true
}

// readTypeCell takes over a cell that describes the machine.
func (c *csvReader) readTypeCell(t *csvType, i int, cell string, line int) {
	if said := t.said[i]; said.cell != "" {
		if said.cell != cell {
			c.cellFault(t, i, cell, fmt.Sprintf("differs from %q in line %d", said.cell, said.line))
		}
		return
	}
	cell = strings.Clone(cell)
	t.said[i] = csvSaying{cell: cell, line: line}
	if err := c.columns[i].readCell(&t.InstanceType, nil, cell); err != nil {
		c.cellFault(t, i, cell, reason(err))
		t.explained = append(t.explained, c.columns[i].path)
	}
}

// readOffering takes over the cells of an offering, if any is filled.
func (c *csvReader) readOffering(t *csvType, row []string, line int) {
	var o offerings.Offering
	path := fmt.Sprintf("offerings[%d]", len(t.Offerings))
	filled, priced := false, false
	for i, column := range c.columns {
		if !column.offering || row[i] == "" {
			continue
		}
		filled = true
		priced = priced || column.name == "price"
		if err := column.readCell(nil, &o, strings.Clone(row[i])); err != nil {
			c.cellFault(t, i, row[i], reason(err))
			t.explained = append(t.explained, strict.Below(path, column.path))
		}
	}
	if !filled {
		return
	}
	if !priced {
		c.fs.add(&CatalogFault{
			Line: line, Column: 1, Type: row[c.name], Field: "price",
			Problem: "is missing; write 0 if it is free",
		})
	}
	t.Offerings = append(t.Offerings, o)
	t.at[path] = position{line: line, column: 1}
}

// cellFault reports a cell of the present row.
func (c *csvReader) cellFault(t *csvType, i int, cell, problem string) {
	line, column := c.table.FieldPos(i)
	c.fs.add(&CatalogFault{Line: line, Column: column, Type: t.Name, Field: c.columns[i].name, Value: cell, Problem: problem})
}
