package explain

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// settingsFix names the nearest offer that the settings alone keep from being bought.
func (e *Explainer) settingsFix(class *podspec.PodClass, id int, screens []screened) scheduling.Change {
	best, grounds := -1, 0
	for ti := range screens {
		if screens[ti].excluded == nil {
			continue
		}
		screens[ti].excluded.Each(func(o int) {
			x := &e.Offers.Offers[o]
			n := len(offers.Exclusions(e.Solver, x.InstanceType, x.Offering))
			if (best < 0 || n < grounds || n == grounds && x.Cost < e.Offers.Offers[best].Cost) &&
				e.holds(class, ti, o) && e.affords(ti, o) && e.free(id, ti, o) {
				best, grounds = o, n
			}
		})
	}
	if best < 0 {
		return scheduling.Change{}
	}
	return offers.Admitting(e.Solver, &e.Offers.Offers[best])
}

// screenSettings takes out the offers that the settings exclude.
func (e *Explainer) screenSettings(s *screened, count func(scheduling.Reason, model.Bits)) {
	by := map[offers.Exclusion]model.Bits{}
	s.admitted.Each(func(o int) {
		x := e.Offers.Offers[o].Excluded
		if x.Code == "" {
			return
		}
		if by[x] == nil {
			by[x] = model.NewBits(len(e.Offers.Offers))
		}
		by[x].Set(o)
		if s.excluded == nil {
			s.excluded = model.NewBits(len(e.Offers.Offers))
		}
		s.excluded.Set(o)
	})
	for x, row := range by {
		count(offers.Reason(e.Solver, x), row)
	}
}
