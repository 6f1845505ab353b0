package greedy

import (
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// fewBins is the number of existing nodes up to which all are considered.
const fewBins = 64

// Useful lists, ascending, the bins that the pods could need. For each kind of pods that fit on any bin, these
// are the fullest bins that hold one pod of it, as many as there are pods of all kinds. That suffices because a
// pod that used another bin could move to one of these that is unused, and best fit never looks further.
func Useful(p *model.Problem) []int {
	if len(p.Bins) <= fewBins || len(p.Classes) == 0 {
		return model.Every[int](len(p.Bins))
	}
	y := binSearch{p: p, rooms: p.Rooms}
	y.prepare()
	kinds, seated := y.placeableKinds()
	if y.atMost(seated) {
		return y.open
	}
	keep := make([]bool, len(p.Bins))
	for _, c := range kinds {
		y.markBest(c, seated, keep)
	}
	var out []int
	for i, kept := range keep {
		if kept {
			out = append(out, i)
		}
	}
	return out
}

// binSearch finds bins in order of their room: by the index of rooms if the problem has one, otherwise by
// scanning.
type binSearch struct {
	p     *model.Problem
	rooms *model.Rooms // nil for scanning
	least []int64      // least request of any class, by resource
	// open are the bins with room for least, ascending. With rooms, atMost fills it.
	open []int
	best heap[reversed]
}

// prepare computes least, and open where the bins are scanned.
func (y *binSearch) prepare() {
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

// atMost reports whether at most n bins have room for least. y.open lists them then.
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

// anyTakes reports whether a pod of class c fits on some bin.
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

// placeableKinds lists one class of each kind that fits on some bin, and counts the pods of all their classes.
// Classes of one kind differ in count and priority only.
func (y *binSearch) placeableKinds() (kinds []model.ClassID, pods int64) {
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

// alikeOnBins reports whether two classes of one group may be on the same bins.
func alikeOnBins(a, b *model.Class) bool {
	return slices.Equal(a.Request, b.Request) && slices.Equal(a.PerNodeLimits, b.PerNodeLimits)
}

// markBest marks the best n bins for pods of class c.
func (y *binSearch) markBest(c model.ClassID, n int64, keep []bool) {
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
		keep[x.candidate.bin] = true
	}
}

// reversed is a candidate in reversed order, so that the worst of the best n is on top of the heap.
type reversed struct{ candidate binCandidate }

func (x reversed) before(y reversed) bool { return y.candidate.before(x.candidate) }

// pick finds the best n bins for a request.
func (y *binSearch) pick(request []int64, n int64, takes func(bin int) (takes, soft bool)) {
	y.best = y.best[:0]
	if y.rooms != nil {
		y.pickInRooms(request, n, takes)
		return
	}
	for _, i := range y.open {
		room := y.p.Bins[i].Room
		if !model.Fits(room, request) {
			continue
		}
		if takes, soft := takes(i); takes {
			y.offer(reversed{binCandidate{bin: i, soft: soft, left: spare(room, room, request)}}, n)
		}
	}
}

// offer adds a candidate to the best n, if it is one of them.
func (y *binSearch) offer(x reversed, n int64) {
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

// pickInRooms is pick with the index of rooms.
func (y *binSearch) pickInRooms(request []int64, n int64, takes func(bin int) (takes, soft bool)) {
	y.rooms.Nearly(request, func(i int32, left float64) (most float64) {
		x := reversed{binCandidate{bin: int(i), left: left}}
		if int64(len(y.best)) < n || y.best[0].before(x) {
			takes, soft := takes(int(i))
			if x.candidate.soft = soft; takes {
				y.offer(x, n)
			}
		}
		if int64(len(y.best)) == n && !y.best[0].candidate.soft {
			return y.best[0].candidate.left
		}
		return math.Inf(1)
	})
}

// admits reports whether a bin admits class c as far as the problem lists it.
func (y *binSearch) admits(c model.ClassID, i int32) bool {
	return len(y.p.Open) == 0 || y.p.Open[y.p.Classes[c].Group].Has(int(i))
}
