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
)

// sizeResources are those that sizes are about.
func sizeResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// CheckNodeSize notes what is wrong with the sizes.
func CheckNodeSize(s scheduling.NodeSize, f *scheduling.Faults) {
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

// bounds are the ends for a resource, and whether there are both.
func bounds(s scheduling.NodeSize, name corev1.ResourceName) (least, most resource.Quantity, both bool) {
	least, low := s.Smallest[name]
	most, high := s.Largest[name]
	return least, most, low && high
}

// Exclusion is why the settings of a solver keep an offer from being bought, whoever
// asks; the zero value is that they do not.
type Exclusion struct {
	Code     scheduling.ReasonCode
	resource corev1.ResourceName
	small    bool // too small, not too large
}

// excluded says first of all why the settings keep an offering of a type from being
// bought.
func excluded(s *scheduling.Policy, t *instancetypes.InstanceType, o *offerings.Offering) Exclusion {
	if !excludes(s) {
		return Exclusion{}
	}
	if all := Exclusions(s, t, o); len(all) > 0 {
		return all[0]
	}
	return Exclusion{}
}

// excludes reports whether the settings keep anything from being bought.
func excludes(s *scheduling.Policy) bool {
	return s.NoSpot || len(s.Filters) > 0 || len(s.Size.Smallest) > 0 || len(s.Size.Largest) > 0
}

// Allows reports whether Filters, NoSpot and Size let an offering of a type be bought,
// whether it is on sale now or not.
func Allows(s scheduling.Policy, t *instancetypes.InstanceType, o offerings.Offering) bool {
	return excluded(&s, t, &o).Code == ""
}

// CapacityOf is what a machine bought at an offering of a type has of a resource.
func CapacityOf(t *instancetypes.InstanceType, o *offerings.Offering, name corev1.ResourceName) resource.Quantity {
	if q, ok := o.Capacity[name]; ok {
		return q
	}
	return t.Capacity[name]
}

// Exclusions lists everything by which the settings keep an offering of a type from
// being bought.
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

// Reason words an exclusion.
func Reason(s *scheduling.Policy, x Exclusion) scheduling.Reason {
	switch {
	case x.Code == scheduling.ReasonNoSpot:
		return scheduling.Reason{Code: x.Code, Detail: "spot machines are ruled out"}
	case x.Code == scheduling.ReasonFilter:
		return scheduling.Reason{Code: x.Code, Detail: "the filters rule machines out"}
	case x.small:
		q := s.Size.Smallest[x.resource]
		return scheduling.Reason{Code: x.Code, Detail: fmt.Sprintf("machines have less %s than the smallest that may be bought (%s)", x.resource, q.String())}
	default:
		q := s.Size.Largest[x.resource]
		return scheduling.Reason{Code: x.Code, Detail: fmt.Sprintf("machines have more %s than the largest that may be bought (%s)", x.resource, q.String())}
	}
}

// Admitting is the change of settings that would let an offer be bought.
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

// Joined is several changes as one that makes all of them, its text those of the changes, each once,
// with words between them.
func Joined(changes []scheduling.Change, words string) scheduling.Change {
	c := changes[0]
	c.Text = strings.Join(lo.Uniq(lo.Map(changes, func(c scheduling.Change, _ int) string { return c.Text })), words)
	c.And = append(slices.Clone(c.And), changes[1:]...)
	return c
}

// lifting is the change that lifts one exclusion of an offer.
func lifting(s *scheduling.Policy, x Exclusion, o *Offer) scheduling.Change {
	if x.Code == scheduling.ReasonNoSpot {
		return scheduling.Change{Kind: scheduling.ChangeSpot, Object: "Policy", Text: "allow spot machines"}
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
		Text: fmt.Sprintf("allow machines %s %s %s", direction, x.resource, has.String()),
	}
}

// Check notes what is wrong.
func Check(i scheduling.Interruption, f *scheduling.Faults) {
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

// Expects reports whether machines cost something beside their prices.
func Expects(s *scheduling.Policy) bool { return s.NodeOverhead > 0 || s.Interruption.On() }

// Objective is what the search minimised, as the plan's sums state it.
func Objective(s *scheduling.Policy, sums *scheduling.Summary) offerings.Price {
	if Expects(s) {
		return sums.ExpectedPerHour
	}
	return sums.PricePerHour
}
