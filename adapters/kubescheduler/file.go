package kubescheduler

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// planFile is a plan in a file.
type planFile struct {
	Plan
	path string
	// modified and size are those of the file when it was read last.
	modified time.Time
	size     int64
	// failure is the last error that was logged.
	failure string
}

// isNew reports whether the last error was another, and keeps it.
func (f *planFile) isNew(err error) bool {
	before := f.failure
	f.failure = err.Error()
	return f.failure != before
}

// reload reads the file again if it has changed, and reports whether it has. With an error the last plan stays, and gets old.
// A file that is changed is replaced in whole, e.g. by a rename: a part of a plan is not read.
func (f *planFile) reload() (changed bool, err error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return false, err
	}
	if info.ModTime().Equal(f.modified) && info.Size() == f.size {
		return false, nil
	}
	f.modified, f.size = info.ModTime(), info.Size()
	data, err := os.ReadFile(f.path)
	if err != nil {
		return false, err
	}
	var plan scheduling.Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return false, fmt.Errorf("%s is not a plan: %w", f.path, err)
	}
	f.failure = ""
	f.Set(&plan, f.modified)
	return true, nil
}
