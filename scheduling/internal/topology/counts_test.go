package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answer is what the counts say about one more pod.
type answer struct {
	n     int64
	rule  int32 // that keeps it out, or -1
	opens bool
}

// ask asks for each site of a class.
func ask(s *planner, class int32) (out []answer) {
	cells, _ := s.of(class)
	for i := range cells {
		n, at, opens := s.counts.admits(cells[i].terms)
		a := answer{n: n, rule: -1, opens: opens}
		if at >= 0 {
			a.rule = cells[i].terms[at].rule
		}
		out = append(out, a)
	}
	return out
}

func TestAdmits(t *testing.T) {
	free := answer{n: many, rule: -1}
	blockedBy := func(rule int32) answer { return answer{rule: rule} }
	upTo := func(n int64) answer { return answer{n: n, rule: -1} }
	opens := answer{n: 1, rule: -1, opens: true}
	keyless := class(1, 2, self(0))
	keyless.Sites[0].Domains[0] = None

	for _, c := range []struct {
		name  string
		rule  Rule
		class Class
		want  []answer
	}{
		{"spread: as many as the skew leaves", spread(3, 2).running(4, 5), class(1, 2, self(0)), []answer{upTo(3), upTo(2)}},
		{"spread: none above it", spread(1, 2).running(4, 5), class(1, 2, self(0)), []answer{upTo(1), blockedBy(0)}},
		{"spread: a pod that does not count, any number", spread(1, 2).running(4, 6), class(1, 2, holds(0)), []answer{free, blockedBy(0)}},
		{"spread: merely counted, any number", spread(1, 2).running(4, 6), class(1, 2, seen(0)), []answer{free, free}},
		{"spread: several units at once", spread(5, 2).running(1, 0), class(1, 2, Link{Rule: 0, Holds: true, Counts: 2}), []answer{upTo(2), upTo(2)}},
		{"spread: no key", spread(1, 2), keyless, []answer{blockedBy(0), upTo(1)}},
		{"spread: too few domains", spread(2, 2).least(3).running(1, 2), class(1, 2, self(0)), []answer{upTo(1), blockedBy(0)}},
		{"spread: enough domains", spread(2, 2).least(2).running(1, 2), class(1, 2, self(0)), []answer{upTo(2), upTo(1)}},
		{"spread: a wish", spread(1, 2).running(4, 6).wish(1), class(1, 2, self(0)), []answer{free, free}},
		{"affinity: where counted pods are", affinity(2).running(0, 1), class(1, 2, holds(0)), []answer{blockedBy(0), free}},
		{"affinity: nowhere, for others", affinity(2), class(1, 2, holds(0)), []answer{blockedBy(0), blockedBy(0)}},
		{"affinity: nowhere, for its own kind", affinity(2), class(1, 2, self(0)), []answer{opens, opens}},
		{"affinity: no key", affinity(2), keyless, []answer{blockedBy(0), opens}},
		{"affinity: merely counted", affinity(2).running(0, 1), class(1, 2, seen(0)), []answer{free, free}},
		{"affinity: a wish", affinity(2).wish(1), class(1, 2, holds(0)), []answer{free, free}},
		{"anti-affinity: where none is", anti(2).running(0, 1), class(1, 2, holds(0)), []answer{free, blockedBy(0)}},
		{"anti-affinity: one of its own kind", anti(2).running(0, 1), class(1, 2, self(0)), []answer{upTo(1), blockedBy(0)}},
		{"anti-affinity: kept away", anti(2).holders(0, 1), class(1, 2, seen(0)), []answer{free, blockedBy(0)}},
		{"anti-affinity: holders do not keep each other away", anti(2).holders(1, 1), class(1, 2, holds(0)), []answer{free, free}},
		{"anti-affinity: no key", anti(2).running(1, 1), keyless, []answer{free, blockedBy(0)}},
		{"anti-affinity: a wish", anti(2).running(1, 1).wish(1), class(1, 2, self(0)), []answer{free, free}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, ask(newPlanner(compile(problem([]Rule{c.rule}, c.class))), 0))
		})
	}
}

