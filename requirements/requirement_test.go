package requirements

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// meet returns the intersection of the requirements.
func meet(reqs ...Requirement) Requirement {
	var out Requirement
	for _, r := range reqs {
		out = out.Intersect(r)
	}
	return out
}

// R1–R4, R7: the representation of each operator.
func TestRepresentation(t *testing.T) {
	type bounds struct{ lower, upper *int64 }
	n := func(n int64) *int64 { return &n }
	for _, tt := range []struct {
		name       string
		r          Requirement
		op         Operator
		values     []string
		complement bool
		absent     bool
		bounds     bounds
		text       string
	}{
		{name: "zero", r: Requirement{}, op: Exists, complement: true, absent: true, text: `"" NotIn []`},
		{name: "In", r: MustNew("k", In, "b", "a", "b"), op: In, values: []string{"a", "b"}, text: "k In [a b]"},
		{name: "NotIn", r: MustNew("k", NotIn, "b", "a", "b"), op: NotIn, values: []string{"a", "b"}, complement: true, absent: true, text: "k NotIn [a b]"},
		{name: "NotIn nothing", r: MustNew("k", NotIn), op: Exists, complement: true, absent: true, text: "k NotIn []"},
		{name: "Exists", r: MustNew("k", Exists), op: Exists, complement: true, text: "k Exists"},
		{name: "DoesNotExist", r: MustNew("k", DoesNotExist), op: DoesNotExist, absent: true, text: "k DoesNotExist"},
		{name: "Gt is adjusted", r: MustNew("k", Gt, "4"), op: Exists, complement: true, bounds: bounds{lower: n(5)}, text: "k Exists >=5"},
		{name: "Lt is adjusted", r: MustNew("k", Lt, "4"), op: Exists, complement: true, bounds: bounds{upper: n(3)}, text: "k Exists <=3"},
		{name: "Gte zero", r: MustNew("k", Gte, "0"), op: Exists, complement: true, bounds: bounds{lower: n(0)}, text: "k Exists >=0"},
		{name: "Lte zero", r: MustNew("k", Lte, "0"), op: Exists, complement: true, bounds: bounds{upper: n(0)}, text: "k Exists <=0"},
		{
			name: "bounds and exclusions", r: meet(MustNew("k", Gte, "1"), MustNew("k", NotIn, "3", "0")),
			op: NotIn, values: []string{"3"}, complement: true, bounds: bounds{lower: n(1)}, text: "k NotIn [3] >=1",
		},
		{
			name: "both bounds", r: meet(MustNew("k", Gte, "-1"), MustNew("k", Lte, "7")),
			op: Exists, complement: true, bounds: bounds{n(-1), n(7)}, text: "k Exists >=-1 <=7",
		},
		{
			name: "present with exclusions", r: meet(MustNew("k", Exists), MustNew("k", NotIn, "3", "0")),
			op: NotIn, values: []string{"0", "3"}, complement: true, text: "k Exists NotIn [0 3]",
		},
		{name: "contradiction", r: meet(MustNew("k", In, "a"), MustNew("k", In, "b")), op: DoesNotExist, text: "k In []"},
		{
			name: "any integer", r: MustNew("k", Gte, "-9223372036854775808"),
			op: Exists, complement: true, bounds: bounds{lower: n(math.MinInt64)}, text: "k Exists >=-9223372036854775808",
		},
		{
			name: "any integer, from above", r: MustNew("k", Lte, "9223372036854775807"),
			op: Exists, complement: true, bounds: bounds{lower: n(math.MinInt64)}, text: "k Exists >=-9223372036854775808",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.op, tt.r.Operator())
			assert.Equal(t, tt.values, tt.r.Values())
			assert.Equal(t, tt.complement, tt.r.Complement())
			assert.Equal(t, tt.absent, tt.r.AllowsAbsent())
			lower, upper := tt.r.Bounds()
			got := bounds{lower, upper}
			assert.Equal(t, tt.bounds, got)
			assert.Equal(t, tt.text, tt.r.String())
		})
	}
}

// R5, R6: the extremes neither panic nor wrap around.
func TestExtremeBounds(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Requirement
		text string
		any  string
		ok   bool
	}{
		{"Gt MaxInt keeps minValues", MustNew("k", Gt, "9223372036854775807").WithMinValues(2), "k In [] minValues 2", "", false},
		{"Lt MinInt", MustNew("k", Lt, "-9223372036854775808"), "k In []", "", false},
		{"Lt 0 allows negative integers", MustNew("k", Lt, "0"), "k Exists <=-1", "-1", true},
		{"Gte MaxInt", MustNew("k", Gte, "9223372036854775807"), "k Exists >=9223372036854775807", "9223372036854775807", true},
		{"Lte MinInt", MustNew("k", Lte, "-9223372036854775808"), "k Exists <=-9223372036854775808", "-9223372036854775808", true},
		{
			"only MaxInt, excluded", meet(MustNew("k", Gte, "9223372036854775807"), MustNew("k", NotIn, "9223372036854775807")),
			"k NotIn [9223372036854775807] >=9223372036854775807", "", false,
		},
		{
			"only MinInt, excluded", meet(MustNew("k", Lte, "-9223372036854775808"), MustNew("k", NotIn, "-9223372036854775808")),
			"k NotIn [-9223372036854775808] <=-9223372036854775808", "", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.text, tt.r.String())
			value, ok := tt.r.Any()
			assert.Equal(t, tt.any, value)
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, !tt.ok, tt.r.Empty())
			assert.Equal(t, !tt.ok, tt.r.Impossible())
			if ok {
				assert.True(t, tt.r.Has(value))
			}
		})
	}
	assert.Equal(t, DoesNotExist, MustNew("k", Gt, "9223372036854775807").Operator())
}

