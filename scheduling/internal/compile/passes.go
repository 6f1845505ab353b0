package compile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// thin drops options that another one makes pointless. It changes what the search looks at,
// never what may be launched: the options of a launch are drawn from all offers.
func (c *Compiler) thin() {
	kept := model.Thin(c.Model.Options, nil)
	if len(kept) == len(c.Model.Options) {
		return
	}
	left := make([]model.Option, len(kept))
	bought := make([]offers.Purchase, len(kept))
	for to, from := range kept {
		left[to], bought[to] = c.Model.Options[from], c.Bought[from]
	}
	c.Model.Options, c.Bought = left, bought
}

// passes are the ranks at which some group finds an option: weights from the highest
// down for those that no taint bothers, then again for those that one does.
func passes(options []model.Option) []model.Pass {
	found := map[model.Pass]bool{}
	if len(options) == 0 {
		found[model.Pass{}] = true
	}
	for i := range options {
		o := &options[i]
		free := o.Admits.Clone()
		free.AndNot(o.Soft)
		if free.Any() {
			found[model.Pass{Weight: o.Weight}] = true
		}
		if o.Soft.Any() {
			found[model.Pass{Weight: o.Weight, Soft: true}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), ComparePasses)
}

// ComparePasses orders passes, those that come first before others.
func ComparePasses(a, b model.Pass) int {
	if a.Soft != b.Soft {
		if b.Soft {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Weight, b.Weight)
}
