package pools

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Size bounds how many nodes a node group has.
type Size struct{ Min, Max int }

// ParseSize reads NAME=MIN:MAX, e.g. workers=2:10.
func ParseSize(text string) (name string, size Size, err error) {
	const want = "want NAME=MIN:MAX, such as workers=2:10"
	name, bounds, named := strings.Cut(text, "=")
	least, most, both := strings.Cut(bounds, ":")
	if !named || !both || name == "" {
		return "", size, errors.New(want)
	}
	for _, bound := range []struct {
		text string
		into *int
	}{{least, &size.Min}, {most, &size.Max}} {
		n, err := strconv.ParseUint(bound.text, 10, 31)
		if err != nil {
			return "", size, fmt.Errorf("%q is not a number of nodes: %s", bound.text, want)
		}
		*bound.into = int(n)
	}
	if size.Min > size.Max {
		return "", size, fmt.Errorf("the minimum %d is above the maximum %d", size.Min, size.Max)
	}
	return name, size, nil
}

// aksMode is the label by which AKS tells system node pools from user node pools.
const aksMode = "kubernetes.azure.com/mode"

// Demanded are the nodes, by name, of groups that AKS demands to have a node: its system node pools.
func Demanded(nodes []*corev1.Node) map[string]bool {
	out := map[string]bool{}
	for _, node := range nodes {
		out[node.Name] = node.Labels[aksMode] == "system"
	}
	return out
}

// Sizes bounds node groups, whose NodePools are those of the input, and returns how many nodes of each have
// to stay, by the NodePool's name. Where that is not stated one node stays, because it is not known whether
// the group may be empty, which is warned of; NodePools of Karpenter may. AKS demands one node of a system
// node pool (learn.microsoft.com/azure/aks/use-system-pools). The error names groups that there are none of.
func Sizes(s *manifest.Snapshot, stated map[string]Size) (map[string]int, error) {
	least := map[string]int{}
	var open []string
	for _, pool := range s.Problem.NodePools {
		group, ok := s.NodeGroups[pool.Name]
		if !ok {
			continue
		}
		size, known := stated[pool.Name]
		if !known {
			if least[pool.Name] = 0; !group.Karpenters() {
				least[pool.Name] = 1
				open = append(open, pool.Name)
			}
			continue
		}
		if size.Min == 0 && pool.Spec.Template.Metadata.Labels[aksMode] == "system" {
			return nil, fmt.Errorf("--group-size %s=%d:%d: AKS keeps at least one node of a system node pool", pool.Name, size.Min, size.Max)
		}
		least[pool.Name] = size.Min
		if pool.Spec.Limits == nil {
			pool.Spec.Limits = corev1.ResourceList{}
		}
		pool.Spec.Limits[scheduling.NodesResource] = *resource.NewQuantity(int64(size.Max), resource.DecimalSI)
	}
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		switch _, ok := least[name]; {
		case ok:
		case len(least) == 0:
			return nil, fmt.Errorf("--group-size %s: there are no node groups, because the input has NodePools or no nodes", name)
		default:
			return nil, fmt.Errorf("--group-size %s: no node group %s; the input has %s", name, name, figures.Join(slices.Sorted(maps.Keys(least))))
		}
	}
	if len(open) > 0 {
		s.Warnings = append(s.Warnings, scheduling.Warning{Object: "node groups", Message: fmt.Sprintf(
			"the minimum and maximum sizes of %s are unknown: a minimum of one node and no maximum are assumed; set them with --group-size NAME=MIN:MAX", figures.Join(open)), Note: true})
	}
	return least, nil
}
