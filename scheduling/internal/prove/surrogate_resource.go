package prove

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
)

// surrogateResource is a resource that no pod requests but that bounds the pods on a node: a count of pods under a
// per-node limit, or a resource rounded down to multiples of a step (a dual feasible function). Rounding is valid,
// because the rounded requests of pods that fit a node are at most its rounded room. E.g. with steps of 3 GiB, a node of
// 8 GiB holds two pods of 3 GiB.
type surrogateResource struct {
	limit *perNodeLimit // nil for steps
	// dim and step are the resource and the size of a step.
	dim  int
	step int64
}

// request is the amount that one pod of a planned class uses.
func (y *surrogateResource) request(class int, request []int64) int64 {
	switch {
	case y.limit == nil:
		return request[y.dim] / y.step
	case y.limit.members.Has(class):
		return 1
	}
	return 0
}

// onSale stands for the number of a node that is not launched yet.
const onSale = -1

// room is the amount that a node has, by its number.
func (y *surrogateResource) room(room []int64, node int) int64 {
	if y.limit == nil {
		return room[y.dim] / y.step
	}
	if n, ok := y.limit.places[node]; ok {
		return n
	}
	return y.limit.most
}

const (
	// mostSteps bounds the steps that are tried. leastGain is the share of the bound that a step must add.
	mostSteps = 16
	leastGain = 1e-3
)

// step is a resource and a size of steps; pods is the number of pods that request exactly that.
type step struct {
	dim        int
	size, pods int64
}

// steps lists the requests that most pods have in common, by resource, because equal requests leave equal rests on a
// node.
func (pr *prover) steps() []step {
	var out []step
	for i := range pr.market.Classes {
		c := &pr.market.Classes[i]
		for d, n := range c.Size[:pr.in.Dims()] {
			if n <= 1 {
				continue
			}
			at := slices.IndexFunc(out, func(s step) bool { return s.dim == d && s.size == n })
			if at < 0 {
				at = len(out)
				out = append(out, step{dim: d, size: n})
			}
			out[at].pods += c.Count
		}
	}
	slices.SortStableFunc(out, func(a, b step) int { return cmp.Compare(b.pods, a.pods) })
	return out[:min(len(out), mostSteps)]
}

// with is amounts followed by the number of whole steps.
func (s step) with(amounts []int64) []int64 {
	return append(amounts[:len(amounts):len(amounts)], amounts[s.dim]/s.size)
}

// stepped is the input with a step as one more resource.
func (pr *prover) stepped(s step) covering.Input {
	in := pr.input
	in.Dims++
	in.Items, in.Options, in.Free = slices.Clone(in.Items), slices.Clone(in.Options), slices.Clone(in.Free)
	for i := range in.Items {
		in.Items[i].Size = s.with(in.Items[i].Size)
	}
	for i := range in.Options {
		in.Options[i].Cap = s.with(in.Options[i].Cap)
	}
	for i := range in.Free {
		in.Free[i].Cap = s.with(in.Free[i].Cap)
	}
	return in
}

// withSteps adds the step that raises the bound by resource duals the most, where there are surrogate resources and it
// gains [leastGain].
func (pr *prover) withSteps(plain covering.Result) covering.Result {
	if len(pr.surrogateResources) == 0 {
		return plain
	}
	best, found := plain, step{}
	for _, s := range pr.steps() {
		if r := covering.Resource(pr.stepped(s).Tighten()); r.Bound > best.Bound {
			best, found = r, s
		}
	}
	if found.size == 0 || float64(best.Bound) < float64(plain.Bound)*(1+leastGain) {
		return plain
	}
	pr.addSteps(found)
	return best
}

// addSteps adds a step to input and market.
func (pr *prover) addSteps(s step) {
	pr.surrogateResources = append(pr.surrogateResources, surrogateResource{dim: s.dim, step: s.size})
	pr.input = pr.stepped(s)
	clear(pr.spaces)
	pr.market.Dims++
	for i := range pr.market.Classes {
		pr.market.Classes[i].Size = s.with(pr.market.Classes[i].Size)
	}
	for i := range pr.market.Options {
		pr.market.Options[i].Cap = s.with(pr.market.Options[i].Cap)
	}
	for i := range pr.market.Supplies {
		for k := range pr.market.Supplies[i].Members {
			x := &pr.market.Supplies[i].Members[k]
			x.Cap = s.with(x.Cap)
		}
	}
}
