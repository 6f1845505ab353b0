package explain

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// choosable reports whether some offer of a row may be bought for a request as far as
// the choice among spot offers is concerned.
func (s *scene) choosable(ti int, row model.Bits, request []int64) bool {
	if !offers.On(s.Solver.Flexibility) {
		return true
	}
	c, ok := offers.NewChoices(s.Solver.Flexibility), false
	row.Each(func(o int) {
		x := &s.Offers.Offers[o]
		if room, fits := s.room(ti, o); !ok && fits && x.Launchable && model.Fits(room, request) {
			if !x.Spot() {
				ok = true
				return
			}
			ok = c.Add(x) && c.Enough()
		}
	})
	return ok
}

// spotsOf are the spot offers of a row.
func (s *scene) spotsOf(row model.Bits) model.Bits {
	out := row.Clone()
	row.Each(func(o int) {
		if !s.Offers.Offers[o].Spot() {
			out.Clear(o)
		}
	})
	return out
}

// flexibilityFix says whether asking for less choice among spot machines would help.
func (e *Explainer) flexibilityFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	if !offers.On(e.Solver.Flexibility) {
		return scheduling.Change{}
	}
	for ti := range screens {
		spots := e.spotsOf(screens[ti].admitted)
		if e.choosable(ti, spots, class.Requests) {
			continue
		}
		found := false
		spots.Each(func(o int) { found = found || e.usable(class, id, ti, o) })
		if found {
			return scheduling.Change{
				Kind: scheduling.ChangeFlexibility, Object: "Policy", From: e.Solver.Flexibility.String(),
				Text: fmt.Sprintf("ask for less choice among spot machines than %s", e.Solver.Flexibility),
			}
		}
	}
	return scheduling.Change{}
}
