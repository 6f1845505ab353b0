package provisioning

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// IdleNodePools returns a warning for each NodePool that may launch nodes and has no offering: it names the requirement
// that rules out the most instance types, and the zones of the catalog if the requirement is about the zone. Pools for
// other regions and architectures are not unusual.
func IdleNodePools(p *scheduling.Problem) []scheduling.Warning { return poolWarnings(p, validate.Idle) }

// UnmetMinValues returns a warning for each NodePool that can never launch a node because its other requirements leave
// fewer values than its minValues, by Karpenter's policy Strict. A nil problem has none.
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
