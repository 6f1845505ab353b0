package prove

import (
	"cmp"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/covering"
)

// surrogateResource is a resource that no pod requests and that bounds what a node holds all the
// same. It counts the pods of a per-node limit, or a resource in whole steps:
// of what is less than a step neither pod nor node has any. Whatever pods a node holds,
// their whole steps are no more than those of the node.
type surrogateResource struct {
	limit *perNodeLimit // nil for steps
	// dim and step are the resource and the size of a step.
	dim  int
	step int64
}

// request is what one pod of a planned class needs of it.
func (y *surrogateResource) request(class int, request []int64) int64 {
	switch {
	case y.limit == nil:
		return request[y.dim] / y.step
	case y.limit.members.Has(class):
		return 1
	}
	return 0
}

// onSale is the number of a node that is yet to be bought.
const onSale = -1

// room is what a node has of it, by its number.
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
	// mostSteps bounds how many sizes of steps are tried, and leastGain is the share of
	// the bound that they have to add.
	mostSteps = 16
	leastGain = 1e-3
)

// step is a resource, and a size of steps, with how many pods request just that.
type step struct {
	dim        int
	size, pods int64
}

// steps lists what most pods request, resource by resource: what keeps a machine from
// being filled up is that they leave the same rest on it.
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

// with is amounts of resources with their whole steps.
func (s step) with(amounts []int64) []int64 {
	return append(amounts[:len(amounts):len(amounts)], amounts[s.dim]/s.size)
}

// stepped is the input with one more resource.
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

// withSteps adds the steps that raise the bound on resources most.
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

// addSteps adds steps to the market.
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
