package requirements

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// R2, R3, R4, R7.
func TestOperatorAndText(t *testing.T) {
	for _, tt := range []struct {
		r    Requirement
		op   Operator
		text string
	}{
		{Requirement{}, Exists, `"" NotIn []`},
		{MustNew("k", In, "b", "a", "b"), In, "k In [a b]"},
		{MustNew("k", NotIn, "b", "a"), NotIn, "k NotIn [a b]"},
		{MustNew("k", Exists), Exists, "k Exists"},
		{MustNew("k", DoesNotExist), DoesNotExist, "k DoesNotExist"},
		{MustNew("k", Gt, "4"), Exists, "k Exists >=5"},
		{MustNew("k", Lt, "4"), Exists, "k Exists <=3"},
		{MustNew("k", Gte, "0"), Exists, "k Exists >=0"},
		{MustNew("k", Lte, "0"), Exists, "k Exists <=0"},
		{MustNew("k", Gte, "1").Intersect(MustNew("k", NotIn, "3", "0")), NotIn, "k NotIn [3] >=1"},
		{MustNew("k", Exists).Intersect(MustNew("k", NotIn, "3", "0")), NotIn, "k Exists NotIn [0 3]"},
		{MustNew("k", In, "a").Intersect(MustNew("k", In, "b")), DoesNotExist, "k In []"},
	} {
		require.Equal(t, tt.op, tt.r.Operator(), tt.text)
		require.Equal(t, tt.text, tt.r.String())
		back, err := Parse(tt.text)
		require.NoError(t, err)
		require.True(t, back.Equal(tt.r), tt.text)
	}
}
