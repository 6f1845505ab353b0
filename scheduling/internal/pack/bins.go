package pack

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// bins is the room left on the machines that already run.
type bins struct {
	room  [][]int64
	items [][]model.Item
}

func newBins(p *model.Problem) *bins {
	b := &bins{room: make([][]int64, len(p.Bins)), items: make([][]model.Item, len(p.Bins))}
	for i := range p.Bins {
		b.room[i] = append([]int64(nil), p.Bins[i].Room...)
	}
	return b
}

// place puts as many of the remaining pods onto the bins as fit, class by class in
// the given order. Within a class the bin that the pods fill best comes first, so
// that the emptiest stay usable for what is large; bins that the class would
// rather avoid come last.
func (b *bins) place(p *model.Problem, order []model.ClassID, remaining []int64) {
	all := make([]int, len(p.Bins))
	for i := range all {
		all[i] = i
	}
	b.placeOn(p, all, order, remaining)
}

// placeOn is place on some of the bins.
func (b *bins) placeOn(p *model.Problem, some []int, order []model.ClassID, remaining []int64) {
	type seat struct {
		bin  int
		soft bool
		left float64
	}
	var seats []seat
	for _, c := range order {
		class := &p.Classes[c]
		if remaining[c] == 0 {
			continue
		}
		seats = seats[:0]
		for _, i := range some {
			if p.Bins[i].Admits.Has(int(class.Group)) && model.Fits(b.room[i], class.Request) && b.joining(p, i, c) > 0 {
				seats = append(seats, seat{bin: i, soft: p.Bins[i].Soft.Has(int(class.Group)), left: spare(b.room[i], p.Bins[i].Room, class.Request)})
			}
		}
		slices.SortFunc(seats, func(x, y seat) int {
			if x.soft != y.soft {
				if x.soft {
					return 1
				}
				return -1
			}
			return cmp.Or(cmp.Compare(x.left, y.left), cmp.Compare(x.bin, y.bin))
		})
		for _, s := range seats {
			if remaining[c] == 0 {
				break
			}
			n := min(remaining[c], b.joining(p, s.bin, c))
			for d, q := range class.Request {
				if q > 0 {
					n = min(n, b.room[s.bin][d]/q)
				}
			}
			if n <= 0 {
				continue
			}
			for d, q := range class.Request {
				b.room[s.bin][d] -= q * n
			}
			b.items[s.bin] = add(b.items[s.bin], c, n)
			remaining[c] -= n
		}
	}
}

// joining is how many pods of class c those in bin i let join them.
func (b *bins) joining(p *model.Problem, i int, c model.ClassID) int64 {
	return p.Joining(b.items[i], p.Bins[i].Present, c)
}

// spare is the largest share of a bin's room that stays free after one pod more.
func spare(left, room, request []int64) float64 {
	worst := 0.0
	for d, q := range request {
		if q > 0 && room[d] > 0 {
			worst = max(worst, float64(left[d]-q)/float64(room[d]))
		}
	}
	return worst
}

// add returns items with n pods of class c more.
func add(items []model.Item, c model.ClassID, n int64) []model.Item {
	for i := range items {
		if items[i].Class == c {
			items[i].N += n
			return items
		}
	}
	return append(items, model.Item{Class: c, N: n})
}
