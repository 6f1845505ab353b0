package greedy

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fewBins is how many running machines are looked at without asking.
const fewBins = 64

// Useful lists the bins, ascending, that the pods could need: for each kind of pods that fit any,
// as many of the fullest that hold one as there are such pods of all kinds. Whoever would go
// elsewhere finds one of these that nobody uses, and pods that fill the fullest machine first
// never look further.
func Useful(p *model.Problem) []int {
	if len(p.Bins) <= fewBins || len(p.Classes) == 0 {
		return model.Every[int](len(p.Bins))
	}
	y := binSearch{p: p, rooms: p.Rooms}
	y.enter()
	kinds, seated := y.seatedKinds()
	if y.atMost(seated) {
		return y.open
	}
	keep := make([]bool, len(p.Bins))
	for _, c := range kinds {
		y.fullest(c, seated, keep)
	}
	var out []int
	for i, kept := range keep {
		if kept {
			out = append(out, i)
		}
	}
	return out
}

// binSearch is where bins are looked for: in the order of their room where that is known, else
// one by one.
type binSearch struct {
	p     *model.Problem
	rooms *model.Rooms // nil where it is not known
	least []int64      // that any class asks for, by resource
	// open are the bins with as much of every resource, ascending; where rooms are known, only
	// once someone has asked for few of them.
	open []int
	best heap[worst]
}

// enter finds out what the least is that a bin must have.
func (y *binSearch) enter() {
	y.least = slices.Clone(y.p.Classes[0].Request)
	for c := range y.p.Classes {
		for d, q := range y.p.Classes[c].Request {
			y.least[d] = min(y.least[d], q)
		}
	}
	if y.rooms != nil {
		return
	}
	y.open = make([]int, 0, len(y.p.Bins))
	for i := range y.p.Bins {
		if model.Fits(y.p.Bins[i].Room, y.least) {
			y.open = append(y.open, i)
		}
	}
}

// atMost reports whether no more than n bins are open, which are then listed.
func (y *binSearch) atMost(n int64) bool {
	if y.rooms == nil {
		return int64(len(y.open)) <= n
	}
	for i := range y.rooms.Fitting(y.least) {
		if int64(len(y.open)) == n {
			return false
		}
		y.open = append(y.open, int(i))
	}
	slices.Sort(y.open)
	return true
}

// anyTakes reports whether a pod of class c fits some bin.
func (y *binSearch) anyTakes(c model.ClassID) bool {
	if y.rooms == nil {
		return slices.ContainsFunc(y.open, func(i int) bool { return y.p.BinTakes(i, c) })
	}
	request := y.p.Classes[c].Request
	for i := range y.rooms.Fitting(request) {
		if y.admits(c, i) && y.p.BinTakes(int(i), c) {
			return true
		}
	}
	return false
}

// seatedKinds lists one class of each kind of those that fit some bin, and counts the
// pods of all these classes. Classes are of one kind that differ in number and priority
// alone.
func (y *binSearch) seatedKinds() (kinds []model.ClassID, pods int64) {
	p := y.p
	fits := map[model.ClassID]bool{}
	byGroup := map[int32][]model.ClassID{}
	for c := range p.Classes {
		class := &p.Classes[c]
		at := slices.IndexFunc(byGroup[class.Group], func(k model.ClassID) bool { return alikeOnBins(class, &p.Classes[k]) })
		if at < 0 {
			id := model.ClassID(c)
			at = len(byGroup[class.Group])
			byGroup[class.Group] = append(byGroup[class.Group], id)
			fits[id] = y.anyTakes(id)
			if fits[id] {
				kinds = append(kinds, id)
			}
		}
		if fits[byGroup[class.Group][at]] {
			pods += class.Count
		}
	}
	return kinds, pods
}

// alikeOnBins reports whether pods of two classes of one group may sit on the same bins.
func alikeOnBins(a, b *model.Class) bool {
	return slices.Equal(a.Request, b.Request) && slices.Equal(a.PerNodeLimits, b.PerNodeLimits)
}

// fullest marks the best n seats that bins are for pods of class c.
func (y *binSearch) fullest(c model.ClassID, n int64, keep []bool) {
	class := &y.p.Classes[c]
	y.pick(class.Request, n, func(i int) (takes, soft bool) {
		if !y.admits(c, int32(i)) {
			return false, false
		}
		bin := &y.p.Bins[i]
		takes = bin.Admits.Has(int(class.Group)) && (len(class.PerNodeLimits) == 0 || y.p.Joining(nil, bin.Present, c) > 0)
		return takes, takes && bin.Soft.Has(int(class.Group))
	})
	for _, x := range y.best {
		keep[x.bin] = true
	}
}

// worst is a seat that comes first where others are better.
type worst struct{ seat }

func (x worst) before(y worst) bool { return y.seat.before(x.seat) }

// pick looks for the best n seats that bins are for pods with a request.
func (y *binSearch) pick(request []int64, n int64, takes func(bin int) (takes, soft bool)) {
	y.best = y.best[:0]
	if y.rooms != nil {
		y.walk(request, n, takes)
		return
	}
	for _, i := range y.open {
		room := y.p.Bins[i].Room
		if !model.Fits(room, request) {
			continue
		}
		if takes, soft := takes(i); takes {
			y.offer(worst{seat{bin: i, soft: soft, left: spare(room, room, request)}}, n)
		}
	}
}

// offer puts a seat among the best n, if it is one of them.
func (y *binSearch) offer(x worst, n int64) {
	switch {
	case int64(len(y.best)) < n:
		y.best = append(y.best, x)
		for at := len(y.best) - 1; at > 0 && y.best[at].before(y.best[(at-1)/2]); at = (at - 1) / 2 {
			y.best[at], y.best[(at-1)/2] = y.best[(at-1)/2], y.best[at]
		}
	case y.best[0].before(x):
		y.best[0] = x
		y.best.sink(0)
	}
}

// walk looks for the best n seats in the tree of the bins' rooms.
func (y *binSearch) walk(request []int64, n int64, takes func(bin int) (takes, soft bool)) {
	y.rooms.Nearly(request, func(i int32, left float64) (most float64) {
		x := worst{seat{bin: int(i), left: left}}
		if int64(len(y.best)) < n || y.best[0].before(x) {
			takes, soft := takes(int(i))
			if x.soft = soft; takes {
				y.offer(x, n)
			}
		}
		if int64(len(y.best)) == n && !y.best[0].soft {
			return y.best[0].left
		}
		return math.Inf(1)
	})
}

// admits reports whether a bin admits class c, or nobody has listed which do.
func (y *binSearch) admits(c model.ClassID, i int32) bool {
	return len(y.p.Open) == 0 || y.p.Open[y.p.Classes[c].Group].Has(int(i))
}
