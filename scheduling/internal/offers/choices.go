package offers

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// FlexibleByDefault is the flexibility of [scheduling.GoalDiversified]: 15 instance types, as Karpenter asks of spot
// consolidation, of at least 3 families.
func FlexibleByDefault() scheduling.Flexibility {
	return scheduling.Flexibility{Types: 15, Families: 3}
}

// On reports whether a flexibility asks for a choice: a value of 1 does not, because every launch has one option.
func On(f scheduling.Flexibility) bool { return max(f.Options, f.Types, f.Families, f.Zones) > 1 }

// ChoiceKey is an attribute of which the spot options of a launch must have at least Least different values.
type ChoiceKey struct {
	Name  string
	Least int
	Of    func(o *Offer) string
}

// All are the attributes of a flexibility, with a Least of 0 where it does not ask for a choice.
func All(f scheduling.Flexibility) []ChoiceKey {
	return []ChoiceKey{
		{"options", f.Options, func(o *Offer) string { return o.InstanceType.Name + "/" + o.Offering.Zone }},
		{"types", f.Types, func(o *Offer) string { return o.InstanceType.Name }},
		{"families", f.Families, func(o *Offer) string { return offerings.Family(o.InstanceType.Name) }},
		{"zones", f.Zones, func(o *Offer) string { return o.Offering.Zone }},
	}
}

// Keys are the attributes of which a flexibility asks for more than one value.
func Keys(f scheduling.Flexibility) []ChoiceKey {
	if !On(f) {
		return nil
	}
	var out []ChoiceKey
	for _, k := range All(f) {
		if k.Least > 1 {
			out = append(out, k)
		}
	}
	return out
}

// Spot reports whether the offer's capacity type is spot.
func (o *Offer) Spot() bool { return o.Offering.CapacityType == offerings.Spot }

// CapacityKind is 1 for spot offers, 0 for other ones.
func CapacityKind(o *Offer) int {
	if o.Spot() {
		return 1
	}
	return 0
}

// Choices counts the different values of each attribute among spot options.
type Choices struct {
	keys []ChoiceKey
	seen []map[string]bool
}

// NewChoices is a count of no options for the attributes of a flexibility.
func NewChoices(f scheduling.Flexibility) *Choices {
	c := &Choices{keys: Keys(f)}
	for range c.keys {
		c.seen = append(c.seen, map[string]bool{})
	}
	return c
}

// Add counts a spot offer, and reports whether it has a value that was still missing.
func (c *Choices) Add(o *Offer) bool {
	news := false
	for i, k := range c.keys {
		if value := k.Of(o); len(c.seen[i]) < k.Least && !c.seen[i][value] {
			c.seen[i][value] = true
			news = true
		}
	}
	return news
}

// Enough reports whether every attribute has its least number of values.
func (c *Choices) Enough() bool {
	for i, k := range c.keys {
		if len(c.seen[i]) < k.Least {
			return false
		}
	}
	return true
}

// HoldsFlexibility reports whether every launch of a plan satisfies a flexibility by the options that it lists.
func HoldsFlexibility(f scheduling.Flexibility, plan *scheduling.Plan) bool {
	if !On(f) {
		return true
	}
	for i := range plan.Launches {
		if !Choice(f, plan.Launches[i].Options) {
			return false
		}
	}
	return true
}

// Choice reports whether the spot options in a list satisfy a flexibility; a list without spot options does.
func Choice(f scheduling.Flexibility, options []scheduling.LaunchOption) bool {
	c, spot := NewChoices(f), false
	for i := range options {
		if o := &options[i]; o.CapacityType == offerings.Spot {
			spot = true
			c.Add(&Offer{InstanceType: &instancetypes.InstanceType{Name: o.InstanceType}, Offering: &offerings.Offering{Zone: o.Zone}})
		}
	}
	return !spot || c.Enough()
}

// FlexibilityReason is the reason for pods that only spot nodes with too few options could hold.
func FlexibilityReason(s *scheduling.Policy) scheduling.ReasonCount {
	return scheduling.ReasonCount{Code: scheduling.ReasonFlexibility, Detail: fmt.Sprintf("too few spot options remain (%s required)", s.Flexibility)}
}

// FloorKeys are the requirements with minValues.
func FloorKeys(set requirements.Set) []requirements.Requirement {
	var out []requirements.Requirement
	for r := range set.All() {
		if r.MinValues() > 0 {
			out = append(out, r)
		}
	}
	return out
}

// MaxWorst is the number of levels of a pool's limits that a cautious instance books for one kind of offer.
const MaxWorst = 6

// LeastUse is, for each value of key k of a floor, the least use of limits of a member with the value; the smallest
// first.
func LeastUse(f *model.Floor, k int) [][]int64 {
	least := make([][]int64, f.Keys[k].Values)
	for i := range f.Members {
		m := &f.Members[i]
		if v := m.Values[k]; v >= 0 && (least[v] == nil || slices.Compare(m.Use, least[v]) < 0) {
			least[v] = m.Use
		}
	}
	least = slices.DeleteFunc(least, func(u []int64) bool { return u == nil })
	slices.SortFunc(least, slices.Compare[[]int64])
	return least
}
