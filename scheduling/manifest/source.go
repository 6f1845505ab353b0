package manifest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that stands for [Loader.Stdin].
const Stdin = "-"

// load reads every file that paths name, in the order of paths and, inside of a
// directory, of names.
func (c *collector) load(paths []string) error {
	var errs []error
	stdinRead := false
	for _, p := range paths {
		if p == Stdin {
			switch {
			case stdinRead:
				errs = append(errs, errors.New("stdin is named twice"))
			case c.loader.Stdin == nil:
				errs = append(errs, errors.New("stdin is not available"))
			default:
				c.read("stdin", c.loader.Stdin)
			}
			stdinRead = true
			continue
		}
		files, err := c.loader.expand(p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		parts := kustomized(files)
		for _, f := range files {
			if recipe, ok := parts[f]; ok {
				c.leaveOut(f, Kustomize, "is a patch or part of "+recipe+" and was left out; to plan what that makes, pass what kubectl kustomize prints")
				continue
			}
			if err := readFile(f, c.read); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// readFile opens one file for read.
func readFile(name string, read func(string, io.Reader)) error {
	f, err := os.Open(name)
	if err != nil {
		return readError(err)
	}
	read(name, f)
	return f.Close()
}

// expand returns the files that p stands for: itself, or what a directory holds.
func (l Loader) expand(p string) ([]string, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, readError(err)
	}
	if !info.IsDir() {
		return []string{p}, nil
	}
	var files []string
	err = filepath.WalkDir(p, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != p
		switch {
		case entry.IsDir() && name != p && (hidden || !l.Recursive):
			return filepath.SkipDir
		case entry.IsDir() || hidden || !isManifest(name):
			return nil
		}
		// Mounted ConfigMaps hold links to files, and links to directories.
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return err
		}
		files = append(files, name)
		return nil
	})
	if err != nil {
		return nil, readError(err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("directory %s holds no .yaml, .yml or .json file%s", p, l.recursionHint())
	}
	slices.Sort(files)
	return files, nil
}

// recursionHint tells what might have been missed in a directory.
func (l Loader) recursionHint() string {
	if l.Recursive {
		return ""
	}
	return " (directories below it are read only on request)"
}

// isManifest says whether a file of a directory is read.
func isManifest(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// readError takes the name of the system call out of an error of package os.
func readError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("cannot read %s: %w", pe.Path, pe.Err)
	}
	return err
}
