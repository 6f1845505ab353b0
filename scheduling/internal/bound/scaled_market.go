package bound

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// scaledMarket is a market in floating point. Prices are in units of the dearest machine, amounts of a resource in
// units of the largest capacity. Only the demand changes after it is made.
type scaledMarket struct {
	exact    *Market // the same in whole numbers
	machines []machine
	prices   []float64
	caps     []float64 // by machine, one for each resource of dims
	sizes    []float64 // by class
	inverse  []float64 // by class: 1 / size, 0 for none
	most     []float64 // by class: the limit of pods on one machine of unlimited capacity
	fits     *fits     // k_c by machine and class
	dims     []int     // the resources of which some machine has any
	unit     []float64
	price    float64
	demand   []float64  // by class, the number of pods that duals are optimized for
	parts    model.Bits // classes that are parts of spreads
	scarce   model.Bits // classes of parts, and classes marked as few
	// supplyUnits are the units of supplies, see [candidate].
	supplyUnits []int64

	buyable     [][]int     // by class: the machines on sale that admit it; filled by buyableOf
	slack       []float64   // by machine: price minus the value that it can hold; scratch of raiseDuals
	classValues [][]float64 // by machine: values of the classes by its vector; scratch of raiseDuals
}

// newScaledMarket returns nil where no machine admits any class, or where every machine is free.
func newScaledMarket(m *Market) *scaledMarket {
	sm := &scaledMarket{exact: m, machines: m.machines()}
	if len(sm.machines) == 0 {
		return nil
	}
	for s := range m.Supplies {
		sm.supplyUnits = append(sm.supplyUnits, m.Supplies[s].unit())
	}
	for i := range sm.machines {
		sm.price = max(sm.price, float64(sm.machines[i].price))
	}
	if sm.price == 0 {
		return nil
	}
	for d := range m.Dims {
		unit := 0.0
		for i := range sm.machines {
			unit = max(unit, float64(sm.machines[i].cap[d]))
		}
		if unit > 0 {
			sm.dims = append(sm.dims, d)
			sm.unit = append(sm.unit, unit)
		}
	}
	sm.rate()
	sm.measure()
	return sm
}

// rate scales prices and capacities of the machines to the units of the search.
func (sm *scaledMarket) rate() {
	n := len(sm.dims)
	sm.prices = make([]float64, len(sm.machines))
	sm.caps = make([]float64, len(sm.machines)*n)
	for i := range sm.machines {
		sm.prices[i] = float64(sm.machines[i].price) / sm.price
		for e, d := range sm.dims {
			sm.caps[i*n+e] = float64(sm.machines[i].cap[d]) / sm.unit[e]
		}
	}
	sm.fits = newFits(sm)
}

// measure scales requests and limits of the classes to the units of the search.
func (sm *scaledMarket) measure() {
	n, classes := len(sm.dims), sm.exact.Classes
	sm.sizes = make([]float64, len(classes)*n)
	sm.inverse = make([]float64, len(classes)*n)
	sm.demand, sm.most = make([]float64, len(classes)), make([]float64, len(classes))
	usable := model.NewBits(len(classes))
	sm.parts = sm.exact.spreadParts()
	sm.scarce = sm.parts.Clone()
	for i := range sm.machines {
		usable.Or(sm.machines[i].users)
	}
	for c := range classes {
		if classes[c].Few {
			sm.scarce.Set(c)
		}
		if usable.Has(c) {
			sm.demand[c] = float64(classes[c].Count)
		}
		for e, d := range sm.dims {
			sm.sizes[c*n+e] = float64(classes[c].Size[d]) / sm.unit[e]
			if size := sm.sizes[c*n+e]; size > 0 {
				sm.inverse[c*n+e] = 1 / size
			}
		}
		sm.most[c] = float64(classes[c].Count)
		if k := classes[c].PerNode; k > 0 {
			sm.most[c] = min(sm.most[c], float64(k))
		}
	}
}

// size returns the request of a pod of class c, by resource of dims.
func (sm *scaledMarket) size(c int) []float64 { return sm.sizes[c*len(sm.dims) : (c+1)*len(sm.dims)] }

