package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// input is the files and streams of one call of a [Loader].
type input struct {
	loader    Loader
	found     *findings
	emit      func(rawObject) // is given each object
	documents int             // of all files and streams
}

// input returns one of which nothing is read yet.
func (l Loader) input() *input {
	return &input{loader: l, found: &findings{skipInvalid: l.SkipInvalid}}
}

// snapshot returns the snapshot of the objects that read finds, unless there are faults.
func (in *input) snapshot(read func() error) (*Snapshot, error) {
	c := newCollector(in.found, in.loader.IgnoreUnknown)
	kinds := map[string]int{}
	in.emit = func(o rawObject) {
		kinds[o.kind]++
		c.add(o)
	}
	err := read()
	if len(in.found.faults) == 0 && err == nil {
		if s := snapshotOf(c, in.loader.MaxPods); len(in.found.faults) == 0 {
			s.Documents, s.Kinds = in.documents, kinds
			return s, nil
		}
	}
	return nil, in.withFaults(err)
}

// withFaults joins the faults that were found to an error of reading.
func (in *input) withFaults(err error) error {
	if len(in.found.faults) > 0 {
		return errors.Join(err, in.found.faults)
	}
	return err
}

// readPaths reads files, directories and stdin.
func (in *input) readPaths(paths []string) error {
	l := in.loader
	var errs []error
	stdinRead := false
	for _, p := range paths {
		if p == Stdin {
			switch {
			case stdinRead:
				errs = append(errs, errors.New("stdin is named twice"))
			case l.Stdin == nil:
				errs = append(errs, errors.New("stdin is not available"))
			default:
				in.Read("stdin", l.Stdin)
			}
			stdinRead = true
			continue
		}
		files, err := l.filesOf(p)
		errs = append(errs, err)
		parts := kustomized(files)
		for _, f := range files {
			if recipe, ok := parts[f]; ok {
				in.found.leaveOut(f, Kustomize, "is a patch or part of "+recipe+" and was left out; to plan its objects, pass the output of kubectl kustomize")
				continue
			}
			errs = append(errs, in.readFile(f))
		}
	}
	return errors.Join(errs...)
}

// readFile reads one file.
func (in *input) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return readError(err)
	}
	in.Read(name, f)
	return f.Close()
}

// Read reads one file or stream. The name stands for it in errors.
func (in *input) Read(name string, r io.Reader) {
	if isKustomization(name) {
		in.found.leaveOut(name, Kustomize, "is a kustomization and was left out; to plan its objects, pass the output of kubectl kustomize")
		return
	}
	located := func(at documents.Position) Location {
		return Location{Source: name, Document: at.Document, Item: at.Item, Line: at.Line}
	}
	in.documents += documents.Scan(&documents.Source{
		In:       r,
		MaxBytes: cmp.Or(in.loader.MaxBytes, DefaultMaxBytes),
		Enough:   in.found.enough,
		Object: func(o documents.Object) {
			in.emit(rawObject{at: located(o.At), apiVersion: o.APIVersion, kind: o.Kind, json: o.JSON})
		},
		Fault: func(f documents.Fault) {
			in.found.fault(&Fault{At: located(f.At), Object: f.Object, Field: f.Field, Message: f.Message, Kind: FaultKind(f.Kind)})
		},
	})
}

// filesOf returns the files of a path: itself, or the files of a directory.
func (l Loader) filesOf(p string) ([]string, error) {
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
	if err == nil && len(files) == 0 {
		hint := " (directories below it are read only on request)"
		if l.Recursive {
			hint = ""
		}
		return nil, fmt.Errorf("directory %s holds no .yaml, .yml or .json file%s", p, hint)
	}
	slices.Sort(files)
	return files, readError(err)
}

// isManifest says whether a file of a directory is read.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name)))
}

// readError takes the name of the system call out of an error of package os.
func readError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("cannot read %s: %w", pe.Path, pe.Err)
	}
	return err
}
