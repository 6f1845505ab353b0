package prove

import (
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
)

// ClassDuals are what a pod of each planned class is worth by the bound that was proven last, in
// nano-USD per hour; nil where nothing was proven class by class.
func ClassDuals(c *compile.Compiler) []float64 {
	k := compile.Noted[Proven](c.Notes)
	if k == nil || k.prover == nil || len(k.assigned.Duals) == 0 {
		return nil
	}
	out := make([]float64, len(c.Model.Classes))
	for i, ids := range k.prover.Classes {
		f, _ := new(big.Float).SetInt(k.assigned.Duals[i]).Float64()
		for _, id := range ids {
			out[id] = math.Ldexp(f, -int(k.assigned.Scale))
		}
	}
	return out
}
