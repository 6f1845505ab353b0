package lint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/internal/soak"
)

// The remedy of each PodDisruptionBudget that lets no pod go lets one go, once it is followed, and where one may go
// there is none.
func TestBudgetRemediesLetPodsGo(t *testing.T) {
	for seed := range soak.Cases(40) {
		r := rand.New(rand.NewPCG(seed, 19)) //nolint:gosec // cases of a test
		g := &guarded{pods: 1 + r.IntN(6)}
		g.ready = r.IntN(g.pods + 1)
		value := intstr.FromInt32(r.Int32N(8))
		if r.IntN(2) == 0 {
			value = intstr.FromString(fmt.Sprint(r.IntN(101), "%"))
		}
		if r.IntN(2) == 0 {
			g.spec.MaxUnavailable = &value
		} else {
			g.spec.MinAvailable = &value
		}
		if r.IntN(3) == 0 {
			always := policyv1.AlwaysAllow
			g.spec.UnhealthyPodEvictionPolicy = &always
		}
		remedy := g.remedy()
		require.Equal(t, g.allows(), remedy == nil, "seed %d", seed)
		if remedy == nil {
			continue
		}
		after := &guarded{spec: remedy.spec, pods: remedy.replicas, ready: remedy.replicas}
		if remedy.unready {
			after.ready = g.ready
			require.False(t, g.always(), "seed %d: it is set already", seed)
		}
		require.True(t, after.allows(), "seed %d: %s", seed, remedy.text)
	}
}
