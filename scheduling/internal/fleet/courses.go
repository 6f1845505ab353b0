package fleet

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// Course is one possible course of events: an order of the pods, and the number of batches in which machines
// join.
type Course struct {
	Order   []int32 // indexes in the queue
	Batches int
	Seed    uint64 // of random choices
}

// inBatches is the number of batches in which machines join if not at once, because a provider takes minutes to
// deliver dozens of machines.
const inBatches = 6

// Courses returns the courses in which a plan is simulated. queue is the classes of the pods, planned ones of
// c, in the order of kube-scheduler's queue, which is the order of the first course. With brief, adjacent equal
// pods stay together.
func Courses(c *instance.Instance, queue []int32, brief bool) []Course {
	out := []Course{{Order: lo.RangeFrom(int32(0), len(queue)), Batches: 1}}
	for seed, batches := range []int{1: 1, 2: inBatches, 3: inBatches, 4: 1} {
		if batches > 0 && (!brief || seed != 3) {
			out = append(out, Course{shuffled(c, queue, uint64(seed), brief), batches, uint64(seed)}) //nolint:gosec // it is positive
		}
	}
	return out
}

// shuffled returns a random order of the queue, with pods of higher priority first.
func shuffled(c *instance.Instance, queue []int32, seed uint64, brief bool) []int32 {
	var runs [][]int32
	for i, class := range queue {
		if last := len(runs) - 1; brief && last >= 0 && class == queue[i-1] {
			runs[last] = append(runs[last], int32(i))
		} else {
			runs = append(runs, []int32{int32(i)})
		}
	}
	dice := rand.New(rand.NewPCG(seed, 0x71756575)) //nolint:gosec // an example of an order, not a secret
	dice.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	slices.SortStableFunc(runs, func(a, b []int32) int {
		return cmp.Compare(c.Planned[queue[b[0]]].Priority, c.Planned[queue[a[0]]].Priority)
	})
	return slices.Concat(runs...)
}

// Joins yields, batch by batch, the indexes of the machines in the order in which they join. The order matters,
// because with more than a hundred nodes kube-scheduler scores only a part of them, the next ones in this
// order.
func (x *Course) Joins(machines int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		order := lo.Range(machines)
		dice := rand.New(rand.NewPCG(x.Seed, 0x62617463)) //nolint:gosec // an example of an order, not a secret
		dice.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for b := range x.Batches {
			if !yield(order[b*machines/x.Batches : (b+1)*machines/x.Batches]) {
				return
			}
		}
	}
}
