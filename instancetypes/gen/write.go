package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/embedded"
)

// extension is that of the files of data.
const extension = ".gz"

// write puts the files into the directory data of a package and removes files of the
// same kind that are not among them. It returns their size together.
func (f files) write(root, pkg string) (int, error) {
	if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
		return 0, fmt.Errorf("no package %s in %s: %w", pkg, root, err)
	}
	dir := filepath.Join(root, pkg, "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(f)) {
		data, err := embedded.Encode(f[name])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+extension), data, 0o644); err != nil {
			return 0, err
		}
		total += len(data)
	}
	stale, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		return 0, err
	}
	for _, path := range stale {
		base := filepath.Base(path)
		if _, ok := f[base[:len(base)-len(extension)]]; ok {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return total, nil
}
