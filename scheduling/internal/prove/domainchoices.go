package prove

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
)

// everyChoice lists all offers without reservations by domain; offers with equal room, groups, domain and price are
// listed once.
func (m *domainMarket) everyChoice() (out []bound.Choice) {
	type machine struct {
		room, column, domain int
		price                int64
	}
	listed, usable := map[machine]bool{}, map[[2]int]bool{}
	for v, list := range soldApart(m.in, m.book.key) {
		for _, o := range list {
			x := &m.in.Offers.Offers[o.Offer]
			at, k := [2]int{o.Room, o.Column}, machine{o.Room, o.Column, m.book.domainOf(v, o.Offer), int64(x.Expected)}
			if x.Offering.Counted() || k.domain < 0 || listed[k] {
				continue
			}
			listed[k] = true
			fits, known := usable[at]
			if !known {
				fits = m.prover.usable(m.prover.space(o.Room), m.prover.admitted(o.Column))
				usable[at] = fits
			}
			if fits {
				out = append(out, bound.Choice{Cap: m.prover.space(o.Room), Price: k.price, Users: m.usersOf(o.Column, k.domain), Domain: m.book.domain(k.domain)})
			}
		}
	}
	return out
}
