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

func TestIntersectCases(t *testing.T) {
	for _, tt := range []struct {
		name string
		reqs []Requirement
		want string
	}{
		{"R12 exclusions unite", []Requirement{MustNew("k", NotIn, "c", "a"), MustNew("k", NotIn, "b", "a", "d")}, "k NotIn [a b c d]"},
		{"R12 lists intersect", []Requirement{MustNew("k", In, "a", "b", "c"), MustNew("k", In, "c", "d", "b")}, "k In [b c]"},
		{"R12 list less exclusions", []Requirement{MustNew("k", In, "a", "b", "c"), MustNew("k", NotIn, "b")}, "k In [a c]"},
		{"R13 bounds contradict", []Requirement{MustNew("k", Gt, "5"), MustNew("k", Lt, "5")}, "k In []"},
		{"R13 one integer is left", []Requirement{MustNew("k", Gt, "4"), MustNew("k", Lt, "6")}, "k Exists >=5 <=5"},
		{"R13 no integer between neighbours", []Requirement{MustNew("k", Gt, "5"), MustNew("k", Lt, "6")}, "k In []"},
		{"R13 bounds are used up by a list", []Requirement{MustNew("k", Gt, "1"), MustNew("k", In, "1", "2", "x")}, "k In [2]"},
		{"R13 and used up for good", []Requirement{MustNew("k", Gt, "1"), MustNew("k", In, "1", "2"), MustNew("k", Lt, "9")}, "k In [2]"},
		{"R14 exclusions outside the bounds", []Requirement{MustNew("k", NotIn, "1", "2"), MustNew("k", Gt, "1")}, "k NotIn [2] >=2"},
		{"R14 exclusions that are no integers", []Requirement{MustNew("k", NotIn, "a", "2"), MustNew("k", Gte, "0")}, "k NotIn [2] >=0"},
		{"R14 exclusions outside later bounds", []Requirement{MustNew("k", NotIn, "5", "9"), MustNew("k", Gte, "1"), MustNew("k", Lte, "7")}, "k NotIn [5] >=1 <=7"},
		{"R15 zero value is the identity", []Requirement{{}, MustNew("k", In, "a"), {}}, "k In [a]"},
		{"R15 DoesNotExist leaves no value", []Requirement{MustNew("k", DoesNotExist), MustNew("k", NotIn, "a")}, "k DoesNotExist"},
		{"R15 nothing is left of DoesNotExist and Exists", []Requirement{MustNew("k", DoesNotExist), MustNew("k", Exists)}, "k In []"},
		{"R15 nothing stays nothing", []Requirement{MustNew("k", In, "a"), MustNew("k", In, "b"), MustNew("k", DoesNotExist)}, "k In []"},
		{"R16 larger floor", []Requirement{MustNew("k", Exists).WithMinValues(2), MustNew("k", Exists).WithMinValues(5)}, "k Exists minValues 5"},
		{"R16 one floor", []Requirement{MustNew("k", Exists).WithMinValues(2), MustNew("k", In, "a")}, "k In [a] minValues 2"},
		{"R17 floor of nothing", []Requirement{MustNew("k", In, "a").WithMinValues(1), MustNew("k", In, "b").WithMinValues(3)}, "k In [] minValues 3"},
		{"R17 floor of contradicting bounds", []Requirement{MustNew("k", Gt, "5").WithMinValues(4), MustNew("k", Lt, "5")}, "k In [] minValues 4"},
		{"R18 Gt 5 Gte 6", []Requirement{MustNew("k", Gt, "5"), MustNew("k", Gte, "6")}, "k Exists >=6"},
		{"R18 Gt 10 Gte 6", []Requirement{MustNew("k", Gt, "10"), MustNew("k", Gte, "6")}, "k Exists >=11"},
		{"R18 Gt 5 Gte 10", []Requirement{MustNew("k", Gt, "5"), MustNew("k", Gte, "10")}, "k Exists >=10"},
		{"R18 Lt 10 Lte 9", []Requirement{MustNew("k", Lt, "10"), MustNew("k", Lte, "9")}, "k Exists <=9"},
		{"R18 Lt 10 Lte 12", []Requirement{MustNew("k", Lt, "10"), MustNew("k", Lte, "12")}, "k Exists <=9"},
		{"R18 Lt 10 Lte 5", []Requirement{MustNew("k", Lt, "10"), MustNew("k", Lte, "5")}, "k Exists <=5"},
		{"R19 used up range keeps its form", []Requirement{MustNew("k", Gte, "1"), MustNew("k", Lte, "2"), MustNew("k", NotIn, "1", "2")}, "k NotIn [1 2] >=1 <=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, meet(tt.reqs...).String())
			var back Requirement
			for i := range tt.reqs {
				back = back.Intersect(tt.reqs[len(tt.reqs)-1-i])
			}
			assert.Equal(t, tt.want, back.String(), "in the other order")
		})
	}
}

// R19: overlap is exact, and agrees with the intersection.
func TestOverlapsIsExact(t *testing.T) {
	between := func(lower, upper string, not ...string) Requirement {
		return meet(MustNew("k", Gte, lower), MustNew("k", Lte, upper), MustNew("k", NotIn, not...))
	}
	for _, tt := range []struct {
		a, b Requirement
		want bool
	}{
		{between("1", "2"), MustNew("k", NotIn, "1", "2"), false},
		{between("1", "2"), MustNew("k", NotIn, "1"), true},
		{between("1", "3", "1"), between("1", "3", "2", "3"), false},
		{between("1", "3", "1", "2"), between("1", "3", "2"), true},
		{between("1", "4"), between("3", "9", "3", "4"), false},
		{between("1", "4"), between("3", "9", "3", "5", "6", "7"), true},
		{MustNew("k", Lt, "-9223372036854775807"), MustNew("k", NotIn, "-9223372036854775808"), false},
		{MustNew("k", Gte, "1"), MustNew("k", NotIn, "1", "2"), true},
		{between("1", "2", "1", "2"), MustNew("k", In, "1", "2", "3"), false},
		{between("1", "2", "1", "2"), MustNew("k", In, "01"), true}, // a label that kube-scheduler would accept
		{between("1", "1", "01"), MustNew("k", Exists), true},       // "1" itself is not excluded
		{MustNew("k", NotIn, "a"), MustNew("k", DoesNotExist), true},
		{MustNew("k", DoesNotExist), MustNew("k", DoesNotExist), true},
		{meet(MustNew("k", Exists), MustNew("k", NotIn, "a")), MustNew("k", DoesNotExist), false},
		{between("1", "9", "5"), MustNew("k", DoesNotExist), false},
	} {
		assert.Equal(t, tt.want, tt.a.Overlaps(tt.b), "%s | %s", tt.a, tt.b)
		assert.Equal(t, tt.want, tt.b.Overlaps(tt.a), "%s | %s", tt.b, tt.a)
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
