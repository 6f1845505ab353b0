package verify_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// What the solver proves holds, and nothing above the price of its plan; spoiled a little it
// no longer does.
func TestCertificatesOfTheSolver(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for seed := range soak.Cases(150) {
		p := schedulable(t, seed)
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		require.NoError(t, err)
		if plan.Summary.Certificate == nil {
			continue
		}
		kind, bound, price := plan.Summary.Certificate.Kind, plan.Summary.LowerBoundPerHour, plan.Summary.PricePerHour
		kinds[kind]++
		f := &fixture{p: p, plan: plan, skip: true}
		require.Empty(t, boundCodes(t, f, bound), "seed %d", seed)
		require.NotEmpty(t, boundCodes(t, f, price+1), "seed %d: above the price", seed)
		for name, spoil := range spoils(p, kind, bound, price) {
			g := &fixture{p: p, plan: clone(t, plan), skip: true}
			if claim := spoil(g.plan.Summary.Certificate); claim < price || bound < price {
				assert.NotEmpty(t, boundCodes(t, g, claim), "seed %d: %s", seed, name)
			}
		}
	}
	for _, kind := range []string{"resource", "assignment", "pattern", "cover", "parted"} {
		assert.True(t, race.Enabled || kinds[kind] > 0, "no bound of the kind %s", kind)
	}
	t.Logf("%v", kinds)
}

// spoils change a certificate so that it proves no bound any more, or not so much as they return.
func spoils(p scheduling.Problem, kind string, bound, price offerings.Price) map[string]func(c *scheduling.Certificate) offerings.Price {
	switch kind {
	case "parted":
		return map[string]func(c *scheduling.Certificate) offerings.Price{
			"more machines": func(c *scheduling.Certificate) offerings.Price { c.Parted.AtMost++; return bound },
		}
	case "assignment", "pattern":
		out := map[string]func(c *scheduling.Certificate) offerings.Price{
			"no vectors":                 func(c *scheduling.Certificate) offerings.Price { c.Vectors = nil; return price + 1 },
			"worths and vectors doubled": func(c *scheduling.Certificate) offerings.Price { c.Scale--; return price + 1 },
			"worths without pods":        func(c *scheduling.Certificate) offerings.Price { c.Values = nil; return bound },
		}
		if !reserves(p) && bound > 1 { // prices are whole: anything above nothing proves 1
			out["half the worths"] = func(c *scheduling.Certificate) offerings.Price {
				for pod, v := range c.Values {
					n, _ := new(big.Int).SetString(v, 10)
					c.Values[pod] = n.Rsh(n, 1).String()
				}
				return bound
			}
		}
		return out
	}
	return nil
}
