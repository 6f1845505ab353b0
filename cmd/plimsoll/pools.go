package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// poolsOrDefault sees to it that there is a NodePool to buy for. The default one buys
// what the flags allow, where they say more than it does.
func (p *problem) poolsOrDefault(types []offerings.CapacityType) {
	if len(p.Problem.NodePools) > 0 || len(p.Problem.Pods) == 0 {
		return
	}
	pool := manifest.DefaultNodePool()
	spec := &pool.Spec.Template.Spec
	spec.Requirements = slices.DeleteFunc(spec.Requirements, func(s requirements.Selector) bool {
		r, err := s.Requirement()
		return err == nil && p.buys(pool.Name).Filter(instancetypes.ByRequirements(requirements.NewSet(r))).Len() == 0
	})
	if len(types) > 0 {
		spec.Requirements = slices.DeleteFunc(spec.Requirements, func(s requirements.Selector) bool { return s.Key == requirements.CapacityTypeKey })
	}
	p.Problem.NodePools = []*scheduling.NodePool{pool}
	p.Warnings = append(p.Warnings, scheduling.Warning{
		Object: "NodePool/" + pool.Name,
		Message: fmt.Sprintf("there is no NodePool in the input, so one is assumed that requires %s; a NodePool of your own may allow what costs less, such as arm64 and spot",
			describe(spec.Requirements)),
	})
}

// describe writes the requirements of a pool for people.
func describe(selectors []requirements.Selector) string {
	var parts []string
	for _, s := range selectors {
		if r, err := s.Requirement(); err == nil {
			parts = append(parts, r.Short())
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return join(parts)
}

// idlePools warns about NodePools that the catalog has nothing for. It is no error
// as long as another can buy: pools for other regions and devices are nothing unusual.
func (p *problem) idlePools() {
	if len(p.Problem.NodePools) < 2 || len(p.Problem.Pods) == 0 {
		return
	}
	for _, pool := range p.Problem.NodePools {
		alone := scheduling.Problem{Pods: p.Problem.Pods[:1], NodePools: []*scheduling.NodePool{pool}, Catalog: p.buys(pool.Name)}
		var faults *scheduling.FieldErrors
		if !errors.As(alone.Validate(), &faults) {
			continue
		}
		for _, f := range faults.Errors {
			p.Warnings = append(p.Warnings, scheduling.Warning{Object: "NodePool/" + pool.Name, Message: "buys nothing: " + f.Message})
		}
	}
}
