package pack

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// A fifth of the pods are alone of their kind on a machine, so that there are many
// machines; the others are spread over these, and hardly any machine is bought beside
// them. Nor does anything cost much more than if there were no per-node limits.
func TestCrowdedPodsDoNotStayAlone(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []model.Option
		most    float64
	}{
		{"linear prices", proportional(60, 3, 1), 1.09},
		{"cloud", clouds(2, 3), 1.12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mix(2000, tt.options, 3)
			out := Search(p, Params{})
			require.NoError(t, check(p, out.Solution))
			require.Zero(t, total(out.Solution.Unplaced))
			assert.LessOrEqual(t, model.Count(out.Solution.Nodes), int64(2000/5*105/100))
			assert.LessOrEqual(t, float64(p.Cost(out.Solution.Nodes))/float64(resourceBound(p)), tt.most)
		})
	}
}

// Pods that are alone of their kind take the running machines first.
func TestCrowdedPodsTakeRunningMachinesFirst(t *testing.T) {
	p := running(mix(2000, proportional(60, 3, 1), 3), 300)
	for i := range p.Bins {
		p.Bins[i].Room = []int64{1600, 5 * gib, 10} // room for any one
	}
	const nginx = 7
	out := Search(p, Params{})
	require.NoError(t, check(p, out.Solution))
	for i, items := range out.Solution.Bins {
		held := int64(0)
		for _, it := range items {
			for _, m := range p.Classes[it.Class].PerNodeLimits {
				if m.Limit == nginx {
					held += it.N
				}
			}
		}
		for _, x := range p.Bins[i].Present {
			if x.Limit == nginx {
				held += x.N
			}
		}
		assert.Equal(t, int64(1), held, "bin %d", i)
	}
}
