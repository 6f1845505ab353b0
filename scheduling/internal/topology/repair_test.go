package topology

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOrder(t *testing.T) {
	rules := []Rule{spread(1, 3), anti(3), spread(1, 3).preference(1)}
	large := class(1, 3, self(0))
	large.Request = []int64{5}
	p := problem(rules,
		class(1, 3, self(0)),
		large,
		class(1, 3, self(0), self(1)),
		class(1, 3, self(0)).at(1),
		class(1, 3, seen(0), self(2)),
		class(1, 3, self(0)).priority(1),
		class(1, 3, self(0)).limits(0, 0))
	assert.Equal(t, []int32{5, 4, 3, 6, 2, 1, 0}, choosingOrder(compile(p)),
		"priority, those that hold nothing hard, fewest sites, most rules, largest request")
}

// TestRetry is about problems that cannot be solved class by class in the first order.
func TestRetry(t *testing.T) {
	check(t, []planCase{
		{
			name: "a zone is left for the class that cannot go elsewhere",
			p: problem([]Rule{anti(3), spread(1, 3)},
				class(1, 3, self(0), self(1)).at(0, 1).costs(1, 9), class(1, 3, seen(0)).at(0)),
			want: [][]int64{{0, 1}, {1}},
		},
		{
			name: "counted pods are evened out for those that can go to one zone only",
			p: problem([]Rule{spread(1, 2).running(0, 0)},
				class(2, 2, holds(0)).at(0), class(6, 2, seen(0)).costs(1, 2)),
			want: [][]int64{{2}, {3, 3}},
		},
		{
			name: "a preference gives way to what others need, also across priorities",
			p: problem([]Rule{affinity(2)},
				class(3, 2, seen(0)).penalties(0, 7).priority(3), class(1, 2, holds(0)).at(1)),
			want: [][]int64{{2, 1}, {1}},
		},
		{
			name: "nothing helps: four pods that keep each other away, three zones (P126)",
			p:    problem([]Rule{anti(3)}, class(2, 3, self(0)), class(2, 3, self(0)).priority(1)),
			want: [][]int64{{0, 0, 1}, {1, 1, 0}},
		},
	})
}
