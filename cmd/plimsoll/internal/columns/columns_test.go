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
		"several pods are away at once, and no budget is":  "several pods ar…d no budget is",
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
