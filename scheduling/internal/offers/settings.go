package offers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// sizeResources are the resources that a node size bounds.
func sizeResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// CheckNodeSize adds a fault for each invalid quantity of a node size.
func CheckNodeSize(s scheduling.NodeSize, f *faults.Collector) {
	list := func(path string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			switch {
			case !slices.Contains(sizeResources(), name):
				f.Add(q.String(), "only cpu and memory can be bounded", path+"["+string(name)+"]")
			case q.Sign() <= 0:
				f.Add(q.String(), "must be above 0", path+"["+string(name)+"]")
			}
		}
	}
	list("solver.size.smallest", s.Smallest)
	list("solver.size.largest", s.Largest)
	for _, name := range sizeResources() {
		if least, most, both := bounds(s, name); both && least.Cmp(most) > 0 {
			f.Add(least.String(), "is above the largest, "+most.String(), "solver.size.smallest["+string(name)+"]")
		}
	}
}

// bounds are the least and the most of a resource; both reports whether both are set.
func bounds(s scheduling.NodeSize, name corev1.ResourceName) (least, most resource.Quantity, both bool) {
	least, low := s.Smallest[name]
	most, high := s.Largest[name]
	return least, most, low && high
}

// Exclusion is why a policy excludes an offer, for all pods. The zero value is that it does not.
type Exclusion struct {
	Code     scheduling.ReasonCode
	resource corev1.ResourceName
	small    bool // below the smallest size, else above the largest
}

// excluded is the first reason why a policy excludes an offering.
func excluded(s *scheduling.Policy, t *instancetypes.InstanceType, o *offerings.Offering) Exclusion {
	if !excludes(s) {
		return Exclusion{}
	}
	if all := Exclusions(s, t, o); len(all) > 0 {
		return all[0]
	}
	return Exclusion{}
}

// excludes reports whether a policy may exclude offerings at all.
func excludes(s *scheduling.Policy) bool {
	return s.NoSpot || len(s.Filters) > 0 || len(s.Size.Smallest) > 0 || len(s.Size.Largest) > 0
}

// Allows reports whether Filters, NoSpot and Size of a policy allow an offering. Its availability does not count.
func Allows(s scheduling.Policy, t *instancetypes.InstanceType, o offerings.Offering) bool {
	return excluded(&s, t, &o).Code == ""
}

// CapacityOf is the capacity in a resource of a node of an offering; its price for the resource of limits on prices.
func CapacityOf(t *instancetypes.InstanceType, o *offerings.Offering, name corev1.ResourceName) resource.Quantity {
	if name == scheduling.PriceResource {
		return podspec.Quantity(name, int64(o.Price))
	}
	if q, ok := o.Capacity[name]; ok {
		return q
	}
	return t.Capacity[name]
}

// LimitText is a limit on a resource for people, which reads as a quantity: 12.5 and not 12500m for a price.
func LimitText(name corev1.ResourceName, q resource.Quantity) string {
	if name == scheduling.PriceResource {
		return offerings.Price(podspec.Amount(name, q)).String()
	}
	return q.String()
}

// Exclusions lists all reasons why a policy excludes an offering.
func Exclusions(s *scheduling.Policy, t *instancetypes.InstanceType, o *offerings.Offering) (out []Exclusion) {
	if s.NoSpot && o.CapacityType == offerings.Spot {
		out = append(out, Exclusion{Code: scheduling.ReasonNoSpot})
	}
	if slices.ContainsFunc(s.Filters, func(keep instancetypes.Filter) bool { return keep != nil && !keep(t, *o) }) {
		out = append(out, Exclusion{Code: scheduling.ReasonFilter})
	}
	for _, name := range sizeResources() {
		has := CapacityOf(t, o, name)
		if least, ok := s.Size.Smallest[name]; ok && has.Cmp(least) < 0 {
			out = append(out, Exclusion{Code: scheduling.ReasonNodeSize, resource: name, small: true})
		}
		if most, ok := s.Size.Largest[name]; ok && has.Cmp(most) > 0 {
			out = append(out, Exclusion{Code: scheduling.ReasonNodeSize, resource: name})
		}
	}
	return out
}

