package pools

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Allow lets NodePools launch nodes with the labels, and warns where no NodePool had excluded them.
func Allow(s *manifest.Snapshot, labels [][2]string) {
	for _, l := range labels {
		some := false
		for _, pool := range s.Problem.NodePools {
			changed, _ := pool.Allow(l[0], l[1]) // the flag has been checked
			some = some || changed
		}
		if !some {
			s.Warnings = append(s.Warnings, scheduling.Warning{Object: "NodePools", Message: fmt.Sprintf("no requirement excludes %s=%s, so that --allow changes nothing", l[0], l[1])})
		}
	}
}

// Assume adds the default NodePools if pods are pending and there is no NodePool that could launch a node: there is none
// at all, or all are made from node groups (grouped) and have no offering on sale. The default NodePools launch machines
// of the catalog sold. With types, they launch these capacity types in place of their own.
func Assume(s *manifest.Snapshot, grouped bool, sold *instancetypes.Catalog, types []offerings.CapacityType) {
	own := s.Problem.NodePools
	if len(s.Problem.Pods) == 0 || len(own) > 0 && (!grouped || len(provisioning.IdleNodePools(&s.Problem)) < len(own)) {
		return
	}
	for _, pool := range manifest.DefaultNodePools(sold, s.Problem.Pods) {
		if slices.ContainsFunc(own, func(o *scheduling.NodePool) bool { return o.Name == pool.Name }) {
			pool.Name = "assumed-" + pool.Name
		}
		s.Problem.NodePools = append(s.Problem.NodePools, pool)
		spec := &pool.Spec.Template.Spec
		if len(types) > 0 {
			spec.Requirements = slices.DeleteFunc(spec.Requirements, func(r requirements.Selector) bool { return r.Key == requirements.CapacityTypeKey })
		}
		s.Warnings = append(s.Warnings, scheduling.Warning{
			Object: "NodePool/" + pool.Name,
			Message: fmt.Sprintf("the input has no NodePool, so one is assumed that requires %s; a NodePool of your own may allow cheaper nodes, such as arm64 and spot",
				describe(spec.Requirements)),
			Note: true,
		})
	}
}

// describe writes the requirements of a pool for people.
func describe(selectors []requirements.Selector) string {
	var parts []string
	for _, s := range selectors {
		if r, err := s.Requirement(); s.Operator == requirements.Gt {
			parts = append(parts, s.Key+" above "+figures.Join(s.Values))
		} else if err == nil {
			parts = append(parts, r.Short())
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return figures.Join(parts)
}
