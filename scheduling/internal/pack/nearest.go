package pack

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Nearest are the bins that pods with a request fill best, the best first. It is not changed
// once it is made.
type Nearest struct {
	request []int64
	seats   []seat
	bins    []int32
	all     bool // no other bin takes such a pod
}

// FindNearest finds the n best bins of p; see [Fullest] for takes.
func FindNearest(p *model.Problem, request []int64, n int64, takes func(bin int) (takes, soft bool)) *Nearest {
	y := binSearch{p: p, rooms: p.Rooms}
	if y.rooms == nil {
		y.open = everyBin(p)
	}
	y.pick(request, n, takes)
	slices.SortFunc(y.best, func(a, b seat) int { return first(a.before(b), b.before(a)) })
	return newNearest(request, y.best, int64(len(y.best)) < n)
}

func newNearest(request []int64, seats []seat, all bool) *Nearest {
	x := &Nearest{request: request, seats: seats, bins: make([]int32, len(seats)), all: all}
	for i := range seats {
		x.bins[i] = int32(seats[i].bin)
	}
	return x
}

// Request is what the pods ask for.
func (x *Nearest) Request() []int64 { return x.request }

// Len is how many bins are known.
func (x *Nearest) Len() int { return len(x.seats) }

// Knows reports whether the n best are known.
func (x *Nearest) Knows(n int64) bool { return x.all || n <= int64(len(x.seats)) }

// Bins are the n best, which are known. They belong to x.
func (x *Nearest) Bins(n int64) []int32 {
	n = min(n, int64(len(x.bins)))
	return x.bins[:n:n]
}

// Renewed is what is known of the bins of p, most of which are those of x: number says what
// number each of these has now, -1 for those that are gone, and is ascending but for them;
// fresh are those that have come. It is nil where nothing is known any more.
func (x *Nearest) Renewed(p *model.Problem, number []int32, fresh []int, takes func(bin int) (takes, soft bool)) *Nearest {
	kept := make([]seat, 0, len(x.seats)+len(fresh))
	for _, s := range x.seats {
		if n := number[s.bin]; n >= 0 {
			s.bin = int(n)
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 && !x.all {
		return nil
	}
	known := len(kept)
	for _, i := range fresh {
		room := p.Bins[i].Room
		if !model.Fits(room, x.request) {
			continue
		}
		open, soft := takes(i)
		// Of bins that were there, none is known behind the last.
		if s := (seat{bin: i, soft: soft, left: spare(room, room, x.request)}); open && (x.all || s.before(kept[known-1])) {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b seat) int { return first(a.before(b), b.before(a)) })
	return newNearest(x.request, kept, x.all)
}
