package expanders

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Each expander places each pod, ours at a lower price than least-waste, and none at a lower one than a plan over all
// groups.
func TestCompare(t *testing.T) {
	sums, err := Compare(t.Context(), []int{6}, 150, 2, 1, peer.Options{})
	require.NoError(t, err)
	prices := map[string]offerings.Price{}
	for _, s := range sums {
		prices[s.Peer] = s.Price
	}
	require.Len(t, prices, 4)
	assert.Less(t, prices["autoscaler plimsoll"], prices["autoscaler least-waste"])
	for name, price := range prices {
		assert.GreaterOrEqual(t, price, prices["plimsoll fast"], name)
	}
}

func TestTable(t *testing.T) {
	assert.Equal(t, "| node groups | clusters | pods each | expander | nodes | $/h | against least-waste |\n|--:|--:|--:|---|--:|--:|--:|\n"+
		"| 4 | 2 | 100 | least-waste | 9 | 2.00 | +0.0 % |\n| 4 | 2 | 100 | none: a plan over all groups | 8 | 1.50 | -25.0 % |\n",
		Table([]Sum{
			{Groups: 4, Pods: 100, Clusters: 2, Peer: "autoscaler least-waste", Nodes: 9, Price: offerings.MustPrice("2")},
			{Groups: 4, Pods: 100, Clusters: 2, Peer: "plimsoll fast", Nodes: 8, Price: offerings.MustPrice("1.5")},
		}))
}
