package columns

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListsSayHowManyMoreThereAre(t *testing.T) {
	for text, want := range map[string]string{
		"shop/storefront ×8, shop/catalog ×6, and 8 more":  "shop/storefront ×8, and 9 more",
		"a-node, another-node, a-third-node, and-a-fourth": "a-node, and 3 more",
		"an-extraordinarily-long-name.of-a.node":           "an-extraordinar…name.of-a.node",
		"an-extraordinarily-long-name.of-a.node, another":  "an-extrao…f-a.node, and 1 more",
		"12,345.67": "12,345.67",
	} {
		require.Equal(t, want, shortened(text, 30))
	}
}

// The last row of a table that is cut short has no cell but its first.
func TestRowsMayEndEarly(t *testing.T) {
	fitting, _ := Fit([][]string{{"COUNT", "TYPES"}, {"3", "m5.large"}, {"and 8 more"}}, 40, nil)
	require.Equal(t, [][]string{{"COUNT", "TYPES"}, {"3", "m5.large"}, {"and 8 more"}}, fitting)
}

// The change that lifts a cause is of use only as a whole.
func TestSentencesAreContinuedBelow(t *testing.T) {
	fitting, left := Fit([][]string{
		{"$/MONTH", "CAUSE", "FIX"},
		{"0 to 1,966.25", "do-not-disrupt", "remove the annotation karpenter.sh/do-not-disrupt, or wait until the pod completes"},
		{"12", "policy", "nothing"},
	}, 50, nil)
	require.Empty(t, left)
	require.Equal(t, [][]string{
		{"$/MONTH", "CAUSE", "FIX"},
		{"0 to 1,966.25", "do-not-disrupt", "remove the"},
		{"", "", "annotation"},
		{"", "", "karpenter.sh/"},
		{"", "", "do-not-disrupt, or"},
		{"", "", "wait until the pod"},
		{"", "", "completes"},
		{"12", "policy", "nothing"},
	}, fitting)
}
