package compact

import (
	"errors"
	"fmt"
	"strings"
)

// Fact is a statement about a whole table.
type Fact struct{ Key, Value string }

// Column is a named list of cells, one for each row.
type Column struct {
	Name  string
	Cells []string
}

// Table holds columns of equal length. The zero value is a table without columns.
type Table struct {
	Facts   []Fact
	Columns []Column
}

// Rows returns the number of rows.
func (t *Table) Rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0].Cells)
}

// Fact returns the value of a fact, and whether it is stated.
func (t *Table) Fact(key string) (string, bool) {
	for _, f := range t.Facts {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Column returns the cells of a column, and whether there is one of that name. They
// are the table's own.
func (t *Table) Column(name string) ([]string, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c.Cells, true
		}
	}
	return nil, false
}

// validate reports every way in which the table cannot be written.
func (t *Table) validate() error {
	var errs []error
	seen := map[string]bool{}
	name := func(kind, key string) {
		if key == "" || strings.ContainsAny(key, "\t\n") {
			errs = append(errs, fmt.Errorf("%s %q: want a name without tabs and line feeds", kind, key))
		}
		if seen[kind+key] {
			errs = append(errs, fmt.Errorf("%s %q: occurs twice", kind, key))
		}
		seen[kind+key] = true
	}
	if len(t.Facts) > maxNames || len(t.Columns) > maxNames {
		errs = append(errs, fmt.Errorf("%d facts and %d columns: want at most %d of each", len(t.Facts), len(t.Columns), maxNames))
	}
	for _, f := range t.Facts {
		name("fact", f.Key)
		if strings.Contains(f.Value, "\n") {
			errs = append(errs, fmt.Errorf("fact %q: value %q holds a line feed", f.Key, f.Value))
		}
	}
	for _, c := range t.Columns {
		name("column", c.Name)
		if len(c.Cells) != t.Rows() {
			errs = append(errs, fmt.Errorf("column %q: has %d cells, the first column %d", c.Name, len(c.Cells), t.Rows()))
		}
		for i, cell := range c.Cells {
			if strings.Contains(cell, "\n") {
				errs = append(errs, fmt.Errorf("column %q, row %d: %q holds a line feed", c.Name, i, cell))
			}
		}
	}
	return errors.Join(errs...)
}
