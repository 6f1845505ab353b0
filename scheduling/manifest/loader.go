package manifest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Loader reads manifests. The zero value works.
type Loader struct {
	// Stdin is the input of the path "-"; nil refuses it.
	Stdin io.Reader
	// Recursive reads the directories below a directory, too.
	Recursive bool
	// IgnoreUnknown turns objects of unknown kinds into warnings. By default they
	// are errors, as they may stand for pods.
	IgnoreUnknown bool
	// SkipInvalid leaves out input that cannot be read and is no object of a cluster, e.g. the
	// charts, templates and patches of a repository, and lists it in [Snapshot.Skipped]. An object
	// is left out as a whole. Paths that cannot be read are errors nevertheless.
	SkipInvalid bool
	// MaxBytes is how large one file or stream may be; 0 is [DefaultMaxBytes].
	MaxBytes int64
	// MaxPods is how many pods workloads may be expanded to in all; 0 is
	// [DefaultMaxPods].
	MaxPods int
}

// Stdin is the path that stands for [Loader.Stdin].
const Stdin = "-"

// Load reads files, directories and, as "-", stdin. From a directory it takes the
// files that end in .yaml, .yml or .json, in the order of their names. The error is
// [Faults], or says which file cannot be read.
func (l Loader) Load(paths ...string) (*Snapshot, error) {
	c := newCollector(l)
	return c.finish(c.load(paths))
}

// Objects passes every object of files, directories and, as "-", stdin to take, in the order of the
// input; lists are taken apart. The error is as in [Loader.Load], for input that is no object.
func (l Loader) Objects(take func(Object), paths ...string) error {
	c := newCollector(l)
	c.emit = func(o rawObject) {
		_, read := c.readers[o.group()]
		take(Object{o.apiVersion, o.kind, o.json, read})
	}
	err := c.load(paths)
	if len(c.found.faults) > 0 {
		err = errors.Join(err, c.found.faults)
	}
	return err
}

// load reads the files of paths.
func (c *collector) load(paths []string) error {
	l := c.loader
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
				c.read("stdin", l.Stdin)
			}
			stdinRead = true
			continue
		}
		files, err := l.filesOf(p)
		errs = append(errs, err)
		parts := kustomized(files)
		for _, f := range files {
			if recipe, ok := parts[f]; ok {
				c.found.leaveOut(f, Kustomize, "is a patch or part of "+recipe+" and was left out; to plan what that makes, pass what kubectl kustomize prints")
				continue
			}
			errs = append(errs, c.readFile(f))
		}
	}
	return errors.Join(errs...)
}

// Read reads one stream. The name stands for it in errors.
func (l Loader) Read(name string, r io.Reader) (*Snapshot, error) {
	c := newCollector(l)
	c.read(name, r)
	return c.finish(nil)
}

// readFile takes the objects of one file in.
func (c *collector) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return readError(err)
	}
	c.read(name, f)
	return f.Close()
}

// read takes the objects of one source in.
func (c *collector) read(name string, r io.Reader) {
	if isKustomization(name) {
		c.found.leaveOut(name, Kustomize, "is a recipe for kustomize and was left out; to plan what it makes, pass what kubectl kustomize prints")
		return
	}
	most := cmp.Or(c.loader.MaxBytes, DefaultMaxBytes)
	limit := &sizeLimit{in: r, most: most, left: most, object: -1}
	s := scanner{name: name, limit: limit, in: bufio.NewReaderSize(limit, 64<<10), emit: c.emit, fault: c.found.fault, full: c.found.enough}
	s.scan()
	c.documents += s.document
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

// isKustomization says whether a file is a kustomization, which makes objects of a cluster and is
// none.
func isKustomization(name string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "kustomization"}, strings.ToLower(filepath.Base(name)))
}

// kustomized returns the files that a kustomization among them names for another purpose than an
// object of its own, e.g. a patch or the values of a chart, each with the kustomization.
func kustomized(files []string) map[string]string {
	parts := map[string]string{}
	for _, f := range files {
		if !isKustomization(f) {
			continue
		}
		text, err := os.ReadFile(f)
		var fields map[string]any
		if err != nil || len(text) > maxObjectBytes || yaml.Unmarshal(text, &fields) != nil {
			continue
		}
		for _, objects := range []string{"resources", "bases", "components", "crds"} {
			delete(fields, objects)
		}
		for _, name := range namedFiles(fields) {
			parts[filepath.Join(filepath.Dir(f), name)] = f
		}
	}
	return parts
}

// namedFiles returns every text in a tree that may name a file, of KEY=FILE the file.
func namedFiles(tree any) (names []string) {
	switch t := tree.(type) {
	case map[string]any:
		for _, v := range t {
			names = append(names, namedFiles(v)...)
		}
	case []any:
		for _, v := range t {
			names = append(names, namedFiles(v)...)
		}
	case string:
		if _, file, keyed := strings.Cut(t, "="); keyed {
			t = file
		}
		if isManifest(t) && !strings.Contains(t, "\n") {
			names = append(names, t)
		}
	}
	return names
}
