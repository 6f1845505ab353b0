package disruption

import (
	"context"
	"slices"
)

// steadily searches where a walk leads to where the search ends: again from where it has ended,
// until nothing is found any more, so that the next plan finds nothing either.
func (x *search) steadily(ctx context.Context) (*search, error) {
	best := x.scratch()
	for {
		y, err := best.told(ctx)
		if len(best.moves) == 0 {
			x.ends = best.ends
		}
		if err != nil {
			return nil, err
		}
		found := len(y.moves) > 0
		y.moves = slices.Concat(best.moves, y.moves)
		if best = y; best.many() {
			err := best.spare(ctx)
			return best, err
		}
		if !found || best.near() || over(ctx) {
			return best, nil
		}
	}
}

// many reports whether the cluster is too large for moves to be looked for node by node.
func (x *search) many() bool { return len(x.state.original) > mostWhole }

// told tells nodes apart into those that stay and those that leave, in several ways. These
// leave at once, and others follow that waste much then. If no way ends near the bound, all
// leave that may. It returns the end that is best for what is disrupted, in large clusters
// the first near the bound: nearer than a cluster has to be for the search to begin, as the next
// plan proves another bound, and what stays behind on the way must not make it begin again.
func (x *search) told(ctx context.Context) (*search, error) {
	best := x.scratch()
	if !x.many() {
		if err := best.run(ctx, 0); err != nil || over(ctx) {
			return best, err
		}
	}
	ways := x.sifted()
	for i := range len(ways) + 1 {
		if best.within(enough) && (i == len(ways) || x.many()) || over(ctx) {
			break
		}
		y := x.scratch()
		leave := x.everybody()
		if i < len(ways) {
			leave = ways[i]
		}
		if err := y.whole(ctx, leave); err != nil {
			return nil, err
		}
		for level := 0; level < len(wastes()) && (level == 0 || !y.within(enough)) && !over(ctx); level++ {
			if err := y.run(ctx, level); err != nil {
				return nil, err
			}
		}
		x.ends = append(x.ends, y)
		if x.better(y, best) {
			best = y
		}
	}
	return best, nil
}

// everybody are the nodes that may go, by name.
func (x *search) everybody() []string {
	var out []string
	for _, r := range x.order() {
		out = append(out, r.name)
	}
	slices.Sort(out)
	return out
}

// mostSpare is how many nodes are looked at in vain in a large cluster, each by itself: where
// rules keep pods from nearly all the room that there is, each may be.
const mostSpare = 100

// spare drains nodes of a large cluster one by one, until the others have room for none that
// is looked at. Which nodes a sweep looks at together depends on what pods are worth, which the
// next plan sees anew: it would find some that this one has passed over. A search that begins
// near the bound only sweeps, so that it looks at less than the one that has ended there.
func (x *search) spare(ctx context.Context) error {
	for most, again := mostSpare, true; again && most > 0 && !over(ctx); {
		before := len(x.moves)
		vain, err := x.deleteSome(ctx, x.order(), most)
		if err != nil {
			return past(ctx, err)
		}
		most, again = most-vain, len(x.moves) > before
	}
	return nil
}

// sweep looks for moves as round does, with few questions, each about many nodes: where pods
// depend on each other, a question takes as long as the cluster is large.
func (x *search) sweep(ctx context.Context, waste float64) error {
	if err := x.deleteMany(ctx, x.order()); err != nil || over(ctx) {
		return err
	}
	var leave []string
	for _, r := range x.order() {
		if float64(r.loss) >= waste*float64(r.price) {
			leave = append(leave, r.name)
		}
	}
	slices.Sort(leave)
	return x.whole(ctx, leave)
}
