package requirements

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parseSet is ParseSet for text known to be valid.
func parseSet(t *testing.T, text string) Set {
	t.Helper()
	s, err := ParseSet(text)
	require.NoError(t, err)
	return s
}

// R23: same key twice intersects, inputs stay, a missing key is free.
func TestSetBasics(t *testing.T) {
	a := NewSet(MustNew("b", In, "1", "2"), MustNew("a", Exists), MustNew("b", In, "2", "3"))
	assert.Equal(t, "a Exists, b In [2]", a.String())
	assert.Equal(t, []string{"a", "b"}, a.Keys())
	assert.Equal(t, 2, a.Len())
	assert.True(t, a.Has("a"))
	assert.False(t, a.Has("c"))
	assert.Equal(t, "c NotIn []", a.Get("c").String())
	assert.Equal(t, "b In [2]", a.Get("b").String())

	b := a.With(MustNew("c", Gt, "5"))
	assert.Equal(t, "a Exists, b In [2], c Exists >=6", b.String())
	assert.Equal(t, "a Exists, b In [2], c Exists >=6 <=7", b.With(MustNew("c", Lte, "7")).String())
	assert.Equal(t, "a In [x], b In [], c DoesNotExist",
		a.With(MustNew("c", DoesNotExist), MustNew("a", In, "x"), MustNew("b", NotIn, "2")).String())
	assert.Equal(t, "c Exists >=6", b.Without("a", "b", "z").String())
	assert.Equal(t, "a Exists, b In [2], c Exists >=6", b.String(), "the receiver stays as it is")
	assert.Equal(t, "a Exists, b In [2]", a.String(), "the receiver stays as it is")

	var keys []string
	for r := range b.All() {
		keys = append(keys, r.Key())
		if len(keys) == 2 {
			break
		}
	}
	assert.Equal(t, []string{"a", "b"}, keys)

	assert.False(t, b.Impossible())
	assert.True(t, b.With(MustNew("b", In, "9")).Impossible())
	assert.True(t, a.Equal(NewSet(slices.Collect(a.All())...)))
	assert.False(t, a.Equal(b))
}

// R23, R25: no slice or map of the caller is kept or changed.
func TestSetSharesNoMemory(t *testing.T) {
	reqs := []Requirement{MustNew("b", In, "1"), MustNew("a", In, "1"), MustNew("b", In, "1", "2")}
	before := slices.Clone(reqs)
	s := NewSet(reqs...)
	one := NewSet(reqs[:1]...)
	assert.True(t, slices.EqualFunc(before, reqs, Requirement.Equal))
	reqs[0], reqs[1] = MustNew("z", Exists), MustNew("z", Exists)
	assert.Equal(t, "a In [1], b In [1]", s.String())
	assert.Equal(t, "b In [1]", one.String())

	s.Keys()[0] = "changed"
	assert.Equal(t, []string{"a", "b"}, s.Keys())

	// Two sets grown from one must not write into each other.
	left, right := s.With(MustNew("c", In, "l")), s.With(MustNew("c", In, "r"))
	assert.Equal(t, "a In [1], b In [1], c In [l]", left.String())
	assert.Equal(t, "a In [1], b In [1], c In [r]", right.String())
}

// R23, R38–R40.
func TestFromLabels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		labels map[string]string
		want   string
	}{
		{"nil", nil, ""},
		{"plain", map[string]string{"b": "2", "a": ""}, `a In [""], b In [2]`},
		{"alias", map[string]string{"beta.kubernetes.io/arch": "arm64"}, "kubernetes.io/arch In [arm64]"},
		{
			"alias and stable key agree",
			map[string]string{"failure-domain.beta.kubernetes.io/zone": "a", "topology.kubernetes.io/zone": "a"},
			"topology.kubernetes.io/zone In [a]",
		},
		{
			"alias and stable key contradict",
			map[string]string{"failure-domain.beta.kubernetes.io/zone": "a", "topology.kubernetes.io/zone": "b"},
			"topology.kubernetes.io/zone In []",
		},
		{
			"driver that knows no zone",
			map[string]string{"topology.disk.csi.azure.com/zone": "", "topology.kubernetes.io/zone": "1"},
			"topology.kubernetes.io/zone In [1]",
		},
		{
			"driver that knows no zone, alone",
			map[string]string{"topology.disk.csi.azure.com/zone": ""},
			"topology.kubernetes.io/zone In [0]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := maps.Clone(tt.labels)
			assert.Equal(t, tt.want, FromLabels(tt.labels).String())
			assert.Equal(t, before, tt.labels)
		})
	}
}

