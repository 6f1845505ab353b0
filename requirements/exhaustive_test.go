package requirements

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every pair of two-clause requirements over a few operands, R9 to R20 again:
// what random pairs may miss, this does not.
func TestExhaustivePairs(t *testing.T) {
	clauses := []clause{
		{In, []string{"1"}}, {In, []string{"2"}}, {In, []string{"1", "2"}}, {In, []string{"a", "2"}},
		{NotIn, []string{"1"}}, {NotIn, []string{"2"}}, {NotIn, []string{"1", "2"}}, {NotIn, []string{"a"}},
		{Exists, nil}, {DoesNotExist, nil},
		{Gt, []string{"0"}}, {Gt, []string{"1"}}, {Gt, []string{"2"}},
		{Gte, []string{"1"}}, {Gte, []string{"2"}}, {Gte, []string{"3"}},
		{Lt, []string{"1"}}, {Lt, []string{"2"}}, {Lt, []string{"3"}},
		{Lte, []string{"0"}}, {Lte, []string{"1"}}, {Lte, []string{"2"}},
	}
	type entry struct {
		tw twin
		r  Requirement
	}
	var all []entry
	for _, x := range clauses {
		for _, y := range clauses {
			r := MustNew("k", x.op, x.values...).Intersect(MustNew("k", y.op, y.values...))
			tw := twin{x, y}
			same(t, tw, r)
			all = append(all, entry{tw, r})
		}
	}
	values := []string{"-9", "0", "1", "2", "3", "9", "a", "b"}
	for _, a := range all {
		for _, b := range all {
			want := a.tw.satisfied("", true) && b.tw.satisfied("", true) || slices.ContainsFunc(values, func(v string) bool {
				return a.tw.satisfied(v, false) && b.tw.satisfied(v, false)
			})
			if want != a.r.Overlaps(b.r) || want == a.r.Intersect(b.r).Impossible() {
				require.Fail(t, "overlap differs", "%s | %s: want %v", a.r, b.r, want)
			}
		}
	}
}
