package instance

import (
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Launches finds the offers that the launches of a plan stand for. The plan may come from another solver, e.g.
// Karpenter.
type Launches struct {
	c      *Instance
	offers map[booking]int // found offers; -1 where the template has no such offer
}

// booking is a template and the offering that a launch states.
type booking struct {
	template int
	offerings.Key
}

// NewLaunches is a reader of launches for the instance's problem.
func NewLaunches(c *Instance) *Launches { return &Launches{c, map[booking]int{}} }

// OfferOf returns the template and offer of a launch's first option. ok is false where the launch has no option, or the
// problem has no such NodePool or offering.
func (r *Launches) OfferOf(l *scheduling.Launch) (at offers.OfferRef, ok bool) {
	if at.Template = r.template(l); at.Template >= 0 {
		at.Offer = r.offer(at.Template, &l.Options[0])
	}
	return at, at.Template >= 0 && at.Offer >= 0
}

// template is the number of the first template of the launch's NodePool whose open labels have the values that the
// launch requires; if there is none, the first template of the NodePool; -1 without an option or NodePool.
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

// offer is the number of the option's offer in the template's catalog, or -1.
func (r *Launches) offer(template int, o *scheduling.LaunchOption) int {
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
