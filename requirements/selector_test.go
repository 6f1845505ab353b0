package requirements

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ptr[T any](v T) *T { return &v }

// R22: entries, with nothing lost. minValues stands on each.
func TestSelectorEntries(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"k In [b a]", `[{"key":"k","operator":"In","values":["a","b"]}]`},
		{"k NotIn [b a]", `[{"key":"k","operator":"NotIn","values":["a","b"]}]`},
		{"k NotIn []", `[{"key":"k","operator":"NotIn"}]`},
		{"k Exists", `[{"key":"k","operator":"Exists"}]`},
		{"k DoesNotExist", `[{"key":"k","operator":"DoesNotExist"}]`},
		{"k In []", `[{"key":"k","operator":"Exists"},{"key":"k","operator":"DoesNotExist"}]`},
		{"k Exists NotIn [a]", `[{"key":"k","operator":"Exists"},{"key":"k","operator":"NotIn","values":["a"]}]`},
		{"k >4", `[{"key":"k","operator":"Gte","values":["5"]}]`},
		{"k <4 minValues 2", `[{"key":"k","operator":"Lte","values":["3"],"minValues":2}]`},
		{
			"k >=1 <=9 NotIn [5] minValues 3",
			`[{"key":"k","operator":"Gte","values":["1"],"minValues":3},{"key":"k","operator":"Lte","values":["9"],"minValues":3},` +
				`{"key":"k","operator":"NotIn","values":["5"],"minValues":3}]`,
		},
		{"k >=-9223372036854775808", `[{"key":"k","operator":"Gte","values":["-9223372036854775808"]}]`},
	} {
		r, err := Parse(tt.text)
		require.NoError(t, err)
		got, err := json.Marshal(r.Selector())
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(got), tt.text)

		var back []Selector
		require.NoError(t, json.Unmarshal(got, &back))
		set, err := FromSelectors(back)
		require.NoError(t, err)
		assert.True(t, set.Equal(NewSet(r)), "%s came back as %s", r, set)
	}
	set := parseSet(t, "b >1, a In [x]")
	assert.Equal(t, []Selector{{Key: "a", Operator: In, Values: []string{"x"}}, {Key: "b", Operator: Gte, Values: []string{"2"}}}, set.Selectors())
}

// R10, R16, R23: the requirements of a NodePool.
func TestFromSelectors(t *testing.T) {
	entries := []Selector{
		{Key: "cpu", Operator: Gte, Values: []string{"4"}, MinValues: ptr(2)},
		{Key: "cpu", Operator: Lte, Values: []string{"16"}, MinValues: ptr(3)},
		{Key: "beta.kubernetes.io/arch", Operator: In, Values: []string{"arm64", "amd64"}, MinValues: ptr(0)},
	}
	before := fmt.Sprint(entries)
	set, err := FromSelectors(entries)
	require.NoError(t, err)
	assert.Equal(t, "cpu Exists >=4 <=16 minValues 3, kubernetes.io/arch In [amd64 arm64]", set.String())
	assert.Equal(t, before, fmt.Sprint(entries))

	set, err = FromSelectors([]Selector{
		{Key: "ok", Operator: Exists},
		{Key: "a", Operator: In},
		{Key: "b", Operator: "Contains", Values: []string{"x"}, MinValues: ptr(-1)},
	})
	require.EqualError(t, err, `[1].values of "a": operator In needs at least one value
[2].operator of "b": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Contains"
[2].minValues of "b": must not be negative: "-1"`)
	assert.Zero(t, set.Len())

	_, err = FromSelectors([]Selector{{Key: "a", Operator: In}})
	var fault *SelectorError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, SelectorError{Path: "[0].values", Key: "a", Problem: "operator In needs at least one value"}, *fault)
}

func TestSelectorRequirement(t *testing.T) {
	r, err := Selector{Key: "k", Operator: In, Values: []string{"a"}, MinValues: ptr(7)}.Requirement()
	require.NoError(t, err)
	assert.Equal(t, "k In [a] minValues 7", r.String(), "whether the floor can be met is for Validate to say")
	_, err = Selector{Key: "k", Operator: Exists, Values: []string{"a"}}.Requirement()
	require.EqualError(t, err, `values of "k": operator Exists takes no values: "a"`)
}

