package requirements

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// R11–R15: every pair of operators. Row ∩ column; the table is symmetric, and
// both orders are checked.
func TestIntersectTable(t *testing.T) {
	operands := []Requirement{
		MustNew("k", In, "1", "5"),
		MustNew("k", NotIn, "5", "9"),
		MustNew("k", Exists),
		MustNew("k", DoesNotExist),
		MustNew("k", Gt, "4"),
		MustNew("k", Lt, "6"),
		MustNew("k", Gte, "5"),
		MustNew("k", Lte, "5"),
	}
	table := [][]string{
		{"In [1 5]"},
		{"In [1]", "NotIn [5 9]"},
		{"In [1 5]", "Exists NotIn [5 9]", "Exists"},
		{"In []", "DoesNotExist", "In []", "DoesNotExist"},
		{"In [5]", "NotIn [5 9] >=5", "Exists >=5", "In []", "Exists >=5"},
		{"In [1 5]", "NotIn [5] <=5", "Exists <=5", "In []", "Exists >=5 <=5", "Exists <=5"},
		{"In [5]", "NotIn [5 9] >=5", "Exists >=5", "In []", "Exists >=5", "Exists >=5 <=5", "Exists >=5"},
		{"In [1 5]", "NotIn [5] <=5", "Exists <=5", "In []", "Exists >=5 <=5", "Exists <=5", "Exists >=5 <=5", "Exists <=5"},
	}
	for i, row := range table {
		for j, want := range row {
			a, b := operands[i], operands[j]
			assert.Equal(t, "k "+want, a.Intersect(b).String(), "%s ∩ %s", a, b)
			assert.Equal(t, "k "+want, b.Intersect(a).String(), "%s ∩ %s", b, a)
			assert.Equal(t, want != "In []", a.Overlaps(b), "%s overlaps %s", a, b)
			assert.Equal(t, want != "In []", b.Overlaps(a), "%s overlaps %s", b, a)
		}
	}
}

// R20: always the same value, and always one that satisfies the requirement.
func TestAny(t *testing.T) {
	for _, tt := range []struct {
		r    Requirement
		want string
		ok   bool
	}{
		{MustNew("k", In, "c", "b"), "b", true},
		{MustNew("k", In, ""), "", true},
		{MustNew("k", Exists), "0", true},
		{MustNew("k", NotIn, "0", "1", "3"), "2", true},
		{MustNew("k", DoesNotExist), "", false},
		{meet(MustNew("k", In, "a"), MustNew("k", In, "b")), "", false},
		{MustNew("k", Gt, "41"), "42", true},
		{MustNew("k", Gt, "-10"), "0", true},
		{MustNew("k", Lt, "-10"), "-11", true},
		{meet(MustNew("k", Gte, "-2"), MustNew("k", Lte, "1"), MustNew("k", NotIn, "0", "1", "-1")), "-2", true},
		{meet(MustNew("k", Gte, "1"), MustNew("k", Lte, "2"), MustNew("k", NotIn, "1", "2")), "", false},
		{meet(MustNew("k", Gte, "7"), MustNew("k", NotIn, "7", "8")), "9", true},
		{meet(MustNew("k", Gte, "9223372036854775806"), MustNew("k", NotIn, "9223372036854775806")), "9223372036854775807", true},
	} {
		for range 3 {
			value, ok := tt.r.Any()
			assert.Equal(t, tt.want, value, tt.r.String())
			assert.Equal(t, tt.ok, ok, tt.r.String())
			assert.Equal(t, ok, tt.r.Has(value) && !tt.r.Empty(), tt.r.String())
		}
	}
}

func TestIntersectKeepsTheKeyThatIsThere(t *testing.T) {
	assert.Equal(t, "a", MustNew("a", Exists).Intersect(Requirement{}).Key())
	assert.Equal(t, "a", Requirement{}.Intersect(MustNew("a", Exists)).Key())
	assert.Equal(t, "a", MustNew("a", Exists).Intersect(MustNew("b", Exists)).Key())
}
