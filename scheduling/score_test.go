package scheduling

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/topology"
)

// Pods come before wishes, wishes before the rank of pools, that before what machines
// cost, and only then does their number count.
func TestScoresAreComparedInTurn(t *testing.T) {
	heavy, light := model.Pass{Weight: 0}, model.Pass{Weight: 1}
	soft := model.Pass{Weight: 0, Soft: true}
	base := score{placed: []int64{3, 5}, denied: 10, passes: []rankedPods{{heavy, 6}, {light, 2}}, cost: 100, machines: 4}
	for _, tt := range []struct {
		name   string
		change func(*score)
	}{
		{"one more of a high priority for many of a low one", func(s *score) { s.placed = []int64{4, 0}; s.denied, s.cost = 99, 999 }},
		{"one more of a low priority", func(s *score) { s.placed = []int64{3, 6}; s.denied, s.cost = 99, 999 }},
		{"fewer wishes in vain", func(s *score) { s.denied, s.cost = 9, 999 }},
		{"fewer pods in a pool of low weight", func(s *score) { s.passes, s.cost = []rankedPods{{heavy, 7}, {light, 1}}, 999 }},
		{"none in a pool of low weight", func(s *score) { s.passes, s.cost = []rankedPods{{heavy, 8}}, 999 }},
		{"on what runs instead", func(s *score) { s.passes, s.cost = nil, 999 }},
		{"cheaper", func(s *score) { s.cost, s.machines = 99, 9 }},
		{"fewer machines", func(s *score) { s.machines = 3 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := base
			tt.change(&other)
			assert.True(t, other.better(&base))
			assert.False(t, base.better(&other))
		})
	}
	same := base
	assert.False(t, same.better(&base))
	avoided := base
	avoided.passes = []rankedPods{{heavy, 6}, {soft, 2}}
	assert.True(t, base.better(&avoided), "a pool of low weight ranks before one that pods would rather avoid")
}

// What a rule asks of the pods that wait, and of those that run, decides whether it can
// be broken at all.
func TestSlackRules(t *testing.T) {
	spread := func(maxSkew, total int64) rule {
		return rule{tie: tie{kind: spreadTie, maxSkew: maxSkew}, total: total}
	}
	near := func(weight, total int64) rule { return rule{tie: tie{kind: affinityTie, weight: weight}, total: total} }
	apart := func(total, holders int64) rule {
		return rule{tie: tie{kind: antiTie}, total: total, domains: []topology.Domain{{}, {Holders: holders}}}
	}
	for _, tt := range []struct {
		name  string
		rule  rule
		heads heads
		want  bool
	}{
		{"a spread that nobody holds", spread(1, 9), heads{counted: 9}, true},
		{"a spread of one", spread(1, 0), heads{1, 1, 1}, true},
		{"a spread of two", spread(1, 0), heads{2, 2, 2}, false},
		{"a spread of two that may differ by two", spread(2, 0), heads{2, 2, 2}, true},
		{"a spread of two beside one that runs", spread(2, 1), heads{2, 2, 2}, false},
		{"a spread over pods that are nowhere", spread(1, 0), heads{held: 7}, true},
		{"a lone pod near itself", near(0, 0), heads{1, 1, 1}, true},
		{"a lone pod near one that runs", near(0, 1), heads{1, 1, 1}, false},
		{"two near each other", near(0, 0), heads{2, 2, 2}, false},
		{"one near another", near(0, 0), heads{held: 1, counted: 1}, false},
		{"near nobody", near(0, 0), heads{held: 1}, false},
		{"a wish to be near nobody", near(10, 0), heads{held: 1}, true},
		{"apart from nobody", apart(0, 0), heads{held: 5}, true},
		{"apart from one that runs", apart(1, 0), heads{held: 5}, false},
		{"apart from itself", apart(0, 0), heads{1, 1, 1}, true},
		{"apart from each other", apart(0, 0), heads{2, 2, 2}, false},
		{"apart from one that waits", apart(0, 0), heads{held: 1, counted: 1}, false},
		{"nobody minds any more", apart(4, 0), heads{counted: 2}, true},
		{"one that runs minds", apart(0, 1), heads{counted: 2}, false},
		{"one that runs minds nobody", apart(0, 1), heads{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.rule.slack(&tt.heads))
		})
	}
}
