package prove

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
)

// soldOnes lists what is on sale. It is the same for all pods that may buy the same, and so it is
// remembered with what that is.
func (pr *Prover) soldOnes() *compile.SoldMachines {
	if pr.Assorted != nil && pr.Assorted.Sold != nil {
		return pr.Assorted.Sold
	}
	out := &compile.SoldMachines{}
	kindOf, listed := map[compile.SoldKind]int{}, map[compile.SoldMachine]bool{}
	for list := range pr.sold() {
		for _, o := range list {
			x := &pr.Offers.Offers[o.Offer]
			if x.Offering.CapacityType == offerings.Reserved {
				continue
			}
			kind := compile.SoldKind{Room: o.Room, Column: o.Column}
			at, known := kindOf[kind]
			if !known {
				at = len(out.Kinds)
				kindOf[kind], out.Kinds = at, append(out.Kinds, kind)
			}
			if y := (compile.SoldMachine{Kind: at, Price: int64(x.Expected)}); !listed[y] {
				listed[y] = true
				out.List = append(out.List, y)
			}
		}
	}
	slices.SortStableFunc(out.List, func(a, b compile.SoldMachine) int { return cmp.Compare(a.Price, b.Price) })
	out.List = pr.bestAtPrices(out)
	pr.Learn(func(a *compile.Assortment) { a.Sold = out })
	return out
}

// bestAtPrices leaves out what something else at the same price has as much room as, for the same
// pods: a bound would do so.
func (pr *Prover) bestAtPrices(sold *compile.SoldMachines) []compile.SoldMachine {
	better := func(a, b compile.SoldKind) bool {
		return roomier(pr.Rooms.Rooms[a.Room], pr.Rooms.Rooms[b.Room]) && pr.Columns.Rows[a.Column].Contains(pr.Columns.Rows[b.Column])
	}
	out := make([]compile.SoldMachine, 0, len(sold.List)/2)
	for from, to := 0, 0; from < len(sold.List); from = to {
		for to < len(sold.List) && sold.List[to].Price == sold.List[from].Price {
			to++
		}
		for i, x := range sold.List[from:to] {
			pointless := false
			for k, y := range sold.List[from:to] {
				a, b := sold.Kinds[y.Kind], sold.Kinds[x.Kind]
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
	kinds := make([]bound.Choice, len(sold.Kinds))
	for i, k := range sold.Kinds {
		if room, users := pr.space(k.Room), pr.admitted(k.Column); pr.usable(room, users) {
			kinds[i] = bound.Choice{Cap: room, Users: users}
		}
	}
	out := make([]bound.Choice, 0, len(sold.List))
	for _, x := range sold.List {
		if c := kinds[x.Kind]; c.Cap != nil {
			c.Price = x.Price
			out = append(out, c)
		}
	}
	return out
}
