package prove

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
)

// soldMachines is everything on sale but reservations, once for all with as much room for the same
// pods at the same price, and the cheapest first.
type soldMachines struct {
	kinds []machineKind
	list  []soldMachine
}

// machineKind is a room on sale, and who may be there.
type machineKind struct{ room, column int }

// soldMachine is a kind at a price.
type soldMachine struct {
	kind  int
	price int64
}

// soldOnes lists what is on sale. It is the same for all pods that may buy the same, and so it is
// remembered with what that is.
func (pr *Prover) soldOnes() *soldMachines {
	if pr.Assorted != nil {
		if known := compile.Noted[soldMachines](pr.Assorted.Notes); known != nil {
			return known
		}
	}
	out := &soldMachines{}
	kindOf, listed := map[machineKind]int{}, map[soldMachine]bool{}
	for list := range pr.sold() {
		for _, o := range list {
			x := &pr.Offers.Offers[o.Offer]
			if x.Offering.CapacityType == offerings.Reserved {
				continue
			}
			kind := machineKind{o.Room, o.Column}
			at, known := kindOf[kind]
			if !known {
				at = len(out.kinds)
				kindOf[kind], out.kinds = at, append(out.kinds, kind)
			}
			if y := (soldMachine{at, int64(x.Expected)}); !listed[y] {
				listed[y] = true
				out.list = append(out.list, y)
			}
		}
	}
	slices.SortStableFunc(out.list, func(a, b soldMachine) int { return cmp.Compare(a.price, b.price) })
	out.list = pr.bestAtPrices(out)
	pr.Learn(func(a *compile.Assortment) { a.Note(out) })
	return out
}

// bestAtPrices leaves out what something else at the same price has as much room as, for the same
// pods: a bound would do so.
func (pr *Prover) bestAtPrices(sold *soldMachines) []soldMachine {
	better := func(a, b machineKind) bool {
		return roomier(pr.Rooms.Rooms[a.room], pr.Rooms.Rooms[b.room]) && pr.Columns.Rows[a.column].Contains(pr.Columns.Rows[b.column])
	}
	out := make([]soldMachine, 0, len(sold.list)/2)
	for from, to := 0, 0; from < len(sold.list); from = to {
		for to < len(sold.list) && sold.list[to].price == sold.list[from].price {
			to++
		}
		for i, x := range sold.list[from:to] {
			pointless := false
			for k, y := range sold.list[from:to] {
				a, b := sold.kinds[y.kind], sold.kinds[x.kind]
				pointless = pointless || k != i && better(a, b) && (k < i || !better(b, a))
			}
			if !pointless {
				out = append(out, x)
			}
		}
	}
	return slices.Clip(out)
}

// everyChoice is what is on sale but reservations, the cheapest first: of machines at one price
// with as much room for the same pods only one.
func (pr *Prover) everyChoice() []bound.Choice {
	sold := pr.soldOnes()
	kinds := make([]bound.Choice, len(sold.kinds))
	for i, k := range sold.kinds {
		if room, users := pr.space(k.room), pr.admitted(k.column); pr.usable(room, users) {
			kinds[i] = bound.Choice{Cap: room, Users: users}
		}
	}
	out := make([]bound.Choice, 0, len(sold.list))
	for _, x := range sold.list {
		if c := kinds[x.kind]; c.Cap != nil {
			c.Price = x.price
			out = append(out, c)
		}
	}
	return out
}
