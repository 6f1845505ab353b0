package main

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// poolsOrDefault adds the default NodePools where pods wait and there is no other, or only
// those of node groups that have nothing on sale. They buy what the flags allow, where these
// say more than they do.
func (p *problem) poolsOrDefault(types []offerings.CapacityType) {
	own := p.Problem.NodePools
	if len(p.Problem.Pods) == 0 || len(own) > 0 && (!p.grouped || len(p.Problem.IdleNodePools()) < len(own)) {
		return
	}
	for _, pool := range manifest.DefaultNodePools(p.buys(""), p.Problem.Pods) {
		if slices.ContainsFunc(own, func(o *scheduling.NodePool) bool { return o.Name == pool.Name }) {
			pool.Name = "assumed-" + pool.Name
		}
		p.Problem.NodePools = append(p.Problem.NodePools, pool)
		spec := &pool.Spec.Template.Spec
		if len(types) > 0 {
			spec.Requirements = slices.DeleteFunc(spec.Requirements, func(s requirements.Selector) bool { return s.Key == requirements.CapacityTypeKey })
		}
		p.Warnings = append(p.Warnings, scheduling.Warning{
			Object: "NodePool/" + pool.Name,
			Message: fmt.Sprintf("there is no NodePool in the input, so one is assumed that requires %s; a NodePool of your own may allow what costs less, such as arm64 and spot",
				describe(spec.Requirements)),
		})
	}
}

// describe writes the requirements of a pool for people.
func describe(selectors []requirements.Selector) string {
	var parts []string
	for _, s := range selectors {
		if r, err := s.Requirement(); s.Operator == requirements.Gt {
			parts = append(parts, s.Key+" above "+join(s.Values))
		} else if err == nil {
			parts = append(parts, r.Short())
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return join(parts)
}
