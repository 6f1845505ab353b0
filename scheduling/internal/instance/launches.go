package instance

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Launches reads what the launches of a plan of the instance's problem buy, whoever made the plan.
type Launches struct {
	c      *Instance
	offers map[booking]int // what has been found; -1 for what a template does not have on sale
}

// booking is what a launch asks for, as its template has it on sale.
type booking struct {
	template int
	offerings.Key
}

// NewLaunches is a reader of launches.
func NewLaunches(c *Instance) *Launches { return &Launches{c, map[booking]int{}} }

// Purchase is what a launch buys first; ok is false where it states no option, or the problem has
// no such NodePool or offering.
func (r *Launches) Purchase(l *scheduling.Launch) (at offers.Purchase, ok bool) {
	if at.Template = r.template(l); at.Template >= 0 {
		at.Offer = r.offer(at.Template, &l.Options[0])
	}
	return at, at.Template >= 0 && at.Offer >= 0
}

// template finds the template whose labels a launch states, or the first of its NodePool where
// none does; -1 for none.
func (r *Launches) template(l *scheduling.Launch) int {
	if len(l.Options) == 0 {
		return -1
	}
	stated := map[string]string{}
	for _, x := range l.Requirements {
		if len(x.Values) == 1 {
			stated[x.Key] = x.Values[0]
		}
	}
	first := -1
	for i, v := range r.c.Templates {
		if v.Pool.Name != l.NodePool {
			continue
		}
		if first < 0 {
			first = i
		}
		fits := true
		for key := range v.Open {
			value, ok := v.Labels[key]
			have, has := stated[key]
			fits = fits && ok == has && value == have
		}
		if fits {
			return i
		}
	}
	return first
}

// offer finds an option among the offers that a template may buy, or returns -1.
func (r *Launches) offer(template int, o *scheduling.Option) int {
	key := booking{template, o.Key()}
	i, known := r.offers[key]
	if !known {
		i = -1
		span := r.c.Offers.Spans[r.c.Templates[template].Catalog]
		for n := span[0]; n < span[1] && i < 0; n++ {
			if x := &r.c.Offers.Offers[n]; x.Offering.Key(x.InstanceType.Name) == key.Key {
				i = n
			}
		}
		r.offers[key] = i
	}
	return i
}
