package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Distance counts the bytes to insert, drop or replace to turn one text into the other.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Closest returns at most so many of the names, the nearest first and by name among
// equally near ones. far tells how far off a name is, and whether that is still near
// enough to be meant.
func Closest(names []string, most int, far func(name string) (distance int, near bool)) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	for _, name := range names {
		if d, near := far(name); near {
			found = append(found, candidate{name, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	out := make([]string, 0, min(len(found), most))
	for _, c := range found[:min(len(found), most)] {
		out = append(out, c.name)
	}
	return out
}

// Bare removes case, spaces, dashes and underscores from a name, because people spell names with and without them.
func Bare(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
