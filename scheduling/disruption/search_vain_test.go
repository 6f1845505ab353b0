package disruption

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// A trial tells of another one where there is no more room, and nothing else has changed.
func TestTrialsUnderTheSameCircumstances(t *testing.T) {
	sale := &instancetypes.Catalog{}
	base := func() *trial {
		return &trial{
			past: "a", stock: stock{pools: map[string]*instancetypes.Catalog{"p": sale}},
			rooms: map[string][]int64{"one": {5, 10}, "two": {3, 3}},
		}
	}
	for name, c := range map[string]struct {
		change func(*trial)
		like   bool
	}{
		"the same":         {func(*trial) {}, true},
		"less room":        {func(now *trial) { now.rooms["one"] = []int64{5, 9} }, true},
		"a node closed":    {func(now *trial) { delete(now.rooms, "two") }, true},
		"more of one kind": {func(now *trial) { now.rooms["one"] = []int64{6, 1} }, false},
		"another node":     {func(now *trial) { now.rooms["three"] = []int64{1, 1} }, false},
		"other moves":      {func(now *trial) { now.past = "b" }, false},
		"another sale":     {func(now *trial) { now.stock.all = &instancetypes.Catalog{} }, false},
		"a pool's sale":    {func(now *trial) { now.stock.pools = map[string]*instancetypes.Catalog{"p": {}} }, false},
		"a pool's own":     {func(now *trial) { now.stock.pools = nil }, false},
	} {
		now := base()
		c.change(now)
		assert.Equal(t, c.like, base().like(now), name)
	}
}

// What was tried is remembered as it was, the latest few of each group.
func TestTrialsAreRemembered(t *testing.T) {
	r := newRecall(10)
	free := []int64{4}
	tried := &trial{rooms: map[string][]int64{"n": free}}
	r.noteTrial("group", tried, 7)
	free[0] = 1 // the gauge goes on
	saved, known := r.vain("group", &trial{rooms: map[string][]int64{"n": {3}}})
	assert.True(t, known)
	assert.Equal(t, offerings.Price(7), saved)
	_, known = r.vain("group", &trial{rooms: map[string][]int64{"n": {5}}})
	assert.False(t, known)
	_, known = r.vain("other", &trial{})
	assert.False(t, known)
	for i := range mostTrials {
		r.noteTrial("group", &trial{past: string(rune('a' + i))}, offerings.Price(i))
	}
	assert.Len(t, r.tried["group"], mostTrials)
	_, known = r.vain("group", &trial{rooms: map[string][]int64{"n": {3}}})
	assert.False(t, known, "the oldest is forgotten")

	var none *recall // of a large cluster
	none.noteTrial("group", &trial{}, 1)
	_, known = none.vain("group", &trial{})
	assert.False(t, known)
}

// Who has no room for any of the pods does not matter, nor do the nodes that go, nor those
// that are closed.
func TestCircumstances(t *testing.T) {
	s := stateOf(t)
	x := &search{state: s}
	for d := range s.gauge.free["two"] {
		s.gauge.free["two"][d] = 1 << 50
	}
	now := x.circumstances([]string{"one"})
	assert.NotContains(t, now.rooms, "one")
	open := slices.Sorted(maps.Keys(now.rooms))
	require.Equal(t, []string{"two"}, open)
	assert.NoError(t, s.shun(open[:1]))
	assert.NotContains(t, x.circumstances([]string{"one"}).rooms, open[0])
	assert.NoError(t, s.readmit(open[:1]))
	for d := range s.gauge.free[open[0]] {
		s.gauge.free[open[0]][d] = 0
	}
	assert.NotContains(t, x.circumstances([]string{"one"}).rooms, open[0])
	assert.NotEqual(t, x.groupKey([]string{"one"}), (&search{state: s, loose: true}).groupKey([]string{"one"}))
	assert.NotEqual(t, x.groupKey([]string{"one"}), x.groupKey(open))
}
