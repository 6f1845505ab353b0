package scheduling

import "github.com/plimsoll-go/plimsoll/scheduling/internal/model"

// thin drops options that another one makes pointless. It changes what the search looks at,
// never what may be launched: the options of a launch are drawn from all offers.
func (c *compiler) thin() {
	kept := model.Thin(c.model.Options, nil)
	if len(kept) == len(c.model.Options) {
		return
	}
	left := make([]model.Option, len(kept))
	bought := make([]purchase, len(kept))
	for to, from := range kept {
		left[to], bought[to] = c.model.Options[from], c.bought[from]
	}
	c.model.Options, c.bought = left, bought
}
