package consolidation

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// settled checks a cluster that has been consolidated, as if its machines had been bought
// anew: they are on sale at their price, their pools allow them, their pods fit, and every
// pod of the cluster is on exactly one of them.
func settled(c disruption.Cluster, o peer.Outcome) error {
	if placed := o.Placed(); placed != len(c.Running) {
		return fmt.Errorf("%d of %d pods have a place in the end", placed, len(c.Running))
	}
	p := c.Problem
	p.Pods, p.Running, p.Nodes = c.Running, nil, nil
	o.Machines = slices.DeleteFunc(slices.Clone(o.Machines), func(m peer.Machine) bool { return len(m.Pods) == 0 })
	return peer.Check(p, o)
}