// R9, and the integer rules of kube-scheduler.
func TestHas(t *testing.T) {
	bounded := meet(MustNew("k", Gt, "-3"), MustNew("k", Lte, "10"), MustNew("k", NotIn, "7"))
	for _, tt := range []struct {
		r   Requirement
		yes []string
		no  []string
	}{
		{Requirement{}, []string{"", "a", "1"}, nil},
		{MustNew("k", In, "a", ""), []string{"a", ""}, []string{"b", "A"}},
		{MustNew("k", NotIn, "a"), []string{"b", "", "A"}, []string{"a"}},
		{MustNew("k", Exists), []string{"", "a"}, nil},
		{MustNew("k", DoesNotExist), nil, []string{"", "a"}},
		{
			bounded, []string{"-2", "0", "10", "+5", "007", "-0", "0000000000000000000000000000001"},
			[]string{"-3", "11", "7", "a", "", "-", "+", "1.5", "1e1", " 1", "1_0", "0x1", "99999999999999999999", "٣"},
		},
	} {
		for _, v := range tt.yes {
			assert.True(t, tt.r.Has(v), "%s has %q", tt.r, v)
		}
		for _, v := range tt.no {
			assert.False(t, tt.r.Has(v), "%s has %q", tt.r, v)
		}
	}
}

// R10, R38, R47: New accepts valid requirements, and reports every fault of others at once.
func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		key    string
		op     Operator
		values []string
		want   string
	}{
		{"no key", "", Exists, nil, "key: must not be empty"},
		{"In without values", "k", In, nil, `values of "k": operator In needs at least one value`},
		{"Exists with values", "k", Exists, []string{"a", "b"}, `values of "k": operator Exists takes no values: "a b"`},
		{"DoesNotExist with values", "k", DoesNotExist, []string{"a"}, `values of "k": operator DoesNotExist takes no values: "a"`},
		{"Gt without values", "k", Gt, nil, `values of "k": operator Gt takes exactly one value, not 0`},
		{"Lt with a word", "k", Lt, []string{"x"}, `values[0] of "k": operator Lt needs an integer of 64 bits: "x"`},
		{"Lte beyond 64 bits", "k", Lte, []string{"9223372036854775808"}, `values[0] of "k": operator Lte needs an integer of 64 bits: "9223372036854775808"`},
		{"unknown operator", "k", "in", []string{"a"}, `operator of "k": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "in"`},
		{
			"several faults", "", Gte, []string{"1", "x"},
			"key: must not be empty\nvalues: operator Gte takes exactly one value, not 2: \"1 x\"\n" +
				"values[1]: operator Gte needs an integer of 64 bits: \"x\"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(tt.key, tt.op, tt.values...)
			require.EqualError(t, err, tt.want)
			assert.True(t, r.Equal(Requirement{}))
			var fault *SelectorError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tt.key, fault.Key)
			assert.Panics(t, func() { MustNew(tt.key, tt.op, tt.values...) })
		})
	}
	_, err := New("k", Gt, "-5")
	require.NoError(t, err, "negative numbers are valid in the algebra")
}

// R25, R40: arguments and results share no memory with the set.
func TestNoSharedMemory(t *testing.T) {
	in := []string{"c", "", "a"}
	r := MustNew(azureDiskZoneKey, In, in...)
	assert.Equal(t, []string{"c", "", "a"}, in, "argument is left as it was")
	in[0] = "changed"
	assert.Equal(t, "topology.kubernetes.io/zone In [0 a c]", r.String(), `the zone "" of Azure's driver is the zone "0"`)

	r.Values()[0] = "changed"
	assert.Equal(t, []string{"0", "a", "c"}, r.Values())

	narrow := meet(MustNew("k", Gte, "1"), MustNew("k", Lte, "2"))
	lower, upper := narrow.Bounds()
	*lower, *upper = 5, 6
	assert.Equal(t, "k Exists >=1 <=2", narrow.String())

	floor := meet(narrow, MustNew("k", NotIn, "1")).WithMinValues(3)
	entries := floor.Selector()
	*entries[0].MinValues = 9
	entries[2].Values[0] = "changed"
	assert.Equal(t, "k NotIn [1] >=1 <=2 minValues 3", floor.String())
	assert.Equal(t, 3, *entries[1].MinValues)
}

func TestMinValues(t *testing.T) {
	r := MustNew("k", Exists)
	assert.Zero(t, r.MinValues())
	assert.Equal(t, 3, r.WithMinValues(3).MinValues())
	assert.Zero(t, r.MinValues(), "the receiver stays as it is")
	assert.Zero(t, r.WithMinValues(-1).MinValues())
	assert.Zero(t, r.WithMinValues(3).WithMinValues(0).MinValues())
}
