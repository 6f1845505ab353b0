package lint

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// enoughSpot is the number of spot types that a NodePool should allow, because Karpenter replaces a spot
// node by a spot node only with that many cheaper types.
const enoughSpot = 15

// narrow returns findings for NodePools that allow spot and leave few types of it. Each names the requirement
// whose removal leaves the most types, with their number, or all requirements where no single one helps.
func narrow(pools []*scheduling.NodePool, sells func(*scheduling.NodePool) *instancetypes.Catalog) (out []Finding) {
	for _, pool := range pools {
		types := spotTypes(sells(pool))
		if types == 0 || types >= enoughSpot {
			continue
		}
		f := Finding{
			Severity: Warning, Code: SpotNarrow, Object: "NodePool/" + pool.Name, Field: requirementsField,
			Message: fmt.Sprintf("leaves %s on spot: capacity shortages are more likely, and Karpenter replaces spot by spot only with at least %d", figures.Count(types, "instance type"), enoughSpot),
		}
		all, most := pool.Spec.Template.Spec.Requirements, types
		var kept []requirements.Selector
		var left []string
		for i := range all {
			r, err := all[i].Requirement()
			if err != nil || fixed(r.Key()) {
				kept = append(kept, all[i])
				continue
			}
			left = append(left, r.Key())
			if more := spotTypes(sells(requiring(pool, slices.Concat(all[:i], all[i+1:])))); more > most {
				most, f.Field, f.Value = more, fmt.Sprintf("%s[%d]", requirementsField, i), r.Short()
				f.Advice = "widen this requirement: without it there are " + counted(more)
				if r.Key() == corev1.LabelArchStable {
					f.Advice += ", if all images run there"
				}
			}
		}
		if more := spotTypes(sells(requiring(pool, kept))); most < enoughSpot && more > most {
			f.Field, f.Value = requirementsField, strings.Join(left, ", ")
			f.Advice = "widen these requirements: without them there are " + counted(more)
		}
		if f.Advice == "" {
			f.Advice = "use a catalog with more types: this one has no more even without the NodePool's requirements"
		}
		out = append(out, f)
	}
	return out
}

// fixed reports whether a requirement is not to be widened for the sake of more instance types.
func fixed(key string) bool {
	return key == corev1.LabelOSStable || key == offerings.CapacityTypeLabel
}

// counted states the number of instance types, and whether that is few.
func counted(types int) string {
	if types < enoughSpot {
		return fmt.Sprintf("%d, which is still few", types)
	}
	return fmt.Sprint(types)
}

// spotTypes is the number of instance types of a catalog that are on sale as spot.
func spotTypes(catalog *instancetypes.Catalog) int {
	return catalog.Filter(instancetypes.ByCapacityType(offerings.Spot)).Len()
}

// requiring is a NodePool with other requirements.
func requiring(pool *scheduling.NodePool, required []requirements.Selector) *scheduling.NodePool {
	other := *pool
	other.Spec.Template.Spec.Requirements = required
	return &other
}
