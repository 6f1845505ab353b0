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

// FlexibleByDefault is what [GoalFlexible] asks for: the 15 types of Karpenter's rule,
// and not all of one make.
func FlexibleByDefault() scheduling.Flexibility {
	return scheduling.Flexibility{Types: 15, Families: 3}
}

// On reports whether anything is asked for. One of everything is had anyway.
func On(f scheduling.Flexibility) bool { return max(f.Options, f.Types, f.Families, f.Zones) > 1 }

// ChoiceKey is a respect in which spot options have to differ.
type ChoiceKey struct {
	Name  string
	Least int
	Of    func(o *Offer) string
}

// All are the respects in which a choice can be asked for, asked for or not.
func All(f scheduling.Flexibility) []ChoiceKey {
	return []ChoiceKey{
		{"options", f.Options, func(o *Offer) string { return o.InstanceType.Name + "/" + o.Offering.Zone }},
		{"types", f.Types, func(o *Offer) string { return o.InstanceType.Name }},
		{"families", f.Families, func(o *Offer) string { return offerings.Family(o.InstanceType.Name) }},
		{"zones", f.Zones, func(o *Offer) string { return o.Offering.Zone }},
	}
}

// Keys are the respects that matter.
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

// Spot reports whether it is a spot offer.
func (o *Offer) Spot() bool { return o.Offering.CapacityType == offerings.Spot }

// CapacityKind tells spot offers, 1, from others, 0.
func CapacityKind(o *Offer) int {
	if o.Spot() {
		return 1
	}
	return 0
}

// Choices counts in what respects spot options differ.
type Choices struct {
	keys []ChoiceKey
	seen []map[string]bool
}

// NewChoices begins to count the choice among offers that is asked for.
func NewChoices(f scheduling.Flexibility) *Choices {
	c := &Choices{keys: Keys(f)}
	for range c.keys {
		c.seen = append(c.seen, map[string]bool{})
	}
	return c
}

// Add counts a spot offer and reports whether that brought something that was missing.
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

// Enough reports whether nothing is missing.
func (c *Choices) Enough() bool {
	for i, k := range c.keys {
		if len(c.seen[i]) < k.Least {
			return false
		}
	}
	return true
}

// Kept reports whether the launches of a plan leave the choice that is asked for, as
// far as the options show that they list.
func Kept(f scheduling.Flexibility, plan *scheduling.Plan) bool {
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

// Choice reports whether the spot options among some leave the choice that is asked for, or there are none.
func Choice(f scheduling.Flexibility, options []scheduling.Option) bool {
	c, spot := NewChoices(f), false
	for i := range options {
		if o := &options[i]; o.CapacityType == offerings.Spot {
			spot = true
			c.Add(&Offer{InstanceType: &instancetypes.InstanceType{Name: o.InstanceType}, Offering: &offerings.Offering{Zone: o.Zone}})
		}
	}
	return !spot || c.Enough()
}

// FlexibilityReason words that spot machines would leave too little choice.
func FlexibilityReason(s *scheduling.Policy) scheduling.Reason {
	return scheduling.Reason{Code: scheduling.ReasonFlexibility, Detail: fmt.Sprintf("too little choice of spot machines remains (%s are asked for)", s.Flexibility)}
}

// FloorKeys are the requirements of a pool that state minValues.
func FloorKeys(set requirements.Set) []requirements.Requirement {
	var out []requirements.Requirement
	for r := range set.All() {
		if r.MinValues() > 0 {
			out = append(out, r)
		}
	}
	return out
}

// MaxWorst bounds how many levels of flexibility a cautious solve tells apart for
// one kind of offer.
const MaxWorst = 6

// LeastUse is, for each value of a key, the least that a member with it takes;
// values that take little come first.
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