// cap returns the capacity of machine i, by resource of dims.
func (sm *scaledMarket) cap(i int) []float64 { return sm.caps[i*len(sm.dims) : (i+1)*len(sm.dims)] }

// ask sets the demand: numbers of pods by class, or all pods for nil.
func (sm *scaledMarket) ask(numbers []float64) {
	usable := model.NewBits(len(sm.demand))
	for i := range sm.machines {
		usable.Or(sm.machines[i].users)
	}
	for c := range sm.demand {
		if sm.demand[c] = 0; usable.Has(c) && sm.exact.Classes[c].Count > 0 {
			sm.demand[c] = float64(sm.exact.Classes[c].Count)
			if numbers != nil {
				sm.demand[c] = max(trace, numbers[c])
			}
		}
	}
}

// vector returns resource duals with the values of the classes by them.
func (sm *scaledMarket) vector(values []float64) dualVector {
	v := dualVector{values: values, classValues: make([]float64, len(sm.demand))}
	sm.weigh(&v)
	return v
}

// weigh fills in the values of the classes.
func (sm *scaledMarket) weigh(v *dualVector) {
	for c := range v.classValues {
		v.classValues[c] = dot(v.values, sm.size(c))
	}
}

// buyableOf lists, for each class, the machines on sale that admit it.
func (sm *scaledMarket) buyableOf() [][]int {
	if sm.buyable == nil {
		numbers := make([]int, len(sm.demand))
		for i := range sm.machines {
			if sm.machines[i].supply < 0 {
				sm.machines[i].users.Each(func(c int) { numbers[c]++ })
			}
		}
		sm.buyable = spaces(numbers)
		for i := range sm.machines {
			if sm.machines[i].supply < 0 {
				sm.machines[i].users.Each(func(c int) { sm.buyable[c] = append(sm.buyable[c], i) })
			}
		}
	}
	return sm.buyable
}

// starting returns the given resource duals as a vector, or the zero vector if there are none.
func (sm *scaledMarket) starting(start []*big.Int) dualVector {
	values := make([]float64, len(sm.dims))
	if len(start) == sm.exact.Dims {
		for e, d := range sm.dims {
			values[e] = fixed.Float64(start[d]) * sm.unit[e] / sm.price
		}
	}
	return sm.vector(values)
}

// wholeVector rounds a vector to whole numbers, with an entry for every resource of the market.
func (sm *scaledMarket) wholeVector(v *dualVector, factor float64) []fixed.Uint128 {
	whole := make([]fixed.Uint128, sm.exact.Dims)
	for e, d := range sm.dims {
		whole[d] = fixed.Of(v.values[e] * sm.price / sm.unit[e] * factor)
	}
	return whole
}

// fits caches the number of pods of a class that fit on a machine. Many machines have equal capacities and
// share a row.
type fits struct {
	shape []int       // by machine: a number that machines of equal capacity share
	rows  [][]float64 // by shape and class; nil until it is needed
}

func newFits(sm *scaledMarket) *fits {
	f, number := &fits{shape: make([]int, len(sm.machines))}, map[string]int{}
	var key []byte
	for i := range sm.machines {
		key = key[:0]
		for _, room := range sm.cap(i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(room))
		}
		at, known := number[string(key)]
		if !known {
			at = len(number)
			number[string(key)] = at
		}
		f.shape[i] = at
	}
	f.rows = make([][]float64, len(number))
	return f
}

// places returns k_c, the largest number of pods of class c that fit on machine i. Rounding errors may make it
// too high, and never too low, because the bound relies on it.
func (f *fits) places(sm *scaledMarket, i, c int) float64 {
	row := f.rows[f.shape[i]]
	if row == nil {
		row = slices.Clone(sm.most)
		n := len(sm.dims)
		for class := range row {
			inverse := sm.inverse[class*n : (class+1)*n]
			for e, room := range sm.cap(i) {
				if inverse[e] > 0 {
					row[class] = min(row[class], room*inverse[e]*(1+1e-12))
				}
			}
			row[class] = math.Floor(row[class])
		}
		f.rows[f.shape[i]] = row
	}
	return row[c]
}
