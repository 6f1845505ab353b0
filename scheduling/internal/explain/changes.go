package explain

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// CopyChanges returns changes that share nothing with the given ones.
func CopyChanges(in []scheduling.Change) []scheduling.Change {
	out := slices.Clone(in)
	for i := range out {
		out[i].Values = slices.Clone(out[i].Values)
		out[i].And = CopyChanges(out[i].And)
	}
	return out
}

// ChangeList collects changes, each text once, because several reasons may lead to the same change.
type ChangeList []scheduling.Change

// Add adds a change unless its text is there.
func (l *ChangeList) Add(c scheduling.Change) {
	if c.Kind != "" && !slices.ContainsFunc(*l, func(have scheduling.Change) bool { return have.Text == c.Text }) {
		*l = append(*l, c)
	}
}
