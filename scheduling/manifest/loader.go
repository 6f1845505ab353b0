package manifest

import "io"

// DefaultMaxBytes is the largest size of a file or stream if [Loader.MaxBytes] is 0: 2 GiB, the
// dump of some 200,000 pods.
const DefaultMaxBytes = 2 << 30

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
	in := l.input()
	return in.snapshot(func() error { return in.readPaths(paths) })
}

// Read reads one stream. The name stands for it in errors.
func (l Loader) Read(name string, r io.Reader) (*Snapshot, error) {
	in := l.input()
	return in.snapshot(func() error { in.Read(name, r); return nil })
}

// Objects passes every object of files, directories and, as "-", stdin to take, in the order of the
// input; lists are taken apart. The error is as in [Loader.Load], for input that is no object.
func (l Loader) Objects(take func(Object), paths ...string) error {
	in, known := l.input(), readers()
	in.emit = func(o rawObject) {
		_, read := known[o.group()]
		take(Object{o.apiVersion, o.kind, o.json, read})
	}
	return in.withFaults(in.readPaths(paths))
}
