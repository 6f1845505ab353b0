package layering

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A sentence with "what" in it often leaves out a noun that its reader must then find. Comments that state contracts
// need few.
const (
	mostWhats   = 4   // in 1,000 words of a package's comments
	fewestWords = 200 // of less a rate says nothing
)

// TestProseNamesItsNouns checks how often the comments of a package say "what".
func TestProseNamesItsNouns(t *testing.T) {
	words, whats := map[string]int{}, map[string]int{}
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		for _, group := range s.ast.Comments {
			for _, word := range wordPattern().FindAllString(strings.ToLower(group.Text()), -1) {
				words[s.pkg]++
				if word == "what" {
					whats[s.pkg]++
				}
			}
		}
	}
	found := map[string]int{}
	for _, pkg := range slices.Sorted(maps.Keys(words)) {
		rate := (1000*whats[pkg] + words[pkg] - 1) / words[pkg] // rounded up
		if rate > mostWhats && words[pkg] >= fewestWords {
			found[pkg] = rate
		}
	}
	holds(t, found, map[string]int{}, `"what" in 1,000 words of a package's comments: name the thing`)
}

func wordPattern() *regexp.Regexp { return regexp.MustCompile(`[a-z'-]+`) }