// R47–R50.
func TestValidate(t *testing.T) {
	const notKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
	const notValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
	many := strings.Fields(strings.Repeat("v ", 60))
	for i := range many {
		many[i] += fmt.Sprint(i)
	}
	for _, tt := range []struct {
		name string
		s    Selector
		want string
	}{
		{"R47 In", Selector{Key: "k", Operator: In, Values: []string{"a"}}, ""},
		{"R47 In without values", Selector{Key: "k", Operator: In}, `values of "k": operator In needs at least one value`},
		{"R47 NotIn without values", Selector{Key: "k", Operator: NotIn}, ""},
		{"R47 Exists with a value", Selector{Key: "k", Operator: Exists, Values: []string{"a"}}, `values of "k": operator Exists takes no values: "a"`},
		{"R47 Gt", Selector{Key: "k", Operator: Gt, Values: []string{"0"}}, ""},
		{"R47 Gt negative", Selector{Key: "k", Operator: Gt, Values: []string{"-1"}}, `values[0] of "k": operator Gt needs an integer that is not negative: "-1"`},
		{"R47 Lte with a word", Selector{Key: "k", Operator: Lte, Values: []string{"a b"}}, `values[0] of "k": operator Lte needs an integer of 64 bits: "a b"`},
		{"R47 Gte with a plus sign", Selector{Key: "k", Operator: Gte, Values: []string{"+1"}}, `values[0] of "k": ` + notValue + `: "+1"`},
		{
			"R47 Lt with two values", Selector{Key: "k", Operator: Lt, Values: []string{"1", "-2"}},
			`values of "k": operator Lt takes exactly one value, not 2: "1 -2"` + "\n" + `values[1] of "k": ` + notValue + `: "-2"`,
		},
		{"R47 unknown operator", Selector{Key: "k", Operator: "Is"}, `operator of "k": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Is"`},
		{"R47 no key", Selector{Operator: Exists}, "key: must not be empty"},
		{"R47 bad key", Selector{Key: "a/b/c", Operator: Exists}, `key of "a/b/c": ` + notKey},
		{"R47 bad values", Selector{Key: "k", Operator: In, Values: []string{"-a", "b", strings.Repeat("x", 64)}},
			`values[0] of "k": ` + notValue + `: "-a"` + "\n" + `values[2] of "k": ` + notValue + `: "` + strings.Repeat("x", 64) + `"`},
		{"R48 floor", Selector{Key: "k", Operator: Exists, MinValues: ptr(50)}, ""},
		{"R48 floor too low", Selector{Key: "k", Operator: Exists, MinValues: ptr(0)}, `minValues of "k": must lie between 1 and 50: "0"`},
		{"R48 floor too high", Selector{Key: "k", Operator: In, Values: many, MinValues: ptr(51)}, `minValues of "k": must lie between 1 and 50: "51"`},
		{"R48 floor met", Selector{Key: "k", Operator: In, Values: []string{"a", "b"}, MinValues: ptr(2)}, ""},
		{"R48 floor above the values", Selector{Key: "k", Operator: In, Values: []string{"a", "b"}, MinValues: ptr(3)}, `minValues of "k": is more than the 2 different values listed: "3"`},
		{"R48 the same value twice", Selector{Key: "k", Operator: In, Values: []string{"a", "a"}, MinValues: ptr(2)}, `minValues of "k": is more than the 1 different values listed: "2"`},
		{"R48 floor of exclusions", Selector{Key: "k", Operator: NotIn, Values: []string{"a"}, MinValues: ptr(9)}, ""},
		{"R49 nodepool", Selector{Key: "karpenter.sh/nodepool", Operator: Exists}, `key of "karpenter.sh/nodepool": is set by the NodePool itself and may not be required`},
		{"R49 restricted", Selector{Key: "karpenter.sh/initialized", Operator: Exists}, `key of "karpenter.sh/initialized": is restricted: its value follows from the instance type and zone`},
		{"R49 host name", Selector{Key: "kubernetes.io/hostname", Operator: Exists}, `key of "kubernetes.io/hostname": is restricted: its value follows from the instance type and zone`},
		{"R49 well-known", Selector{Key: "karpenter.k8s.aws/instance-cpu", Operator: Gt, Values: []string{"4"}}, ""},
		{"R45 known", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"spot", "on-demand", "reserved"}, MinValues: ptr(3)}, ""},
		{"R45 unknown", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"Spot", "X"}},
			`values of "karpenter.sh/capacity-type": needs at least 1 of the values on-demand, reserved, spot: "Spot X"`},
		{"R50 some unknown", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"X", "spot"}}, ""},
		{"R50 too few known", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"X", "spot"}, MinValues: ptr(2)},
			`values of "karpenter.sh/capacity-type": needs at least 2 of the values on-demand, reserved, spot: "X spot"`},
		{"R50 none known, no floor", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"X"}, MinValues: ptr(0)},
			`minValues of "karpenter.sh/capacity-type": must lie between 1 and 50: "0"` + "\n" +
				`values of "karpenter.sh/capacity-type": needs at least 1 of the values on-demand, reserved, spot: "X"`},
		{"R50 a name of one's own", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"colo"}}, ""},
		{"R50 alone in its list", Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"spot"}, MinValues: ptr(1)}, ""},
		{"R50 tenancy", Selector{Key: "karpenter.k8s.aws/instance-tenancy", Operator: In, Values: []string{"host"}},
			`values of "karpenter.k8s.aws/instance-tenancy": needs at least 1 of the values dedicated, default: "host"`},
		{"R50 other operators", Selector{Key: "karpenter.sh/capacity-type", Operator: NotIn, Values: []string{"X"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.s.Values)
			err := tt.s.Validate()
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tt.want)
			}
			assert.Equal(t, before, tt.s.Values)
			if err == nil {
				_, err := tt.s.Requirement()
				require.NoError(t, err, "what is valid for a NodePool is valid in the algebra")
			}
		})
	}
}

