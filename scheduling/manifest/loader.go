package manifest

import (
	"bufio"
	"cmp"
	"errors"
	"io"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Loader reads manifests. The zero value works.
type Loader struct {
	// Stdin is what the path "-" stands for; nil refuses it.
	Stdin io.Reader
	// Recursive reads the directories below a directory, too.
	Recursive bool
	// IgnoreUnknown turns objects of unknown kinds into warnings. By default they
	// are errors, as they may stand for pods.
	IgnoreUnknown bool
	// SkipInvalid leaves out what cannot be read and is no object of a cluster, such as
	// the charts, templates and patches of a repository, and lists it in
	// [Snapshot.Skipped]. An object is left out as a whole. Paths that cannot be read
	// are errors all the same.
	SkipInvalid bool
	// MaxBytes is how large one file or stream may be; 0 is [DefaultMaxBytes].
	MaxBytes int64
	// MaxPods is how many pods workloads may be expanded to in all; 0 is
	// [DefaultMaxPods].
	MaxPods int
}

// Load reads files, directories and, as "-", stdin. From a directory it takes the
// files that end in .yaml, .yml or .json, in the order of their names. The error is
// [Faults], or says which file cannot be read.
func (l Loader) Load(paths ...string) (*Snapshot, error) {
	c := newCollector(l)
	err := c.load(paths)
	return c.finish(err)
}

// Read reads one stream. The name stands for it in errors.
func (l Loader) Read(name string, r io.Reader) (*Snapshot, error) {
	c := newCollector(l)
	c.read(name, r)
	return c.finish(nil)
}

// read takes the objects of one source in.
func (c *collector) read(name string, r io.Reader) {
	if isKustomization(name) {
		c.leaveOut(name, Kustomize, "is a recipe for kustomize and was left out; to plan what it makes, pass what kubectl kustomize prints")
		return
	}
	most := cmp.Or(c.loader.MaxBytes, DefaultMaxBytes)
	m := &meter{in: r, left: most, most: most, window: -1}
	s := scanner{
		name: name, meter: m, in: bufio.NewReaderSize(m, 64<<10),
		emit: c.add, fault: c.fault, full: c.full,
	}
	s.scan()
	c.documents += s.document
}

// finish makes the snapshot of what was read, unless there were faults.
func (c *collector) finish(err error) (*Snapshot, error) {
	if len(c.faults) == 0 && err == nil {
		s := c.snapshot()
		if len(c.faults) == 0 {
			return s, nil
		}
	}
	if len(c.faults) > 0 {
		err = errors.Join(err, c.faults)
	}
	return nil, err
}

// warn adds a warning.
func (c *collector) warn(object, message string) {
	c.warnings = append(c.warnings, scheduling.Warning{Object: object, Message: message})
}