func TestMatches(t *testing.T) {
	node := map[string]string{
		"kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "cpu": "8", "zero": "00",
		"topology.disk.csi.azure.com/zone": "", "team": "",
	}
	for _, tt := range []struct {
		set  string
		want bool
	}{
		{"", true},
		{"kubernetes.io/arch In [amd64 arm64]", true},
		{"kubernetes.io/arch In [arm64]", false},
		{"kubernetes.io/arch In [amd64], cpu >4", true},
		{"kubernetes.io/arch In [amd64], cpu >8", false},
		{"cpu >=8 <=8", true},
		{"zero <1", true},
		{"team <1", false},
		{"team In [\"\"]", true},
		{"missing NotIn [a]", true},
		{"missing DoesNotExist", true},
		{"missing Exists", false},
		{"missing Exists NotIn [a]", false},
		{"missing >0 NotIn [5]", false},
		{"missing In [a]", false},
		{"missing In []", false},
		{"missing NotIn []", true},
		{"team DoesNotExist", false},
		{"kubernetes.io/os In [linux]", true},
		{"kubernetes.io/os DoesNotExist", false},
		{"topology.kubernetes.io/zone In [0]", true},
		{"topology.disk.csi.azure.com/zone In [\"\"]", true},
		{"beta.kubernetes.io/instance-type DoesNotExist", true},
	} {
		assert.Equal(t, tt.want, parseSet(t, tt.set).Matches(node), tt.set)
	}
	assert.False(t, parseSet(t, "a Exists").Matches(nil))
	assert.True(t, parseSet(t, "a NotIn [x]").Matches(nil))
}

// The laws of sets, and the same set from any order of arguments.
func TestSetLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 51))
	random := func() []Requirement {
		var reqs []Requirement
		for range r.IntN(6) {
			_, req := randomTwin(r)
			req.key = string(rune('a' + r.IntN(4)))
			reqs = append(reqs, req)
		}
		return reqs
	}
	for range 5_000 {
		reqs := random()
		a, b, c := NewSet(reqs...), NewSet(random()...), NewSet(random()...)
		r.Shuffle(len(reqs), func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
		require.True(t, NewSet(reqs...).Equal(a), "order of arguments")
		require.True(t, a.Intersect(b).Equal(b.Intersect(a)), "commutative: %s | %s", a, b)
		require.True(t, a.Intersect(b).Intersect(c).Equal(a.Intersect(b.Intersect(c))), "associative: %s | %s | %s", a, b, c)
		require.True(t, a.Intersect(a).Equal(a), "idempotent: %s", a)
		require.True(t, a.Intersect(Set{}).Equal(a), "identity: %s", a)
		require.True(t, a.With(slices.Collect(b.All())...).Equal(a.Intersect(b)), "With is Intersect: %s | %s", a, b)
		require.True(t, slices.IsSorted(a.Keys()))

		back, err := ParseSet(a.String())
		require.NoError(t, err)
		require.True(t, back.Equal(a), "%s read back as %s", a, back)
		entries, err := FromSelectors(a.Selectors())
		require.NoError(t, err)
		require.True(t, entries.Equal(a), "%s came back as %s", a, entries)

		labels := map[string]string{}
		for _, key := range []string{"a", "b", "c", "d"} {
			if r.IntN(3) > 0 {
				labels[key] = operands[r.IntN(len(operands))]
			}
		}
		require.Equal(t, a.Matches(labels) && b.Matches(labels), a.Intersect(b).Matches(labels), "%s | %s | %v", a, b, labels)
		// A node matches the sets with which its labels are strictly compatible.
		require.Equal(t, a.Matches(labels), FromLabels(labels).Compatible(a) == nil, "%s | %v", a, labels)
		if a.Matches(labels) && b.Matches(labels) {
			require.NoError(t, a.Overlaps(b))
		}
	}
}