// R50: a mixture is accepted, and the caller can warn about it.
func TestUnknownValues(t *testing.T) {
	s := Selector{Key: "karpenter.sh/capacity-type", Operator: In, Values: []string{"X", "spot", "A", "X"}}
	assert.Equal(t, []string{"A", "X"}, s.UnknownValues())
	s.Operator = NotIn
	assert.Empty(t, s.UnknownValues())
	assert.Empty(t, Selector{Key: "k", Operator: In, Values: []string{"x"}}.UnknownValues())
}

// R47: at most 100 entries, each with its index.
func TestValidateSelectors(t *testing.T) {
	require.NoError(t, ValidateSelectors(nil))
	sel := slices.Repeat([]Selector{{Key: "k", Operator: Exists}}, 100)
	require.NoError(t, ValidateSelectors(sel))
	sel = append(sel, Selector{Key: "karpenter.sh/nodepool", Operator: In, Values: []string{"a"}, MinValues: ptr(2)})
	require.EqualError(t, ValidateSelectors(sel), `[100]: at most 100 requirements are allowed, not 101
[100].key of "karpenter.sh/nodepool": is set by the NodePool itself and may not be required
[100].minValues of "karpenter.sh/nodepool": is more than the 1 different values listed: "2"`)
}

func FuzzSelectorJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"key":"k","operator":"Exists"}`, `{"key":"k","operator":"In","values":["b","a"],"minValues":2}`,
		`{"key":"k","operator":"Gt","values":["9223372036854775807"]}`, `{"key":"k","operator":"NotIn","values":[]}`,
		`{"key":"topology.disk.csi.azure.com/zone","operator":"In","values":[""]}`, `{"key":"k","operator":"Lt","values":["-1"],"minValues":-1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Selector
		if json.Unmarshal(data, &s) != nil {
			return
		}
		r, err := s.Requirement()
		if err != nil {
			require.Error(t, s.Validate(), "what the algebra refuses no NodePool accepts")
			return
		}
		valid(t, r)
		text, err := json.Marshal(r.Selector())
		require.NoError(t, err)
		var back []Selector
		require.NoError(t, json.Unmarshal(text, &back))
		set, err := FromSelectors(back)
		require.NoError(t, err)
		// JSON text is UTF-8, so that a set read from JSON survives it.
		require.True(t, set.Equal(NewSet(r)), "%s came back as %s", r, set)
		require.LessOrEqual(t, r.MinValues(), math.MaxInt)
	})
}
