package pack

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// apart is pods of three kinds that keep off their own, six, four and one of them, beside
// many that nothing ties. Large machines cost little for what they hold, and small ones
// are just large enough for one of a kind.
func apart() *model.Problem {
	p := &model.Problem{Dims: 1, Groups: 1, Pools: make([]model.Pool, 1), Passes: []model.Pass{{}}}
	admits := model.NewBits(1)
	admits.Set(0)
	for _, o := range []struct{ room, cost int64 }{{100, 100}, {40, 44}, {4, 5}} {
		p.Options = append(p.Options, model.Option{
			Room: []int64{o.room}, Cost: o.cost, Price: o.cost, Supply: model.NoSupply, Floor: -1,
			Admits: admits, Soft: model.NewBits(1),
		})
	}
	for kind, n := range []int64{6, 4, 1} {
		p.Crowds = append(p.Crowds, model.Crowd{Max: 1})
		p.Classes = append(p.Classes, model.Class{
			Request: []int64{3}, Count: n, Crowds: []model.Membership{{Crowd: int32(kind), Weight: 1, Holds: true}},
		})
	}
	p.Classes = append(p.Classes, model.Class{Request: []int64{2}, Count: 180})
	return p
}

// However large machines are, pods that keep off their own need one each; large machines
// are bought all the same, and small ones for those that are left.
func TestLargeMachinesBesideSlots(t *testing.T) {
	p := apart()
	for _, work := range []int64{0, 1_000_000} {
		out := Search(p, Params{Work: work})
		require.NoError(t, check(p, out.Solution))
		require.Zero(t, total(out.Solution.Unplaced))
		assert.Equal(t, int64(408), p.Cost(out.Solution.Nodes), "work %d", work) // 410 with four large ones and two small
	}
}

func TestSlots(t *testing.T) {
	p := apart()
	p.Classes = append(p.Classes,
		// Two of a machine's three may be of this class, which counts like the first.
		model.Class{Request: []int64{1}, Count: 1, Crowds: []model.Membership{{Crowd: 0, Weight: 1, Holds: true}}},
		model.Class{Request: []int64{1}, Count: 17, PerNode: 2},
	)
	f := newFiller(p)
	counts := []int64{6, 4, 1, 180, 1, 17}
	for _, test := range []struct {
		classes []model.ClassID
		want    int64
	}{
		{nil, 0},
		{[]model.ClassID{3}, 0},
		{[]model.ClassID{1, 2, 3}, 4},
		{[]model.ClassID{0, 1, 2}, 6},
		{[]model.ClassID{0, 4}, 7},
		{[]model.ClassID{0, 1, 2, 3, 4, 5}, 9},
	} {
		assert.Equal(t, test.want, f.slots(test.classes, counts), "%v", test.classes)
	}
	assert.Zero(t, newFiller(mix(100, proportional(3, 1, 1), 1)).slots(nil, nil))
}

// Whoever needs nearly as many machines as there are goes first, and the one of them that
// needs the most before the others.
func TestQueues(t *testing.T) {
	p := apart()
	f := newFiller(p)
	all, counts, values := everyClass(p), []int64{4, 6, 1, 180}, []float64{3, 3, 3, 2}
	f.arrange(all, values)
	classes := func(machines float64) (out []model.ClassID) {
		for _, q := range f.queues(all, counts, machines) {
			for _, x := range q.shelves {
				out = append(out, x.classes...)
			}
		}
		return out
	}
	assert.Empty(t, classes(9))
	assert.Equal(t, []model.ClassID{1}, classes(8))
	assert.Equal(t, []model.ClassID{1, 0}, classes(5))
	assert.Equal(t, []model.ClassID{1, 0, 2}, classes(1))

	// The others fill what these leave.
	var shelves []shelf
	for _, c := range all {
		if n := len(shelves); n == 0 || shelves[n-1].size != f.sizeOf[c] {
			shelves = append(shelves, shelf{size: f.sizeOf[c]})
		}
		x := &shelves[len(shelves)-1]
		x.classes = append(x.classes, c)
	}
	f.ahead = f.queues(all, counts, 5)
	items, worth := f.fill(1, nil, shelves, counts, values)
	assert.Equal(t, []model.Item{{Class: 1, N: 1}, {Class: 0, N: 1}}, items[:2])
	assert.True(t, slices.ContainsFunc(items, func(it model.Item) bool { return it.Class == 3 && it.N >= 15 }))
	assert.Greater(t, worth, 36.0)
}

func TestPromisingTracks(t *testing.T) {
	paced := &track{paced: true, last: &attempt{cost: 1000, placed: []int64{5}}}
	for _, test := range []struct {
		name  string
		other *attempt
		want  []bool // paced
	}{
		{"cheaper", &attempt{cost: 990, placed: []int64{5}}, []bool{true, false}},
		{"as dear", &attempt{cost: 1000, placed: []int64{5}}, []bool{true}},
		{"much cheaper", &attempt{cost: 900, placed: []int64{5}}, []bool{false}},
		{"cheaper with fewer pods", &attempt{cost: 900, placed: []int64{4}}, []bool{true}},
		{"dearer with more pods", &attempt{cost: 1100, placed: []int64{6}}, []bool{false}},
	} {
		var got []bool
		for _, x := range promising([]*track{paced, {last: test.other}}) {
			got = append(got, x.paced)
		}
		assert.Equal(t, test.want, got, test.name)
	}
}
