package embedded

import (
	"fmt"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
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
	name = strings.ToLower(name)
	return spelling.Closest(known, maxSuggestions, func(k string) (int, bool) {
		d := spelling.Distance(name, k)
		// Names of regions have much in common: a third of the letters may differ.
		return d, d <= max(len(k)/3, 2) || strings.HasPrefix(name, k)
	})
}
