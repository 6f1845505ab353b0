package requirements

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// R27–R31: the offer of a receiver (row) against the demand of an argument (column), in strict mode. "x" stands for a
// conflict.
func TestCompatibleMatrix(t *testing.T) {
	columns := []string{"", "k Exists", "k DoesNotExist", "k In [A]", "k In [B]", "k In [A B]", "k NotIn [A]", "k >1", "k <9", "k >1 NotIn [5]", "k Exists NotIn [A]", "k In []"}
	matrix := []struct {
		row  string
		want string
	}{
		//                   -  Ex DN A  B  AB nA >1 <9 >n En no
		{"", "                .  x  .  x  x  x  .  x  x  x  x  x"},
		{"k Exists", "        .  .  x  .  .  .  .  .  .  .  .  x"},
		{"k DoesNotExist", "  .  x  .  x  x  x  .  x  x  x  x  x"},
		{"k In [A]", "        .  .  x  .  x  .  x  x  x  x  x  x"},
		{"k In [B]", "        .  .  x  x  .  .  .  x  x  x  .  x"},
		{"k In [A B]", "      .  .  x  .  .  .  .  x  x  x  .  x"},
		{"k NotIn [A]", "     .  .  .  x  .  .  .  .  .  .  .  x"},
		{"k >1", "            .  .  x  x  x  x  .  .  .  .  .  x"},
		{"k <9", "            .  .  x  x  x  x  .  .  .  .  .  x"},
		{"k In [1]", "        .  .  x  x  x  x  .  x  .  x  .  x"},
		{"k In [5]", "        .  .  x  x  x  x  .  .  .  x  .  x"},
		{"k In [9]", "        .  .  x  x  x  x  .  .  x  .  .  x"},
	}
	for _, m := range matrix {
		have := parseSet(t, m.row)
		want := strings.Fields(m.want)
		require.Len(t, want, len(columns))
		for i, column := range columns {
			ask := parseSet(t, column)
			err := have.Compatible(ask)
			assert.Equal(t, want[i] == ".", err == nil, "%q.Compatible(%q): %v", m.row, column, err)
			if err != nil {
				var conflict *Conflict
				require.ErrorAs(t, err, &conflict)
				assert.Equal(t, "k", conflict.Key)
				assert.True(t, conflict.Left.Equal(have.Get("k")))
				assert.True(t, conflict.Right.Equal(ask.Get("k")))
			}
			// The symmetric check only looks at keys of both.
			symmetric := m.row == "" || column == "" || want[i] == "."
			assert.Equal(t, symmetric, have.Overlaps(ask) == nil, "%q.Overlaps(%q)", m.row, column)
			assert.Equal(t, symmetric, ask.Overlaps(have) == nil, "%q.Overlaps(%q)", column, m.row)
		}
	}
}

// R32, R33, R36: who may leave a key undefined.
func TestCompatibleAllowUndefined(t *testing.T) {
	const zone, custom, id = "topology.kubernetes.io/zone", "example.com/team", "karpenter.k8s.aws/capacity-reservation-id"
	for _, tt := range []struct {
		name       string
		have, ask  string
		strict, ok bool
	}{
		{"well-known key", "", zone + " In [a]", false, true},
		{"alias of a well-known key", "", "failure-domain.beta.kubernetes.io/zone In [a]", false, true},
		{"well-known key, defined otherwise", zone + " In [b]", zone + " In [a]", false, false},
		{"reservation on one side", "", id + " In [r-1]", false, true},
		{"reservation on the other side", id + " In [r-1]", "", true, true},
		{"custom key In", "", custom + " In [web]", false, false},
		{"custom key Exists", "", custom + " Exists", false, false},
		{"custom key Gt", "", custom + " >1", false, false},
		{"custom key Lt", "", custom + " <1", false, false},
		{"custom key NotIn", "", custom + " NotIn [web]", true, true},
		{"custom key DoesNotExist", "", custom + " DoesNotExist", true, true},
		{"custom key, pool lets pods choose (R34)", custom + " Exists", custom + " In [web]", true, true},
		{"well-known key, contradiction", "", zone + " In []", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			have, ask := parseSet(t, tt.have), parseSet(t, tt.ask)
			assert.Equal(t, tt.strict, have.Compatible(ask) == nil)
			assert.Equal(t, tt.ok, have.Compatible(ask, WellKnown()) == nil)
			assert.Equal(t, tt.ok, have.Compatible(ask, NewKeySet("other"), WellKnown()) == nil)
		})
	}
	require.NoError(t, Set{}.Compatible(parseSet(t, custom+" In [web]"), WellKnown().With(custom)))
}

// Every conflict comes out, in the order of the keys.
func TestConflictsAreComplete(t *testing.T) {
	have := parseSet(t, "a In [1], b >5, d DoesNotExist")
	ask := parseSet(t, "a In [2], b <=5, c Exists, d NotIn [x]")
	err := have.Compatible(ask)
	require.EqualError(t, err, `label "a": In [1] does not overlap In [2]`+"\n"+
		`label "b": Gt 5 does not overlap Lt 6`+"\n"+
		`label "c" is required (Exists) but not defined`)
	require.EqualError(t, have.Overlaps(ask), `label "a": In [1] does not overlap In [2]`+"\n"+
		`label "b": Gt 5 does not overlap Lt 6`)

	var joined interface{ Unwrap() []error }
	require.ErrorAs(t, err, &joined)
	require.Len(t, joined.Unwrap(), 3)
	for _, e := range joined.Unwrap() {
		var conflict *Conflict
		require.ErrorAs(t, e, &conflict)
		assert.Equal(t, conflict.Key == "c", conflict.Undefined)
	}
}

