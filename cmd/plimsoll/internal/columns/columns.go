package columns

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// The least that a cell of names or of a list is shortened to, in characters: before columns
// are left out for it, and after.
const (
	comfortable = 30
	shortest    = 8
)

// Fit makes rows below their head, the first row, take so many characters at most, with two
// between columns. Where they do not, the columns that spare names are left out, the first one
// first, until names and lists have some room, and then these are shortened, the longest first.
// Figures never are. A row may end before its last columns. left are the heads of the columns that were left out.
func Fit(rows [][]string, room int, spare []string) (fitting [][]string, left []string) {
	columns := measured(rows)
	for _, head := range spare {
		if columns.without(left).need(comfortable) <= room {
			break
		}
		if slices.Contains(rows[0], head) {
			left = append(left, head)
		}
	}
	for _, head := range slices.Backward(left) { // those before may have been too narrow to help
		if fewer := lo.Without(left, head); columns.without(fewer).need(comfortable) <= room {
			left = fewer
		}
	}
	shown := columns.without(left)
	limit := lo.MaxBy(shown, func(a, b column) bool { return a.names > b.names }).names
	for limit > shortest && shown.need(limit) > room {
		limit--
	}
	for _, r := range rows {
		fitting = append(fitting, lo.FilterMap(shown, func(c column, _ int) (string, bool) {
			if c.number >= len(r) {
				return "", false
			}
			return shortened(r[c.number], c.width(limit)), true
		}))
	}
	return fitting, left
}

// column is how many characters a column takes: for its head and figures, and for its names.
type column struct {
	number       int
	head         string
	fixed, names int
}

// width is the width of the column, in characters, if names are cut to limit characters.
func (c column) width(limit int) int { return max(c.fixed, min(c.names, limit)) }

// columnList is the columns of a table.
type columnList []column

// measured measures the columns of rows of which the first is their head.
func measured(rows [][]string) columnList {
	columns := lo.Map(rows[0], func(head string, i int) column { return column{number: i, head: head} })
	for i, r := range rows {
		for k, cell := range r {
			c, n := &columns[k], utf8.RuneCountInString(cell)
			if i == 0 || isFigure(cell) {
				c.fixed = max(c.fixed, n)
			} else {
				c.names = max(c.names, n)
			}
		}
	}
	return columns
}

// without leaves out the columns with these heads.
func (l columnList) without(heads []string) columnList {
	return lo.Reject(l, func(c column, _ int) bool { return slices.Contains(heads, c.head) })
}

// need is the width of all columns, in characters, with the gaps between them, if names are cut to limit characters.
func (l columnList) need(limit int) int {
	return lo.SumBy(l, func(c column) int { return c.width(limit) + 2 }) - 2
}

// isFigure says whether a cell is a figure, and no name and no list.
func isFigure(cell string) bool {
	return cell == "" || strings.ContainsAny(cell[:1], "0123456789$+-") && !strings.Contains(cell, ", ")
}

// shortened writes a name or a list in so many characters: of a list the first ones and how
// many more there are, of a name both ends.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most || isFigure(text) {
		return text
	}
	parts := strings.Split(text, ", ")
	if lo.SomeBy(parts, func(part string) bool { return strings.Count(part, " ") > 3 }) {
		parts = []string{text} // no list of names, but a sentence
	}
	more := 0
	if n, _ := fmt.Sscanf(parts[len(parts)-1], "and %d more", &more); n == 1 {
		parts = parts[:len(parts)-1]
	}
	for k := len(parts) - 1; k > 0; k-- {
		some := fmt.Sprintf("%s, and %d more", figures.Join(parts[:k]), more+len(parts)-k)
		if utf8.RuneCountInString(some) <= most {
			return some
		}
	}
	tail := ""
	if more += len(parts) - 1; more > 0 {
		if tail = fmt.Sprintf(", and %d more", more); most-len(tail) < shortest {
			tail = ", …"
		}
	}
	name := []rune(parts[0])
	keep := most - utf8.RuneCountInString(tail) - 1
	if keep >= len(name) {
		return parts[0] + tail
	}
	return string(name[:(keep+1)/2]) + "…" + string(name[len(name)-keep/2:]) + tail
}