func TestAdmitsTheLeastOfAllRules(t *testing.T) {
	rules := []Rule{spread(4, 2), spread(2, 2), anti(2)}
	s := newPlanner(compile(problem(rules, class(1, 2, self(0), self(1), holds(2)), class(1, 2, seen(2)))))
	assert.Equal(t, []answer{{n: 2, rule: -1}, {n: 2, rule: -1}}, ask(s, 0))
	other, _ := s.of(1)
	s.counts.add(other[1].terms, 1)
	assert.Equal(t, []answer{{n: 2, rule: -1}, {rule: 2}}, ask(s, 0))
}

func TestAdmitsSeveralAffinities(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []Rule
		links []Link
		want  []answer
	}{
		{"all new", []Rule{affinity(2), affinity(2)}, []Link{self(0), self(1)}, []answer{{1, -1, true}, {1, -1, true}}},
		{"one is not its own", []Rule{affinity(2), affinity(2)}, []Link{self(0), holds(1)}, []answer{{rule: 1}, {rule: 1}}},
		{"one runs here", []Rule{affinity(2).running(1, 0), affinity(2)}, []Link{self(0), self(1)}, []answer{{rule: 1}, {rule: 0}}},
		{"both run, apart", []Rule{affinity(2).running(1, 0), affinity(2).running(0, 1)}, []Link{self(0), self(1)}, []answer{{rule: 1}, {rule: 0}}},
		{"both run here", []Rule{affinity(2).running(1, 0), affinity(2).running(1, 0)}, []Link{self(0), self(1)}, []answer{{n: many, rule: -1}, {rule: 0}}},
		{"one runs where nobody can go", []Rule{{Kind: Affinity, Domains: make([]Domain, 2), Total: 1}, affinity(2)}, []Link{self(0), self(1)}, []answer{{rule: 0}, {rule: 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, ask(newPlanner(compile(problem(c.rules, class(1, 2, c.links...)))), 0))
		})
	}
}

// TestCountsKeepTheMinimum adds pods at random and compares what is kept up to date
// with what is counted anew.
func TestCountsKeepTheMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	eachRandom(6, 200, func(round int, p *Problem) {
		table := compile(p)
		s := newCounts(table)
		for r := range p.Rules {
			s.restart(int32(r), table.eligible)
		}
		if len(table.cells) == 0 {
			return
		}
		for range 20 {
			s.add(table.cells[rng.IntN(len(table.cells))].terms, int64(1+rng.IntN(3)))
		}
		for r := range p.Rules {
			low, lows, size := s.low[r], s.lows[r], s.size[r]
			if p.Rules[r].Kind != Spread {
				continue
			}
			s.measure(int32(r))
			require.Equal(t, s.low[r], low, "round %d: rule %d", round, r)
			require.Equal(t, s.lows[r], lows, "round %d: rule %d", round, r)
			require.Equal(t, s.size[r], size, "round %d: rule %d", round, r)
		}
	})
}

// TestAdmitsAgreesWithReading puts pods anywhere, allowed or not, and compares what the
// counts say about one more with a reading of the rules.
func TestAdmitsAgreesWithReading(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 4))
	for round := range 2500 {
		p := randomProblem(rng, shape{pods: 9, classes: 5, places: 4, rules: 4, bins: 1, wishes: true})
		counts := make([][]int64, len(p.Classes))
		for c := range counts {
			counts[c] = make([]int64, len(p.Classes[c].Sites))
			for s := range counts[c] {
				counts[c][s] = max(0, int64(rng.IntN(5)-2))
			}
		}
		plain := newNaive(p, counts)
		plain.bindAll(counts)
		table := compile(p)
		r := newReplay(table)
		for rule := range p.Rules {
			r.counts.restart(int32(rule), table.eligible)
		}
		for i := range table.cells {
			if n := counts[table.cells[i].class][table.cells[i].site]; n > 0 {
				r.counts.stand(table.cells[i].terms)
				r.counts.add(table.cells[i].terms, n)
			}
		}
		for rule := range p.Rules {
			r.counts.measure(int32(rule))
		}
		for i := range table.cells {
			c := &table.cells[i]
			// The reading has it that the pod's own machine stands.
			if counts[c.class][c.site] == 0 {
				continue
			}
			n, _, _ := r.counts.admits(c.terms)
			require.Equal(t, plain.allows(int(c.class), int(c.site)), n > 0, "round %d: class %d at site %d\n%+v\n%v",
				round, c.class, c.site, p, counts)
		}
	}
}
