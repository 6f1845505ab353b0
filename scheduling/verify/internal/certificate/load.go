package certificate

import (
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// load is what a machine may hold: pods of some classes within a room. The room is cut to
// what the pods request together.
type load struct {
	room []int64
	pods []portion
}

// portion is a number of pods of a class.
type portion struct {
	class int
	count int64
}

// loadOf collects the pods that fit and whose constraints let them be there. Those that are
// worth nothing are left out: without them a machine has room for as much worth.
func (pr *proof) loadOf(room []int64, mayBe func(s *podClass, constraint int) bool) load {
	l := load{room: make([]int64, len(room))}
	for i, s := range pr.classes {
		if s.worth.Sign() == 0 || !fits(s.size, room) {
			continue
		}
		count := s.count(func(c int) bool { return mayBe(s, c) })
		if s.limited {
			count = min(count, s.most)
		}
		if count == 0 {
			continue
		}
		l.pods = append(l.pods, portion{i, count})
		for d, n := range s.size {
			l.room[d] += n * count // all placed pods together are within an int64
		}
	}
	l.cut(room)
	return l
}

// cut leaves no more than the room.
func (l *load) cut(room []int64) {
	for d, n := range room {
		l.room[d] = max(0, min(l.room[d], n))
	}
}

// loads are what the machine may hold: one load for each room that it may have, with every pod
// that could be alone on it in any of them.
func (pr *proof) loads(m *snapshot.Node, byConstraint [][][]int64) []load {
	var rooms [][]int64
	for _, list := range byConstraint {
		for _, room := range list {
			if !slices.ContainsFunc(rooms, func(r []int64) bool { return slices.Equal(r, room) }) {
				rooms = append(rooms, room)
			}
		}
	}
	loads := make([]load, 0, len(rooms))
	for _, room := range rooms {
		l := pr.loadOf(pr.vector(m.Free), func(s *podClass, c int) bool {
			return slices.ContainsFunc(byConstraint[c], func(r []int64) bool { return fits(s.size, r) })
		})
		l.cut(room)
		loads = append(loads, l)
	}
	return loads
}

func fits(size, room []int64) bool {
	for d, n := range size {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}

// alone is how many of so many pods of the class the room holds when nothing else is there.
func (s *podClass) alone(most int64, room []int64) int64 {
	if s.single {
		most = min(most, 1)
	}
	for d, n := range s.size {
		if n > 0 {
			most = min(most, room[d]/n)
		}
	}
	return most
}

// vector turns what a machine has into the form of the proof. What is beyond an int64 is
// beyond what the pods request.
func (pr *proof) vector(a snapshot.Amounts) []int64 {
	out := make([]int64, 0, len(pr.dims))
	for _, name := range pr.dims[:len(pr.dims)-len(pr.measures)] {
		switch n := a.Of(name); {
		case n.IsInt64():
			out = append(out, n.Int64())
		case n.Sign() > 0:
			out = append(out, math.MaxInt64)
		default:
			out = append(out, 0)
		}
	}
	for _, m := range pr.measures {
		out = append(out, m.machine(a))
	}
	return out
}

// valuation is a vector with what it leaves of the worths of the classes.
type valuation struct {
	values []*big.Int // by dimension of the proof
	excess []*big.Int // by class, 0 where there is none
	// The same in floating-point nano-USD, to tell quickly what cannot be proven.
	nearValues, nearExcess []float64
}

func (pr *proof) valuation(values map[string]*big.Int) *valuation {
	v := &valuation{}
	for _, name := range pr.dims {
		n := valueOf(values, string(name))
		v.values = append(v.values, n)
		v.nearValues = append(v.nearValues, pr.near(n))
	}
	for _, s := range pr.classes {
		over := new(big.Int).Set(s.worth)
		for d, n := range s.size {
			over.Sub(over, new(big.Int).Mul(v.values[d], big.NewInt(n)))
		}
		if over.Sign() < 0 {
			over.SetInt64(0)
		}
		v.excess = append(v.excess, over)
		v.nearExcess = append(v.nearExcess, pr.near(over))
	}
	return v
}

// near is about so many nano-USD.
func (pr *proof) near(worth *big.Int) float64 {
	f := new(big.Float).SetInt(worth)
	n, _ := f.SetMantExp(f, -int(pr.scale)).Float64()
	return n
}

// scaled is a price in units of worth.
func (pr *proof) scaled(p offerings.Price) *big.Int {
	return new(big.Int).Lsh(big.NewInt(int64(p)), pr.scale)
}

// holds is the worth that the load can have at most, as far as the vector tells.
func (pr *proof) holds(l load, v *valuation) *big.Int {
	sum := new(big.Int)
	for d, n := range l.room {
		sum.Add(sum, new(big.Int).Mul(v.values[d], big.NewInt(n)))
	}
	for _, p := range l.pods {
		if v.excess[p.class].Sign() > 0 {
			sum.Add(sum, new(big.Int).Mul(v.excess[p.class], big.NewInt(pr.classes[p.class].alone(p.count, l.room))))
		}
	}
	return sum
}

// about is holds in floating point; it stops beyond the limit.
func (pr *proof) about(l load, v *valuation, limit float64) float64 {
	sum := 0.0
	for d, n := range l.room {
		sum += v.nearValues[d] * float64(n)
	}
	for _, p := range l.pods {
		if sum > limit {
			break
		}
		if v.nearExcess[p.class] > 0 {
			sum += v.nearExcess[p.class] * float64(pr.classes[p.class].alone(p.count, l.room))
		}
	}
	return sum
}

// within reports whether some vector shows that the load is worth at most the price.
func (pr *proof) within(l load, price offerings.Price) bool {
	if len(l.pods) == 0 {
		return true
	}
	limit := float64(price) * (1 + 1e-9)
	for k := range pr.vectors {
		at := (pr.last + k) % len(pr.vectors)
		if v := pr.vectors[at]; pr.about(l, v, limit) <= limit && pr.holds(l, v).Cmp(pr.scaled(price)) <= 0 {
			pr.last = at
			return true
		}
	}
	return false
}

// least is the least worth that a vector leaves the load, or less than that where its
// patterns show it. Less than the limit is of no interest. Without any vector every class
// counts with what it is worth.
func (pr *proof) least(l load, limit *big.Int) *big.Int {
	if len(l.pods) == 0 {
		return new(big.Int)
	}
	best, by := math.Inf(1), (*valuation)(nil)
	for _, v := range pr.vectors {
		if w := pr.about(l, v, best); by == nil || w < best {
			best, by = w, v
		}
	}
	if by == nil {
		by = pr.valuation(nil)
	}
	if pr.patterns {
		return pr.bestPattern(l, by, limit)
	}
	return pr.holds(l, by)
}
