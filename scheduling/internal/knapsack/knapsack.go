package knapsack

import (
	"math"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
)

// Class is equal pods of which so many fit the machine when nothing else is there.
type Class struct {
	Number int // the caller's
	Size   []int64
	Most   int64
}

// Knapsack is a machine with the pods that may be on it, without the resources that cannot run
// short, and the others in the coarsest units in which all sizes are whole.
type Knapsack struct {
	// Classes are the numbers of the classes, Most how many pods of each there may be.
	Classes []int
	Most    []int64
	// Rows are the numbers of the resources, Units what a unit of each is, and Room how many there
	// are of it.
	Rows  []int
	Units []int64
	Room  []int64

	sizes []int64 // by class of the list, one for each of the rows
}

// New is the knapsack of a machine with so much room for some classes.
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

// mostUnits and mostRooms bound what a resource of a knapsack may have and in how many
// ways all of them may be left, so that sums and numbers of rooms stay within an int64.
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

// divisor is the greatest common one; 0 divides nothing.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Size is what a pod takes of the rows, by class of the list.
func (v *Knapsack) Size(k int) []int64 { return v.sizes[k*len(v.Rows) : (k+1)*len(v.Rows)] }
