package scheduling

import (
	"context"
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// fewestHoned is from how many machines on some are exchanged at fast effort: the search itself buys
// so few anew again and again.
const fewestHoned = 3

// honedEnough is the share of the price up to which a bound may miss it without machines being
// exchanged. It is less than what a bound by cases is sought for: few machines are soon exchanged.
const honedEnough = 0.005

// honed is an outcome for pods that nothing ties, with machines exchanged for cheaper ones where
// few are bought and the price is further above its bound than will do.
func (c *compiler) honed(ctx context.Context, at pack.Outcome, params pack.Params) pack.Outcome {
	x := trial{compiler: c, Outcome: at}
	price := x.price()
	n := x.machines()
	if c.terse || at.Late || price == 0 || n >= manyMachines || params.Work == 0 && n < fewestHoned {
		return at
	}
	least, _ := c.prove(ctx, nil, c.deciding(c.placed(at.Solution), x.onLaunches()), price)
	params.Worths = c.provenWorths()
	if float64(least) >= float64(price)*(1-honedEnough) || params.Worths == nil || ctx.Err() != nil {
		return at
	}
	return pack.Hone(c.model, at, params)
}

// provenWorths is what pods of each class are worth by the bound that was proven last.
func (c *compiler) provenWorths() []float64 {
	k := c.proven
	if k == nil || k.prover == nil || len(k.assigned.Worths) == 0 {
		return nil
	}
	out := make([]float64, len(c.model.Classes))
	for i, ids := range k.prover.classes {
		f, _ := new(big.Float).SetInt(k.assigned.Worths[i]).Float64()
		for _, id := range ids {
			out[id] = math.Ldexp(f, -int(k.assigned.Scale))
		}
	}
	return out
}
