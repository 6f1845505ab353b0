package knapsack

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Class is equal pods, of which at most Most fit on the empty machine.
type Class struct {
	Number int // the caller's number of the class
	Size   []int64
	Most   int64
}

// Knapsack is a machine with the classes that it admits, without resources that cannot run short, and the other
// resources in the coarsest units in which all sizes are whole.
type Knapsack struct {
	// Classes are the numbers of the classes, Most the largest number of pods of each.
	Classes []int
	Most    []int64
	// Rows are the numbers of the resources, Units the size of a unit of each in base units, and Room the
	// capacity in these units.
	Rows  []int
	Units []int64
	Room  []int64

	sizes []int64 // by index in Classes, one for each row
}

// New returns the knapsack of a machine with this room for some classes.
func New(room []int64, classes []Class) *Knapsack {
	n, dims := len(classes), len(room)
	whole := make([]int64, 0, n+2*dims+n*dims)
	v := &Knapsack{Classes: make([]int, 0, n), Rows: make([]int, 0, dims)}
	v.Most, v.Units, v.Room, v.sizes = whole[:0:n], whole[n:n:n+dims], whole[n+dims:n+dims:n+2*dims], whole[n+2*dims:n+2*dims]
	for i := range classes {
		v.Classes, v.Most = append(v.Classes, classes[i].Number), append(v.Most, classes[i].Most)
	}
	for d, room := range room {
		unit, asked := int64(0), int64(0)
		for i := range classes {
			n := classes[i].Size[d]
			unit = divisor(unit, n)
			if asked += fixed.Product(n, classes[i].Most); asked < 0 {
				asked = math.MaxInt64
			}
		}
		if asked <= room {
			continue
		}
		v.Rows, v.Units, v.Room = append(v.Rows, d), append(v.Units, unit), append(v.Room, room/unit)
	}
	for i := range classes {
		for k, d := range v.Rows {
			v.sizes = append(v.sizes, classes[i].Size[d]/v.Units[k])
		}
	}
	return v
}

// mostUnits bounds the capacity of a resource, and mostRooms the number of distinct remaining rooms, so that
// both stay within an int64.
const mostUnits, mostRooms = 1 << 44, 1 << 62

// Countable reports whether a [Search] can handle the knapsack.
func (v *Knapsack) Countable() bool {
	rooms := int64(1)
	for _, n := range v.Room {
		if rooms = fixed.Product(rooms, n+1); n > mostUnits || rooms > mostRooms {
			return false
		}
	}
	return true
}

// divisor returns the greatest common divisor; that of 0 and b is b.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Size returns the request of a pod by row. k is an index in Classes.
func (v *Knapsack) Size(k int) []int64 { return v.sizes[k*len(v.Rows) : (k+1)*len(v.Rows)] }

// pricedRows is the knapsack with only the rows of a dual above 0, with these duals.
func (v *Knapsack) pricedRows(duals []int64) (less *Knapsack, priced []int64) {
	out := &Knapsack{Classes: v.Classes, Most: v.Most}
	for d, dual := range duals {
		if dual > 0 {
			out.Rows, out.Units, out.Room, priced = append(out.Rows, v.Rows[d]), append(out.Units, v.Units[d]), append(out.Room, v.Room[d]), append(priced, dual)
		}
	}
	if len(out.Rows) == len(v.Rows) {
		return v, duals
	}
	for k := range v.Classes {
		for d, n := range v.Size(k) {
			if duals[d] > 0 {
				out.sizes = append(out.sizes, n)
			}
		}
	}
	return out, priced
}

// holds reports whether there is room for a pattern.
func (v *Knapsack) holds(counts []int64) bool {
	for d, room := range v.Room {
		for k, n := range counts {
			room -= n * v.Size(k)[d]
		}
		if room < 0 {
			return false
		}
	}
	return true
}
