package columns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// The least width of a column of texts, in characters: before columns are left out for it, and after.
const (
	comfortable = 30
	shortest    = 8
)

// Fit makes rows below their head, the first row, take so many characters at most, with two
// between columns. Where they do not, the columns that spare names are left out, the first one
// first, until texts have some room, and then these are narrowed, the longest first: sentences, which are
// continued in further rows that are blank in the other columns, before names and lists, which are shortened.
// Figures never are. A row may end before its last columns. left are the heads of the columns that were left out.
func Fit(rows [][]string, room int, spare []string) (fitting [][]string, left []string) {
	columns, narrowed := measured(rows), limits{comfortable, comfortable}
	for _, head := range spare {
		if columns.without(left).need(narrowed) <= room {
			break
		}
		if slices.Contains(rows[0], head) {
			left = append(left, head)
		}
	}
	for _, head := range slices.Backward(left) { // columns before it may have been too narrow to help
		if fewer := lo.Without(left, head); columns.without(fewer).need(narrowed) <= room {
			left = fewer
		}
	}
	shown := columns.without(left)
	most := limits{room, room}
	for most.names > shortest && shown.need(most) > room {
		most = most.narrower()
	}
	for _, r := range rows {
		fitting = append(fitting, shown.fit(r, most)...)
	}
	return fitting, left
}

// limits are how many characters names and lists may take, and a line of a sentence.
type limits struct{ names, sentences int }

// narrower are the next limits to try.
func (l limits) narrower() limits {
	switch {
	case l.sentences > comfortable:
		l.sentences--
	case l.names > comfortable:
		l.names--
	default:
		l.names--
		l.sentences--
	}
	return l
}

// fit returns a row with its texts narrowed to the limits, and the rows that continue its sentences.
func (l columnList) fit(row []string, most limits) (rows [][]string) {
	cells := lo.FilterMap(l, func(c column, _ int) ([]string, bool) {
		switch {
		case c.number >= len(row):
			return nil, false
		case isSentence(row[c.number]):
			return wrapped(row[c.number], c.width(most)), true
		}
		return []string{shortened(row[c.number], c.width(most))}, true
	})
	for i := range lo.Max(lo.Map(cells, func(lines []string, _ int) int { return len(lines) })) {
		rows = append(rows, lo.Map(cells, func(lines []string, _ int) string { return lo.NthOr(lines, i, "") }))
	}
	return rows
}

// column is how many characters a column takes: for its head and figures, for its names and lists, and for its sentences.
type column struct {
	number                  int
	head                    string
	fixed, names, sentences int
}

// width is the width of the column, in characters, within the limits.
func (c column) width(most limits) int {
	return max(c.fixed, min(c.names, most.names), min(c.sentences, most.sentences))
}

// columnList is the columns of a table.
type columnList []column

// measured measures the columns of rows of which the first is their head.
func measured(rows [][]string) columnList {
	columns := lo.Map(rows[0], func(head string, i int) column { return column{number: i, head: head} })
	for i, r := range rows {
		for k, cell := range r {
			c, n := &columns[k], utf8.RuneCountInString(cell)
			switch {
			case i == 0, isFigure(cell):
				c.fixed = max(c.fixed, n)
			case isSentence(cell):
				c.sentences = max(c.sentences, n)
			default:
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

// need is the width of all columns within the limits, in characters, with the gaps between them.
func (l columnList) need(most limits) int {
	return lo.SumBy(l, func(c column) int { return c.width(most) + 2 }) - 2
}

// isFigure says whether a cell is a figure, and no name and no list.
func isFigure(cell string) bool {
	return cell == "" || strings.ContainsAny(cell[:1], "0123456789$+-") && !strings.Contains(cell, ", ")
}

// isSentence says whether a cell is several words, and no figure, no name and no list of names.
func isSentence(cell string) bool {
	return !isFigure(cell) && lo.SomeBy(strings.Split(cell, ", "), func(part string) bool {
		return strings.Count(part, " ") > 1 && !strings.HasPrefix(part, "and ")
	})
}

// wrapped breaks a sentence at its blanks into lines of so many characters at most. A longer word is broken, too.
func wrapped(text string, most int) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= most {
			lines[last] += " " + word
		} else {
			lines = append(lines, broken(word, most)...)
		}
	}
	return lines
}

// broken breaks a word into parts of so many characters at most: behind a slash where there is one, as in the names of
// annotations, or else behind a dot or hyphen.
func broken(word string, most int) (parts []string) {
	letters := []rune(word)
	for len(letters) > most {
		head := string(letters[:most])
		end := cmp.Or(strings.LastIndex(head, "/")+1, strings.LastIndexAny(head, ".-")+1, len(head))
		parts = append(parts, head[:end])
		letters = letters[utf8.RuneCountInString(head[:end]):]
	}
	return append(parts, string(letters))
}

// shortened writes a name or a list in so many characters: of a list the first ones and how
// many more there are, of a name both ends.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most || isFigure(text) {
		return text
	}
	parts := strings.Split(text, ", ")
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
