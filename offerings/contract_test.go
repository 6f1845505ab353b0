package offerings

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Functions that a solver calls once for each option allocate nothing.
func TestAllocations(t *testing.T) {
	cs := randomCandidates(rand.New(rand.NewPCG(21, 22)), 2)
	var failed Unavailable
	failed.Mark(Key{InstanceType: "other"}, noon(), 0)
	adjustment, err := ParseAdjustment("-10%")
	assert.NoError(t, err)
	for name, f := range map[string]func(){
		"Compare": func() {
			Ranking{Strategy: PriceCapacityOptimized}.Compare(cs[0], cs[1])
		},
		"ExpectedPrice": func() { Ranking{Strategy: CapacityOptimized}.ExpectedPrice(cs[0]) },
		"Has":           func() { failed.Has(key(cs[0].InstanceType, cs[0].Offering), noon()) },
		"Apply":         func() { adjustment.Apply(MustPrice("0")) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
