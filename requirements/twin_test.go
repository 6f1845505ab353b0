package requirements

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/soak"
)

// clause is one operator with its operands, as a user would write it.
type clause struct {
	op     Operator
	values []string
}

// twin is the dumb second implementation: a list of clauses, each asked in turn.
type twin []clause

// satisfied asks every clause about a label value, or about a missing label.
func (tw twin) satisfied(value string, absent bool) bool {
	for _, c := range tw {
		if !c.satisfied(value, absent) {
			return false
		}
	}
	return true
}

func (c clause) satisfied(value string, absent bool) bool {
	if absent {
		return c.op == NotIn || c.op == DoesNotExist
	}
	switch c.op {
	case In:
		return slices.Contains(c.values, value)
	case NotIn:
		return !slices.Contains(c.values, value)
	case Exists:
		return true
	case DoesNotExist:
		return false
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return false
	}
	bound, err := strconv.ParseInt(c.values[0], 10, 64)
	if err != nil {
		return false
	}
	switch c.op {
	case Gt:
		return n > bound
	case Gte:
		return n >= bound
	case Lt:
		return n < bound
	default:
		return n <= bound
	}
}

// operands are the values and numbers that random clauses are made of.
var operands = func() []string {
	out := []string{"", "a", "b", "c-9"}
	for n := -2; n <= 12; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}()

// universe holds the operands, and one value of each kind that no clause mentions: a word, and integers beyond all
// bounds. So random clauses allow at least one value of the universe if they allow any.
var universe = append(slices.Clone(operands), "fresh", "-99", "99")

func randomClause(r *rand.Rand) clause {
	op := []Operator{In, NotIn, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte}[r.IntN(9)]
	c := clause{op: op}
	switch op {
	case In, NotIn:
		for range 1 + r.IntN(8) {
			c.values = append(c.values, operands[r.IntN(len(operands))])
		}
	case Gt, Lt, Gte, Lte:
		c.values = []string{strconv.Itoa(r.IntN(15) - 2)}
	}
	return c
}

// randomTwin returns up to four random clauses and the requirement made of them.
func randomTwin(r *rand.Rand) (twin, Requirement) {
	var tw twin
	req := Requirement{key: "k"}
	for range r.IntN(5) {
		c := randomClause(r)
		tw = append(tw, c)
		req = req.Intersect(MustNew("k", c.op, c.values...))
	}
	if r.IntN(4) == 0 {
		req = req.WithMinValues(r.IntN(4))
	}
	return tw, req
}

// same compares a requirement with its twin, everywhere in the universe.
func same(t *testing.T, tw twin, r Requirement) {
	t.Helper()
	some := false
	for _, v := range universe {
		want := tw.satisfied(v, false)
		some = some || want
		require.Equal(t, want, r.Has(v), "%s has %q, clauses %v", r, v, tw)
	}
	for _, v := range []string{"01", "+7", "007", "-0", "1.0", " 1"} {
		require.Equal(t, tw.satisfied(v, false), r.Has(v), "%s has %q, clauses %v", r, v, tw)
	}
	absent := tw.satisfied("", true)
	require.Equal(t, absent, r.AllowsAbsent(), "%s absent, clauses %v", r, tw)
	require.Equal(t, !some, r.Empty(), "%s empty, clauses %v", r, tw)
	require.Equal(t, !some && !absent, r.Impossible(), "%s impossible, clauses %v", r, tw)
	value, ok := r.Any()
	require.Equal(t, some, ok, "%s any, clauses %v", r, tw)
	if ok {
		require.True(t, tw.satisfied(value, false), "%s any %q, clauses %v", r, value, tw)
	}
	valid(t, r)
}

// valid checks the invariants that the fields of Requirement promise.
func valid(t *testing.T, r Requirement) {
	t.Helper()
	require.True(t, slices.IsSorted(r.values), "%s sorted", r)
	require.Len(t, slices.Compact(slices.Clone(r.values)), len(r.values), "%s without duplicates", r)
	if r.listed && len(r.values) > 0 || r.numeric {
		require.True(t, r.present, "%s present", r)
	}
	if r.numeric {
		require.False(t, r.listed, "%s listed", r)
		require.LessOrEqual(t, r.lower, r.upper, "%s bounds", r)
		for _, v := range r.values {
			require.True(t, r.within(v), "%s excludes %q outside its bounds", r, v)
		}
	} else {
		require.Zero(t, r.lower, "%s lower", r)
		require.Zero(t, r.upper, "%s upper", r)
	}
	require.GreaterOrEqual(t, r.minValues, 0)
}

// R9, R11–R20 against the twin.
func TestAgainstTwin(t *testing.T) {
	first, pairs := soak.Window(10_000)
	r := rand.New(rand.NewPCG(1+uint64(first), 51))
	overlaps := 0
	for range pairs {
		twinA, a := randomTwin(r)
		twinB, b := randomTwin(r)
		same(t, twinA, a)

		both := append(slices.Clone(twinA), twinB...)
		product := a.Intersect(b)
		same(t, both, product)

		want := both.satisfied("", true) || slices.ContainsFunc(universe, func(v string) bool { return both.satisfied(v, false) })
		require.Equal(t, want, a.Overlaps(b), "%s overlaps %s", a, b)
		require.Equal(t, want, b.Overlaps(a), "%s overlaps %s", b, a)
		require.Equal(t, max(a.MinValues(), b.MinValues()), product.MinValues())
		if want {
			overlaps++
		}
	}
	require.Greater(t, overlaps, pairs/10, "the generator makes pairs that overlap")
	require.Less(t, overlaps, pairs*9/10, "the generator makes pairs that do not overlap")
}

// The laws hold for the representation, not only for its meaning.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 51))
	anything, none := Requirement{key: "k"}, nothing("k")
	for range 20_000 {
		_, a := randomTwin(r)
		_, b := randomTwin(r)
		_, c := randomTwin(r)
		equal := func(x, y Requirement, law string) {
			t.Helper()
			require.True(t, x.Equal(y), "%s: %s ≠ %s for %s | %s | %s", law, x, y, a, b, c)
		}
		equal(a.Intersect(b), b.Intersect(a), "commutative")
		equal(a.Intersect(b).Intersect(c), a.Intersect(b.Intersect(c)), "associative")
		equal(a.Intersect(a), a, "idempotent")
		equal(a.Intersect(anything), a, "identity")
		equal(a.Intersect(none), none.WithMinValues(a.MinValues()), "absorption")
		equal(a.Intersect(b).Intersect(a), a.Intersect(b), "narrowing")
		require.Equal(t, a.Overlaps(b), !a.Intersect(b).Impossible(), "%s overlaps %s", a, b)
		if a.Intersect(b).Overlaps(c) {
			require.True(t, a.Overlaps(c), "%s overlaps %s", a, c)
		}
	}
}

// R22: every form reads back to the same requirement.
func TestFormsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 51))
	for range 20_000 {
		_, req := randomTwin(r)
		back, err := Parse(req.String())
		require.NoError(t, err)
		require.True(t, back.Equal(req), "%s read back as %s", req, back)

		set, err := FromSelectors(req.Selector())
		require.NoError(t, err)
		require.True(t, set.Equal(NewSet(req)), "%s came back as %s", req, set)
	}
}
