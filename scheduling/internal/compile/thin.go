package compile

import (
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
