package prove

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// soldOnes lists the machines on sale. It is remembered with the offers, because it does not depend on the pods.
func soldOnes(in *instance.Instance) *instance.SoldMachines {
	return in.Sold(func() *instance.SoldMachines { return findSold(in) })
}

// findSold works out the list of [soldOnes].
func findSold(in *instance.Instance) *instance.SoldMachines {
	out := &instance.SoldMachines{}
	kindOf, listed := map[instance.SoldKind]int{}, map[instance.SoldMachine]bool{}
	for list := range sold(in) {
		for _, o := range list {
			x := &in.Offers.Offers[o.Offer]
			if x.Offering.Counted() {
				continue
			}
			kind := instance.SoldKind{Room: o.Room, Column: o.Column}
			at, known := kindOf[kind]
			if !known {
				at = len(out.Kinds)
				kindOf[kind], out.Kinds = at, append(out.Kinds, kind)
			}
			if y := (instance.SoldMachine{Kind: at, Price: int64(x.Expected)}); !listed[y] {
				listed[y] = true
				out.List = append(out.List, y)
			}
		}
	}
	slices.SortStableFunc(out.List, func(a, b instance.SoldMachine) int { return cmp.Compare(a.Price, b.Price) })
	out.List = bestAtPrices(in, out)
	return out
}

// bestAtPrices drops machines that another one at the same price dominates, because they do not change a bound.
func bestAtPrices(in *instance.Instance, sold *instance.SoldMachines) []instance.SoldMachine {
	better := func(a, b instance.SoldKind) bool {
		return roomier(in.Rooms.Rooms[a.Room], in.Rooms.Rooms[b.Room]) && in.Columns.Rows[a.Column].Contains(in.Columns.Rows[b.Column])
	}
	out := make([]instance.SoldMachine, 0, len(sold.List)/2)
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
