package disruption

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// wornSearch is a search in a cluster of n nodes, each half empty, with budgets as given.
func wornSearch(t *testing.T, n int, budget string) *search {
	t.Helper()
	p := pool()
	p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: budget}}
	var nodes []*corev1.Node
	var pods []*corev1.Pod
	for i := range n {
		name := fmt.Sprintf("n%03d", i)
		nodes = append(nodes, machine(t, name, "m.xlarge", offerings.OnDemand))
		pods = append(pods, pod("a-"+name, name, "1"), pod("b-"+name, name, "500m"))
	}
	c := world(t, p, nodes, pods...)
	f := newFrame(Planner{Now: noon()}, &c)
	s, err := newState(t.Context(), Planner{Now: noon()}, &c)
	require.NoError(t, err)
	anew, err := f.solveAnew(t.Context(), f.planner.Solver.Effort, f.loose)
	require.NoError(t, err)
	return &search{frame: f, state: s, target: anew, settled: map[string]bool{}}
}

func TestMayLoosen(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes  int
		budget string
		single bool
		want   bool
	}{
		"few nodes that may all go at once":       {4, "100%", false, true},
		"few nodes that may not all go at once":   {4, "75%", false, false},
		"as many nodes as are tried":              {mostLoose, "100%", false, true},
		"more nodes":                              {mostLoose + 1, "100%", false, false},
		"nodes that are to be drained one by one": {4, "100%", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := wornSearch(t, tt.nodes, tt.budget)
			x.single = tt.single
			assert.Equal(t, tt.want, x.mayLoosen())
		})
	}
}

// Ways that fill nodes loosely come after those that fill them well, and only where they may
// help; the one that keeps nothing comes last.
func TestBeginnings(t *testing.T) {
	loosely := func(x *search) (out []bool) {
		for _, begin := range x.beginnings() {
			out = append(out, begin.loosely)
		}
		return out
	}
	x := wornSearch(t, 6, "100%")
	tight := loosely(x)
	assert.NotContains(t, tight, true)
	x.loosens = true
	all := loosely(x)
	n := len(tight) - 1
	require.Len(t, all, 2*n+1)
	for i, loose := range all {
		assert.Equal(t, i >= n && i < 2*n, loose, "way %d", i)
	}
}

// What began with nodes filled loosely goes on until nothing is found with nodes filled well,
// so that the next plan finds nothing.
func TestLooselyEndsTight(t *testing.T) {
	x := wornSearch(t, 12, "100%")
	x.loosens = true
	y, level, err := x.loosely(t.Context(), x.surplus(0.1), closer)
	require.NoError(t, err)
	assert.NotEmpty(t, y.moves)
	assert.Less(t, y.price(), x.price())
	assert.True(t, y.loosened)
	assert.False(t, y.loose)
	before := len(y.moves)
	require.NoError(t, y.run(t.Context(), level))
	assert.Len(t, y.moves, before)
	assert.Empty(t, x.moves, "the search itself stays where it is")
	assert.False(t, x.loose)
	assert.False(t, x.loosened)
}

// What is remembered of nodes filled well is not taken for the answer with nodes filled loosely.
func TestLooseQuestionsAreOthers(t *testing.T) {
	x := wornSearch(t, 2, "100%")
	assert.NotEqual(t, x.state.key(&question{nodes: []string{"n000"}}), x.state.key(&question{nodes: []string{"n000"}, loose: true}))
}
