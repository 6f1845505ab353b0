package manifest

import (
	"errors"
	"fmt"
	"io"
)

// Limits that keep memory bounded whatever the input.
const (
	// DefaultMaxBytes is the size that one file or stream may have if
	// [Loader.MaxBytes] is 0: 2 GiB, the dump of some 200,000 pods.
	DefaultMaxBytes = 2 << 30
	// maxObjectBytes is the size that one object may have. The API server takes
	// no object above 3 MiB.
	maxObjectBytes = 4 << 20
)

// Errors that end the reading of a source.
var (
	errObjectTooLarge = errors.New("an object is larger than 4 MiB, so this is no Kubernetes manifest")
	errSourceTooLarge = errors.New("the input is too large")
)

// meter bounds what is read from a source, in all and for one object.
type meter struct {
	in     io.Reader
	left   int64 // of the source
	window int64 // of the object at hand; negative is no bound
	most   int64
	failed error // why the source cannot be read to its end
}

// Read reads from the source within the bounds.
func (m *meter) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if m.left <= 0 {
		m.failed = fmt.Errorf("%w: more than %d bytes", errSourceTooLarge, m.most)
		return 0, m.failed
	}
	if m.window == 0 {
		return 0, errObjectTooLarge
	}
	n := min(int64(len(p)), m.left)
	if m.window > 0 {
		n = min(n, m.window)
	}
	got, err := m.in.Read(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		m.failed = err
	}
	m.left -= int64(got)
	if m.window > 0 {
		m.window -= int64(got)
	}
	return got, err
}
