package provisioning

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// IdleNodePools warns of each NodePool that may launch machines and has none to choose from:
// of its requirements it names the one that rules out the most instance types, and the zones
// of the catalog where that is one on the place. Pools for other regions and architectures
// are nothing unusual.
func IdleNodePools(p *scheduling.Problem) []scheduling.Warning { return poolWarnings(p, validate.Idle) }

// UnmetMinValues warns of each NodePool that can never launch anything because its other requirements leave fewer
// values than its minValues ask for, as Karpenter's policy Strict has it. A nil problem has none.
func UnmetMinValues(p *scheduling.Problem) []scheduling.Warning {
	return poolWarnings(p, validate.MinValuesUnmet)
}

// poolWarnings are the answers to a question about each NodePool of a problem; nil for a nil problem.
func poolWarnings(p *scheduling.Problem, why func(*scheduling.Problem, *scheduling.NodePool) string) (out []scheduling.Warning) {
	if p == nil {
		return nil
	}
	for _, pool := range offers.PoolOrder(p.NodePools) {
		if text := why(p, pool); text != "" {
			out = append(out, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: text})
		}
	}
	return out
}
