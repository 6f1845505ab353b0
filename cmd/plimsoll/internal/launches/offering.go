package launches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Offering names an option.
func Offering(o *scheduling.LaunchOption) string {
	text := fmt.Sprintf("%s %s %s", o.InstanceType, o.CapacityType, o.Zone)
	if o.ReservationID != "" {
		text += lo.Ternary(o.Commitment, " (commitment ", " (reservation ") + o.ReservationID + ")"
	}
	return text
}

// PriceNote is a sentence that prices of options are estimated, "" if none is.
func PriceNote(options []scheduling.LaunchOption) string {
	estimated := lo.Filter(options, func(o scheduling.LaunchOption, _ int) bool { return slices.Contains(o.Estimated, "price") })
	if len(estimated) == 0 {
		return ""
	}
	types := lo.Uniq(lo.Map(estimated, func(o scheduling.LaunchOption, _ int) string { return string(o.CapacityType) }))
	return fmt.Sprintf("Prices of %s nodes are estimated; plimsoll catalog --sources says how.", strings.Join(types, " and "))
}

// Bundle writes the offerings of options, each once with its count, at most so many of them.
func Bundle(options []scheduling.LaunchOption, most int) string {
	return figures.Summarise(lo.CountValuesBy(options, func(o scheduling.LaunchOption) string { return Offering(&o) }), most)
}

// Next returns the cheapest option of another type; nil if there is none.
func Next(options []scheduling.LaunchOption) *scheduling.LaunchOption {
	others := lo.Reject(options, func(o scheduling.LaunchOption, _ int) bool { return o.InstanceType == options[0].InstanceType })
	if len(others) == 0 {
		return nil
	}
	return lo.ToPtr(lo.MinBy(others, func(a, b scheduling.LaunchOption) bool { return a.Price < b.Price }))
}