func TestConflictText(t *testing.T) {
	for _, tt := range []struct{ have, ask, want string }{
		{
			"k In [a b c d e f g]", "k In [x]",
			`label "k": In [a b c d e and 2 more] does not overlap In [x]`,
		},
		{"k In [a]", "k In []", `label "k": nothing satisfies In []`},
		{"k In []", "k In [a]", `label "k": nothing satisfies In []`},
		{"k DoesNotExist", "k Exists", `label "k": DoesNotExist does not overlap Exists`},
		{"", "zone In [a]", `label "zone" is required (In [a]) but not defined; did you mean "topology.kubernetes.io/zone"?`},
		{"", "topology.kubernetes.io/zone In [a]", `label "topology.kubernetes.io/zone" is required (In [a]) but not defined`},
	} {
		require.EqualError(t, parseSet(t, tt.have).Compatible(parseSet(t, tt.ask)), tt.want)
	}
}

// R46.
func TestHints(t *testing.T) {
	for _, tt := range []struct{ have, key, want string }{
		{"", "zone", "topology.kubernetes.io/zone"},
		{"", "region", "topology.kubernetes.io/region"},
		{"", "nodepool", "karpenter.sh/nodepool"},
		{"", "instance-type", "node.kubernetes.io/instance-type"},
		{"", "arch", "kubernetes.io/arch"},
		{"", "os", "kubernetes.io/os"},
		{"", "capacity-type", "karpenter.sh/capacity-type"},
		{"", "topology.kubernetesio/zone", "topology.kubernetes.io/zone"},
		{"", "node.io/zone", "topology.kubernetes.io/zone"},
		{"", "topology.kubernetes.io/regio", "topology.kubernetes.io/region"},
		{"", "node.kubernetes.io/region", "topology.kubernetes.io/region"},
		{"", "karpenter/nodepool", "karpenter.sh/nodepool"},
		{"", "instance-family", "karpenter.k8s.aws/instance-family"},
		{"", "deployment", ""},
		{"", "example.com/deployment", ""},
		{"", "karpenter.k8s.aws/instance-cp", "karpenter.k8s.aws/instance-cpu"},
		{"", "karpenter.k8s.aws/instance-cpu", ""}, // spelled right, although a longer key contains it
		{"example.com/deployment Exists", "deployment", "example.com/deployment"},
		{"example.com/team Exists", "example.org/team", "example.com/team"},
		{"example.com/team-name Exists", "example.com/team", "example.com/team-name"},
		{"example.com/zone Exists", "zone", "example.com/zone"}, // the receiver's own keys go first
		{"", "k/", ""},
		{"", "c", ""}, // too short to resemble anything
		{"", "example.com/pe", ""},
	} {
		have := parseSet(t, tt.have)
		err := have.Compatible(NewSet(MustNew(tt.key, Exists)))
		var conflict *Conflict
		require.ErrorAs(t, err, &conflict, tt.key)
		assert.True(t, conflict.Undefined)
		assert.Equal(t, tt.want, conflict.Hint(), tt.key)
		assert.Equal(t, tt.want != "", strings.Contains(err.Error(), "did you mean"), tt.key)
	}
	var conflict *Conflict
	require.ErrorAs(t, parseSet(t, "zone In [a]").Overlaps(parseSet(t, "zone In [b]")), &conflict)
	assert.Empty(t, conflict.Hint(), "no hint where the key is defined")
}

// R28, R35: the symmetric check meets every key of both sides, wherever it
// stands, and no other; Compatible agrees where both define the same keys.
func TestOverlapsOfManyKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 51))
	random := func() Set {
		var s Set
		for _, key := range []string{"a", "b", "c", "d", "e"} {
			if r.IntN(2) == 0 {
				_, req := randomTwin(r)
				req.key = key
				s = s.With(req)
			}
		}
		return s
	}
	conflicts := 0
	for range 5_000 {
		a, b := random(), random()
		var want []string
		for _, key := range a.Keys() {
			if b.Has(key) && !a.Get(key).Overlaps(b.Get(key)) {
				want = append(want, key)
			}
		}
		for _, err := range []error{a.Overlaps(b), b.Overlaps(a)} {
			require.Equal(t, want, conflictKeys(t, err), "%s | %s", a, b)
		}
		conflicts += len(want)

		for _, key := range b.Keys() {
			if !a.Has(key) && (b.Get(key).Impossible() || !b.Get(key).AllowsAbsent()) {
				want = append(want, key)
			}
		}
		slices.Sort(want)
		require.Equal(t, want, conflictKeys(t, a.Compatible(b)), "%s | %s", a, b)

		lenient := a.Compatible(b, NewKeySet("a", "b", "c", "d", "e"))
		wantLenient := slices.DeleteFunc(slices.Clone(want), func(key string) bool { return !a.Has(key) && !b.Get(key).Impossible() })
		require.ElementsMatch(t, wantLenient, conflictKeys(t, lenient), "%s | %s", a, b)
	}
	require.NotZero(t, conflicts)
}

// conflictKeys returns the keys of the conflicts in err, in their order.
func conflictKeys(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	all := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		all = joined.Unwrap()
	}
	var keys []string
	for _, e := range all {
		var conflict *Conflict
		require.ErrorAs(t, e, &conflict)
		keys = append(keys, conflict.Key)
	}
	return keys
}
