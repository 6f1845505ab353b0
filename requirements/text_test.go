package requirements

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// R21, with nothing left out of the form that parses.
func TestTextForms(t *testing.T) {
	long := MustNew("k", In, "a", "b", "c", "d", "e", "f", "g")
	assert.Equal(t, "k In [a b c d e f g]", long.String())
	assert.Equal(t, "k In [a b c d e and 2 more]", long.Short())
	five := MustNew("k", NotIn, "a", "b", "c", "d", "e").WithMinValues(2)
	assert.Equal(t, "k NotIn [a b c d e] minValues 2", five.Short())
	assert.Equal(t, five.String(), five.Short())

	set := NewSet(long, MustNew("kubernetes.io/hostname", In, "node-1"), MustNew("a", Exists))
	assert.Equal(t, "a Exists, k In [a b c d e f g], kubernetes.io/hostname In [node-1]", set.String())
}

// Users may type other forms besides the canonical one.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"k In [b a b]":                      "k In [a b]",
		" k\tIn[b\n a]\r\n":                 "k In [a b]",
		"k In []":                           "k In []",
		"k NotIn []":                        "k NotIn []",
		"k Exists":                          "k Exists",
		"k DoesNotExist":                    "k DoesNotExist",
		"k Gt 4":                            "k Exists >=5",
		"k > 4 < 9":                         "k Exists >=5 <=8",
		"k>4<9":                             "k Exists >=5 <=8",
		"k Gte 4 Lte 9 Lt 9":                "k Exists >=4 <=8",
		"k >=-7":                            "k Exists >=-7",
		"k >9223372036854775807":            "k In []",
		"k <-9223372036854775808":           "k In []",
		"k In [1 2 3] >1 NotIn [3]":         "k In [2]",
		"k Exists DoesNotExist":             "k In []",
		"k minValues 3":                     "k NotIn [] minValues 3",
		"k minValues 3 In [a] minValues 2":  "k In [a] minValues 3",
		`"k" In ["a" "b c" ""]`:             `k In ["" a "b c"]`,
		`"" NotIn []`:                       `"" NotIn []`,
		`"a,b" In ["x]" "\"" "\xff" "é\n"]`: `"a,b" In ["\"" "x]" "é\n" "\xff"]`,
		"In In [In]":                        "In In [In]",
		"k In [`raw`]":                      "",
		`topology.disk.csi.azure.com/zone In ["" eastus-1]`: "topology.kubernetes.io/zone In [0 eastus-1]",
	} {
		r, err := Parse(text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, r.String(), text)
	}
}

func TestParseSet(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		" \n ":                             "",
		"b Exists , a In [x]":              "a In [x], b Exists",
		"a Exists, a In [x y], a In [y]":   "a In [y]",
		"beta.kubernetes.io/os In [linux]": "kubernetes.io/os In [linux]",
	} {
		s, err := ParseSet(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, s.String(), text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "k In [a b]", "k NotIn [3] >=1 <=9 minValues 2", `"" NotIn []`, "k In []", `"a b" In ["\xff" ""]`,
		"k >9223372036854775807", "beta.kubernetes.io/os Exists NotIn [windows]", "k Lt 5 Gt 5",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		valid(t, r)
		back, err := Parse(r.String())
		require.NoError(t, err, r.String())
		require.True(t, back.Equal(r), "%s read back as %s", r, back)
		if r.Key() != "" {
			set, err := FromSelectors(r.Selector())
			require.NoError(t, err)
			require.True(t, set.Equal(NewSet(r)), "%s came back as %s", r, set)
		}
		if value, ok := r.Any(); ok {
			require.True(t, r.Has(value), "%s has %q", r, value)
			require.False(t, r.Empty())
		}
	})
}

func FuzzParseSet(f *testing.F) {
	for _, text := range []string{
		"", "a Exists, b In [x]", "a In [1], a >0, b DoesNotExist", `"," In [","], b NotIn []`, "a Exists,",
		"topology.kubernetes.io/zone In [a], failure-domain.beta.kubernetes.io/zone In [b]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSet(text)
		if err != nil {
			return
		}
		for r := range s.All() {
			valid(t, r)
		}
		back, err := ParseSet(s.String())
		require.NoError(t, err, s.String())
		require.True(t, back.Equal(s), "%s read back as %s", s, back)
		require.True(t, s.Intersect(s).Equal(s))
		if !s.Impossible() {
			require.NoError(t, s.Compatible(s))
		}
	})
}
