package embedded

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/compact"
)

const (
	dir       = "data"
	prefix    = "region-"
	extension = ".gz"
)

// Regions returns the names of the regions that have a file, sorted. The caller owns
// the slice.
func Regions(files fs.ReadDirFS) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if name, isTable := strings.CutSuffix(name, extension); ok && isTable {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Files is what an embed.FS offers.
type Files interface {
	fs.ReadDirFS
	fs.ReadFileFS
}

// Region reads the table of a region. The error for a region without a file lists
// the regions whose names come close, and how many there are.
func Region(files Files, provider, region string) (*compact.Table, error) {
	known := Regions(files)
	if !slices.Contains(known, region) {
		return nil, unknown(provider, region, known)
	}
	return Table(files, prefix+region)
}

// Table reads a table by the name of its file without extension.
func Table(files fs.ReadFileFS, name string) (*compact.Table, error) {
	data, err := files.ReadFile(path.Join(dir, name+extension))
	if err != nil {
		return nil, err
	}
	t, err := compact.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}
