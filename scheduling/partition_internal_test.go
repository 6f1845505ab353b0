package scheduling

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sites are what axes tell apart, numbered in the order of spots, however many values there
// are.
func TestSitesAreNumberedInTheOrderOfSpots(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for round := range 200 {
		spots := rng.IntN(60)
		axes := make([]axis, 1+rng.IntN(3))
		for i := range axes {
			values := 1 + rng.IntN(1+round)
			axes[i].at = make([]int32, spots)
			for spot := range spots {
				axes[i].at[spot] = int32(rng.IntN(values+1)) - 1
			}
		}
		p := &partition{at: make([]int32, spots), sites: min(spots, 1)}
		for i := range axes {
			p.tellApart(&axes[i])
		}
		index := map[string]int32{}
		for spot := range spots {
			name := ""
			for i := range axes {
				name += fmt.Sprint(axes[i].at[spot], ",")
			}
			site, known := index[name]
			if !known {
				site = int32(len(index))
				index[name] = site
			}
			require.Equal(t, site, p.at[spot], "round %d, spot %d", round, spot)
		}
		require.Len(t, index, p.sites)
	}
}
