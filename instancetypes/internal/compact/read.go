package compact

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxReadErrors bounds how many bad cells a [Reader] lists.
const maxReadErrors = 20

// Reader takes typed columns out of a table. It collects what is wrong, so that a
// caller asks once, with [Reader.Err], and learns of every fault.
type Reader struct {
	table *Table
	errs  []error
}

// NewReader returns a reader of t, which must not change meanwhile.
func NewReader(t *Table) *Reader { return &Reader{table: t} }

// Err returns what was wrong with the columns read so far; nil if nothing was.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

func (r *Reader) fault(format string, args ...any) {
	if len(r.errs) < maxReadErrors {
		r.errs = append(r.errs, fmt.Errorf(format, args...))
	}
}

// Fact returns the value of a fact. A fact that is not stated is a fault.
func (r *Reader) Fact(key string) string {
	value, ok := r.table.Fact(key)
	if !ok {
		r.fault("fact %q: is missing", key)
	}
	return value
}

// Text returns a column as it is. A column that is missing is a fault and reads as
// empty cells, so that the caller can index by row before asking for errors.
func (r *Reader) Text(column string) []string {
	cells, ok := r.table.Column(column)
	if !ok {
		r.fault("column %q: is missing", column)
		return make([]string, r.table.Rows())
	}
	return cells
}

// Ints returns a column of whole numbers of at least 0. An empty cell is 0.
func (r *Reader) Ints(column string) []int64 {
	cells := r.Text(column)
	values := make([]int64, len(cells))
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil || n < 0 {
			r.fault("column %q, row %d: %q: want a whole number of at least 0", column, i, cell)
			continue
		}
		values[i] = n
	}
	return values
}

// Ascending returns a column of lists that [Ascending] wrote. An empty cell is an
// empty list.
func (r *Reader) Ascending(column string) [][]int64 {
	cells := r.Text(column)
	lists := make([][]int64, len(cells))
	for i, cell := range cells {
		list, err := parseAscending(cell)
		if err != nil {
			r.fault("column %q, row %d: %q: %w", column, i, cell, err)
			continue
		}
		lists[i] = list
	}
	return lists
}

// Ascending writes a list of numbers, of at least 0 and none smaller than the one
// before, as the first number and the differences between neighbours. It reports
// false for any other list.
func Ascending(values []int64) (string, bool) {
	var b strings.Builder
	last := int64(0)
	for i, v := range values {
		if v < last {
			return "", false
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatInt(v-last, 10))
		last = v
	}
	return b.String(), true
}

func parseAscending(cell string) ([]int64, error) {
	if cell == "" {
		return nil, nil
	}
	list := make([]int64, 0, strings.Count(cell, " ")+1)
	sum := int64(0)
	for step := range strings.SplitSeq(cell, " ") {
		n, err := strconv.ParseInt(step, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q: want a whole number of at least 0", step)
		}
		if sum += n; sum < 0 {
			return nil, errors.New("the sum does not fit 64 bits")
		}
		list = append(list, sum)
	}
	return list, nil
}
