package explain

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Propose sets the changes that would place a pod, and says so.
func Propose(u *scheduling.Unschedulable, changes []scheduling.Change) {
	u.Message = sentence(u.Reasons, changes)
	u.Changes, u.Fixes = changes, nil
	for i := range changes {
		u.Fixes = append(u.Fixes, changes[i].Text)
	}
}
