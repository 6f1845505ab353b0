package layering

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mapTitle begins the part of a doc.go that lists the package's files with their contents.
const mapTitle = "A map of this package's files"

// mapLine is an entry of a map: names with commas between them, then a description. A star stands for all files that
// begin so.
var mapLine = regexp.MustCompile(`^\t([a-z0-9_]+\*?(?:, [a-z0-9_]+\*?)*),? `)

// mapped returns the names in a map of files; nil where the comment is none.
func mapped(comment string) (names []string) {
	if !strings.HasPrefix(comment, mapTitle) {
		return nil
	}
	for line := range strings.Lines(comment) {
		if m := mapLine.FindStringSubmatch(line); m != nil {
			names = append(names, strings.Split(m[1], ", ")...)
		}
	}
	return names
}

// entryOf returns the entry of a map that a file belongs to: the one of its name, or else
// the longest that it begins with.
func entryOf(names []string, file string) string {
	best := ""
	for _, name := range names {
		if name == file {
			return name
		}
		if stem, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(file, stem) && len(name) > len(best) {
			best = name
		}
	}
	return best
}

// Maps of files name every file, and no file that is not there. Packages with many files
// have one.
func TestMapsOfFilesAreComplete(t *testing.T) {
	const many = 60
	files, maps := map[string][]string{}, map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if name := strings.TrimSuffix(path.Base(s.file), ".go"); name != "doc" {
			files[s.pkg] = append(files[s.pkg], name)
			continue
		}
		for _, group := range s.ast.Comments {
			maps[s.pkg] = append(maps[s.pkg], mapped(group.Text())...)
		}
	}
	for pkg, list := range files {
		names := maps[pkg]
		if len(names) == 0 {
			assert.Less(t, len(list), many, "%s has many files, and no map of them in doc.go", pkg)
			continue
		}
		var used []string
		for _, file := range list {
			entry := entryOf(names, file)
			assert.NotEmpty(t, entry, "%s/doc.go: the map leaves out %s", pkg, file)
			used = append(used, entry)
		}
		for _, name := range names {
			assert.True(t, slices.Contains(used, name), "%s/doc.go: the map has %s, and there is no such file", pkg, name)
		}
	}
}

func TestMapped(t *testing.T) {
	names := mapped(mapTitle + ", by stage.\n\nFirst\n\n\tone, two  the first\n\tthree_*, four more of\n\t     the same\n\tlongest it is\n")
	assert.Equal(t, []string{"one", "two", "three_*", "four", "longest"}, names)
	assert.Nil(t, mapped("Package x has\n\n\tone  thing\n"))
	assert.Equal(t, "two", entryOf(names, "two"))
	assert.Equal(t, "three_*", entryOf(names, "three_a"))
	assert.Empty(t, entryOf(names, "twofold"))
	assert.Equal(t, "ab*", entryOf([]string{"a*", "ab*"}, "abc"))
}
