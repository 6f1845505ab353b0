package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// MostNear is how many names an error suggests.
const MostNear = 5

// Near returns the names that look most like one, the nearest first: those that it is
// a part of, and those that a slip or two turns into it.
func Near(name string, all []string) []string {
	want := strings.ToLower(name)
	slips := 1 + len(want)/5
	return spelling.Closest(all, MostNear, func(full string) (int, bool) {
		have := strings.ToLower(full)
		_, own, scoped := strings.Cut(have, "/")
		d := spelling.Distance(want, have)
		if scoped {
			d = min(d, spelling.Distance(want, own))
		}
		if len(want) >= 3 && strings.Contains(have, want) {
			d = min(d, 1)
		}
		return d, d <= slips
	})
}

// SortRooms puts the fullest resource first.
func SortRooms(rooms []scheduling.Room) {
	slices.SortStableFunc(rooms, func(a, b scheduling.Room) int {
		return cmp.Or(cmp.Compare(b.Share(), a.Share()), strings.Compare(a.Resource, b.Resource))
	})
}
