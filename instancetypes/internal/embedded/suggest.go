package embedded

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxSuggestions is how many names an error proposes.
const maxSuggestions = 3

// longest is how much of a name is compared and printed.
const longest = 64

// unknown makes the error for a region that there is no catalog of.
func unknown(provider, region string, known []string) error {
	if len(region) > longest {
		region = region[:longest] + "…"
	}
	names := known
	lead := "the regions are"
	if len(known) > maxSuggestions {
		names, lead = closest(region, known), "close names are"
	}
	if len(names) == 0 {
		return fmt.Errorf("%s region %q: no such catalog among %d", provider, region, len(known))
	}
	return fmt.Errorf("%s region %q: no such catalog; %s %s", provider, region, lead, strings.Join(names, ", "))
}

// closest returns the names that differ from name in the fewest letters, nearest
// first; none if all are far away.
func closest(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	name = strings.ToLower(name)
	var candidates []candidate
	for _, k := range known {
		d := distance(name, k)
		// Names of regions have much in common: a third of the letters may differ.
		if d <= max(len(k)/3, 2) || strings.HasPrefix(name, k) {
			candidates = append(candidates, candidate{k, d})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range candidates[:min(len(candidates), maxSuggestions)] {
		names = append(names, c.name)
	}
	return names
}

// distance counts the letters that must be inserted, deleted or replaced to turn a
// into b.
func distance(a, b string) int {
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
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
