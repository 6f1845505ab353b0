package disruption

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// What was asked before is not worked out again, and comes as if it had been; whatever is
// different about the cluster or the question makes it another one.
func TestRecall(t *testing.T) {
	s := stateOf(t)
	ctx := t.Context()
	q := func() *question { return &question{nodes: []string{"one"}, buy: true, effort: scheduling.EffortFast} }
	ask := func(s *state, q *question) (*outcome, int) {
		before := len(s.recall.known)
		o, err := s.ask(ctx, q)
		require.NoError(t, err)
		return o, len(s.recall.known) - before
	}
	first, asked := ask(s, q())
	assert.Equal(t, 1, asked)
	again, asked := ask(s.fork(), q())
	assert.Zero(t, asked, "forks share what they know")
	assert.Equal(t, first, again)
	again.launches[0].Name, again.evictions[0].To = "spoilt", "spoilt"
	again, _ = ask(s, q())
	assert.Equal(t, first, again, "each answer is the asker's")

	for what, change := range map[string]func(*question){
		"nodes":  func(q *question) { q.nodes = []string{"two"} },
		"closed": func(q *question) { q.closed = []string{"two"} },
		"effort": func(q *question) { q.effort = scheduling.EffortDefault },
		"buy":    func(q *question) { q.buy = false },
		"alone":  func(q *question) { q.alone = true },
	} {
		other := q()
		change(other)
		_, asked := ask(s, other)
		assert.Equal(t, 1, asked, what)
	}
	shut := s.fork()
	require.NoError(t, shut.shun([]string{"two"}))
	_, asked = ask(shut, q())
	assert.Equal(t, 1, asked, "a node is closed")
	require.NoError(t, shut.readmit([]string{"two"}))
	_, asked = ask(shut, q())
	assert.Zero(t, asked, "and open again")

	moved := s.fork()
	require.NoError(t, moved.take(&Step{Drain: first.nodes, Launches: first.launches, Evictions: first.evictions}))
	_, asked = ask(moved, &question{nodes: []string{"two"}, effort: scheduling.EffortFast, buy: true})
	assert.Equal(t, 1, asked, "a step is done")
}

// Answers with reasons, those about a part of the pods, and those of large clusters are
// worked out each time; not too many are kept.
func TestNotRecalled(t *testing.T) {
	s := stateOf(t)
	assert.Empty(t, s.key(&question{nodes: []string{"one"}, why: true}))
	assert.Empty(t, s.key(&question{nodes: []string{"one"}, launches: make([]scheduling.Launch, 1)}))
	assert.Nil(t, newRecall(mostRecalling+1))
	var none *recall
	none.put("", &outcome{})
	assert.Nil(t, none.get(""))
	r := newRecall(1)
	for i := range mostRecalled + 10 {
		r.put(string(rune('a'+i)), &outcome{})
	}
	assert.LessOrEqual(t, len(r.known), mostRecalled)
}