// Reason is an exclusion as a reason for unplaced pods.
func Reason(s *scheduling.Policy, x Exclusion) scheduling.ReasonCount {
	switch {
	case x.Code == scheduling.ReasonNoSpot:
		return scheduling.ReasonCount{Code: x.Code, Detail: "spot is excluded"}
	case x.Code == scheduling.ReasonFilter:
		return scheduling.ReasonCount{Code: x.Code, Detail: "excluded by filters"}
	case x.small:
		q := s.Size.Smallest[x.resource]
		return scheduling.ReasonCount{Code: x.Code, Detail: fmt.Sprintf("less %s than the smallest node allowed (%s)", x.resource, q.String())}
	default:
		q := s.Size.Largest[x.resource]
		return scheduling.ReasonCount{Code: x.Code, Detail: fmt.Sprintf("more %s than the largest node allowed (%s)", x.resource, q.String())}
	}
}

// Admitting is the change of the policy that admits an offer. The policy must exclude it.
func Admitting(s *scheduling.Policy, o *Offer) scheduling.Change {
	var changes []scheduling.Change
	for _, x := range Exclusions(s, o.InstanceType, o.Offering) {
		changes = append(changes, lifting(s, x, o))
	}
	c := Joined(changes, " and ")
	if c.Kind == scheduling.ChangeNodeSize {
		c.Text += ", such as " + o.InstanceType.Name
	}
	return c
}

// Joined is one change that makes all of changes, at least one. Its text is their texts, each once, with words between
// them.
func Joined(changes []scheduling.Change, words string) scheduling.Change {
	c := changes[0]
	c.Text = strings.Join(lo.Uniq(lo.Map(changes, func(c scheduling.Change, _ int) string { return c.Text })), words)
	c.And = append(slices.Clone(c.And), changes[1:]...)
	return c
}

// lifting is the change of the policy that removes one exclusion of an offer.
func lifting(s *scheduling.Policy, x Exclusion, o *Offer) scheduling.Change {
	if x.Code == scheduling.ReasonNoSpot {
		return scheduling.Change{Kind: scheduling.ChangeSpot, Object: "Policy", Text: "allow spot"}
	}
	if x.Code == scheduling.ReasonFilter {
		name := fmt.Sprintf("%s/%s/%s", o.InstanceType.Name, o.Offering.Zone, o.Offering.CapacityType)
		return scheduling.Change{Kind: scheduling.ChangeFilter, Object: name, Text: "let the filters keep " + strings.ReplaceAll(name, "/", " ")}
	}
	bounds, direction := s.Size.Largest, "up to"
	if x.small {
		bounds, direction = s.Size.Smallest, "from"
	}
	has := CapacityOf(o.InstanceType, o.Offering, x.resource)
	bound := bounds[x.resource]
	return scheduling.Change{
		Kind: scheduling.ChangeNodeSize, Object: "Policy", Key: string(x.resource), From: bound.String(), To: has.String(),
		Text: fmt.Sprintf("allow nodes %s %s %s", direction, x.resource, has.String()),
	}
}

// Check adds a fault for each invalid field of an interruption cost.
func Check(i scheduling.InterruptionCost, f *faults.Collector) {
	if i.PerNode < 0 {
		f.Add(i.PerNode.String(), "is negative", "solver.interruption.perNode")
	}
	if i.PerCore < 0 {
		f.Add(i.PerCore.String(), "is negative", "solver.interruption.perCore")
	}
	rate := strconv.FormatFloat(i.UnstatedRate, 'g', -1, 64)
	if !(i.UnstatedRate >= 0 && i.UnstatedRate <= 1) { // so that NaN fails too
		f.Add(rate, "must be a share from 0 to 1", "solver.interruption.unstatedRate")
	} else if i.UnstatedRate > 0 && !i.On() {
		f.Add(rate, "counts only where an interruption costs something", "solver.interruption.unstatedRate")
	}
}

// Expects reports whether nodes have costs beside their prices: overhead or interruptions.
func Expects(s *scheduling.Policy) bool { return s.NodeOverhead > 0 || s.InterruptionCost.On() }

// Objective is the sum that the search minimised: the expected price if nodes have costs beside their prices, else the
// price.
func Objective(s *scheduling.Policy, sums *scheduling.Summary) offerings.Price {
	if Expects(s) {
		return sums.ExpectedPerHour
	}
	return sums.PricePerHour
}
