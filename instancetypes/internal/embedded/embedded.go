package embedded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	dir       = "data"
	prefix    = "region-"
	extension = ".gz"
)

// Facts is the content of a file, a pointer to a struct. Validate reports all errors in it;
// it is called before writing and after reading.
type Facts interface{ Validate() error }

// Files is the part of an embed.FS that reading needs.
type Files interface {
	fs.ReadDirFS
	fs.ReadFileFS
}

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
		if name, isFacts := strings.CutSuffix(name, extension); ok && isFacts {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Region reads the facts of a region. The error for a region without a file lists the
// regions whose names come close, and how many there are.
func Region(files Files, provider, region string, into Facts) error {
	known := Regions(files)
	if !slices.Contains(known, region) {
		return unknown(provider, region, known)
	}
	return Read(files, prefix+region, into)
}

// Read reads facts by the name of their file without extension.
func Read(files fs.ReadFileFS, name string, into Facts) error {
	data, err := files.ReadFile(path.Join(dir, name+extension))
	if err != nil {
		return err
	}
	if err := Decode(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Decode is the inverse of [Encode].
func Decode(data []byte, into Facts) error {
	text, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := json.NewDecoder(text).Decode(into); err != nil {
		return err
	}
	return into.Validate()
}

// Encode writes facts that are valid, without a time stamp.
func Encode(facts Facts) ([]byte, error) {
	if err := facts.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
