package covering

import "github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"

// Input is the instance of a bound. Amounts are in base units (millicores, bytes, pods), prices in nano-USD per
// hour. Slices shorter than Dims count as padded with zeros. The functions of this package neither change nor
// keep it.
type Input struct {
	// Dims is the number of resources.
	Dims int
	// Items are the pods that every plan must place.
	Items []Item
	// Options may be bought in any number. The caller should leave out options that hold no pod, because each
	// one can lower the bound.
	Options []Option
	// Free is capacity of limited number: free room on running nodes (price 0) and
	// machines left in reservations.
	Free []Bin
}

// Item is a number of equal pods.
type Item struct {
	Size  []int64
	Count int64
}

// Option is a machine that may be bought in any number. A negative capacity counts as 0.
type Option struct {
	Cap   []int64
	Price int64
}

// Bin is Count machines of equal capacity and price.
type Bin struct {
	Cap   []int64
	Price int64
	Count int64
}

// Tighten returns the input with every capacity cut to the total demand, because no machine can hold more than
// all pods. The bound of the result holds for the original too, and is never lower; for a few pods and large
// machines it is much better. A verifier of the bound must cut the capacities in the same way.
func (in Input) Tighten() Input {
	demand, ok := in.demand()
	if !ok {
		return in
	}
	most := make([]int64, in.Dims)
	for d := range most {
		most[d] = demand[d].Int64()
	}
	out := in
	caps := make([]int64, in.Dims*(len(in.Options)+len(in.Free)))
	cut := func(from []int64) []int64 {
		to := caps[:in.Dims:in.Dims]
		caps = caps[in.Dims:]
		for d := range min(in.Dims, len(from)) {
			to[d] = max(0, min(from[d], most[d]))
		}
		return to
	}
	out.Options = make([]Option, len(in.Options))
	for i, o := range in.Options {
		out.Options[i] = Option{Cap: cut(o.Cap), Price: o.Price}
	}
	out.Free = make([]Bin, len(in.Free))
	for i, f := range in.Free {
		out.Free[i] = Bin{Cap: cut(f.Cap), Price: f.Price, Count: f.Count}
	}
	return out
}

// demand sums up the items. ok is false where a sum exceeds 128 bits.
func (in Input) demand() (sum []fixed.Uint128, ok bool) {
	sum = make([]fixed.Uint128, in.Dims)
	for _, it := range in.Items {
		if !accumulate(sum, it.Size, it.Count) {
			return nil, false
		}
	}
	return sum, true
}

// gratis sums up the capacity of bins of price 0.
func (in Input) gratis() (sum []fixed.Uint128, ok bool) {
	sum = make([]fixed.Uint128, in.Dims)
	for _, f := range in.Free {
		if f.Price == 0 && !accumulate(sum, f.Cap, f.Count) {
			return nil, false
		}
	}
	return sum, true
}

// accumulate adds count times v to sum, negative entries as zeros. It reports false on overflow.
func accumulate(sum []fixed.Uint128, v []int64, count int64) bool {
	if count <= 0 {
		return true
	}
	for d := range min(len(sum), len(v)) {
		if v[d] <= 0 {
			continue
		}
		product, _ := fixed.Int(v[d]).Times(uint64(count))
		var carry bool
		if sum[d], carry = sum[d].Plus(product); carry {
			return false
		}
	}
	return true
}

// sound reports whether the input can have a bound: with a negative price no lower bound exists.
func (in Input) sound() bool {
	for i := range in.Options {
		if in.Options[i].Price < 0 {
			return false
		}
	}
	for i := range in.Free {
		if in.Free[i].Price < 0 {
			return false
		}
	}
	return in.Dims >= 0
}

// at returns v[d], 0 where v is too short or the entry negative.
func at(v []int64, d int) int64 {
	if d >= len(v) {
		return 0
	}
	return max(0, v[d])
}
