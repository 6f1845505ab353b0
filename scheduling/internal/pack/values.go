package pack

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// shareValues gives every class the price of its share of the option where that
// share is cheapest. A share is that of the scarcest resource. Classes that no
// option holds, or that may not even be alone, are worth 0.
func shareValues(p *model.Problem) []float64 {
	values := make([]float64, len(p.Classes))
	byGroup := make([][]model.OptionID, p.Groups)
	for o := range p.Options {
		p.Options[o].Admits.Each(func(g int) {
			byGroup[g] = append(byGroup[g], model.OptionID(o))
		})
	}
	inverse := make([][]float64, len(p.Options))
	flat := make([]float64, len(p.Options)*p.Dims)
	for o := range p.Options {
		inverse[o] = flat[o*p.Dims : (o+1)*p.Dims]
		for d, q := range p.Options[o].Room {
			if q > 0 {
				inverse[o][d] = 1 / float64(q)
			}
		}
	}
	for c := range p.Classes {
		class := &p.Classes[c]
		if p.Joining(nil, nil, model.ClassID(c)) == 0 {
			continue
		}
		best := -1.0
		for _, o := range byGroup[class.Group] {
			option := &p.Options[o]
			if !model.Fits(option.Room, class.Request) {
				continue
			}
			share := 0.0
			for d, q := range class.Request {
				share = max(share, float64(q)*inverse[o][d])
			}
			if v := share * float64(max(option.Cost, 1)); best < 0 || v < best {
				best = v
			}
		}
		values[c] = max(best, 0)
	}
	return values
}
