package consolidation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func at(moved int, price string, nodes int) Point {
	return Point{Moved: moved, Price: offerings.MustPrice(price), Nodes: nodes}
}

func course(who string, spent time.Duration, points ...Point) Course {
	return Course{Planner: who, Points: points, Expense: peer.Expense{Elapsed: spent, CPU: spent / 2, Allocated: 3e6}, First: spent / 10}
}

func match(seed uint64, courses ...Course) Match {
	return Match{Kind: "9 nodes, budget 100%", Seed: seed, Nodes: 9, Pods: 50, Bound: offerings.MustPrice("4"), Courses: courses}
}

func TestBest(t *testing.T) {
	dear := course("dear", time.Second, at(0, "9", 9), at(1, "6", 5))
	moves := course("moves", time.Second, at(0, "9", 9), at(3, "5", 5))
	slow := course("slow", 2*time.Second, at(0, "9", 9), at(2, "5", 5))
	best := course("best", time.Second, at(0, "9", 9), at(2, "5", 5))
	for _, order := range [][]Course{{dear, moves, slow, best}, {best, slow, moves, dear}, {slow, dear, best, moves}} {
		assert.Equal(t, "best", Best(order).Planner)
	}
	assert.Equal(t, 1, best.Steps())
	assert.Equal(t, at(0, "9", 9), best.Begin())
	assert.Equal(t, at(2, "5", 5), best.End())
}

func TestTable(t *testing.T) {
	theirs := course("karpenter", 30*time.Second, at(0, "9", 9), at(3, "7", 6), at(20, "6", 4))
	ours := course("plimsoll", 200*time.Millisecond, at(0, "9", 9), at(4, "6", 5), at(15, "4.4", 3))
	text := Table([]Match{match(1, theirs, ours), match(2, theirs, ours)})
	assert.Equal(t, head()+`| 2 × 9 nodes, budget 100%, 100 pods | karpenter | 18.000 | 12.000 | 50.0 % | 18 → 8 | 40 | 4 | 60 s | 3 s | 30 s | 6 MB | 40 |
|  | plimsoll | 18.000 | 8.800 | 10.0 % | 18 → 6 | 30 | 4 | 400 ms | 20 ms | 200 ms | 6 MB | 8 |
`, text)
	lines := strings.Split(text, "\n")
	assert.Equal(t, strings.Count(lines[0], "|"), strings.Count(lines[2], "|"))

	lazy := course("plimsoll", time.Second, at(0, "9", 9))
	other := match(3, theirs)
	other.Kind = "9 nodes, budget 10%"
	text = Table([]Match{match(1, theirs, lazy), match(2, theirs, ours), other})
	assert.Contains(t, text, "|  | plimsoll | 18.000 | 13.400 | 67.5 % | 18 → 12 | 15 | 2 | 1.2 s | 100 ms | 600 ms | 6 MB | not on 1 |\n")
	assert.Contains(t, text, "| 1 × 9 nodes, budget 10%, 50 pods | karpenter |")
}

func TestBroken(t *testing.T) {
	theirs := course("karpenter", time.Second, at(0, "9", 9), at(20, "6", 4))
	for name, tc := range map[string]struct {
		ours Course
		want []string
	}{
		"kept":             {course("plimsoll", 0, at(0, "9", 9), at(20, "6", 4)), nil},
		"more moved later": {course("plimsoll", 0, at(0, "9", 9), at(19, "6", 4), at(40, "5", 3)), nil},
		"too dear":         {course("plimsoll", 0, at(0, "9", 9), at(10, "6.1", 4)), []string{"9 nodes, budget 100%, seed 7: plimsoll ends at 6.1, karpenter at 6"}},
		"too many moved":   {course("plimsoll", 0, at(0, "9", 9), at(21, "5", 3)), []string{"9 nodes, budget 100%, seed 7: plimsoll moves 21 pods to get down to 6, karpenter 20"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Broken(match(7, theirs, tc.ours), "plimsoll"))
		})
	}
	assert.Empty(t, Broken(match(7, theirs), "plimsoll"))
	assert.Empty(t, Broken(match(7, course("plimsoll", 0, at(0, "9", 9))), "plimsoll"))
}
