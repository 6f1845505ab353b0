package launchplan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// limits checks that launches take no more than is left of limits and reservations: all at their first options, with
// any one launch at another of its options, and with all at the options that take most; a launch that must list
// several options, for minValues or Flexibility, is left out of the last. It returns the amounts that remain
// whichever one launch is at another option.
func limits(report *rule.Report, state *snapshot.State, launches []*launch) (slack snapshot.Amounts) {
	left, taken, worst := state.Left(), snapshot.Amounts{}, snapshot.Amounts{}
	known := slices.DeleteFunc(slices.Clone(launches), func(l *launch) bool { return l.first() == nil })
	for _, l := range known {
		taken.Add(l.first().Takes())
	}
	exceeds := func(object string, name corev1.ResourceName, amount *big.Int) {
		if amount.Cmp(left.Of(name)) <= 0 {
			return
		}
		code := rule.Limits
		if strings.Contains(string(name), " of reservation/") {
			code = rule.Reservation
		}
		report.Add(code, object, "launches need %v %s, %v is left", amount, name, left.Of(name))
	}
	for _, name := range snapshot.Names(taken) {
		_, object, _ := strings.Cut(string(name), " of ")
		exceeds(object, name, taken.Of(name))
	}
	most := snapshot.Amounts{} // amounts that all launches take more at the options that take most
	for _, l := range known {
		own := snapshot.Amounts{}
		for i, n := range l.nodes {
			if n == nil {
				continue
			}
			more := n.Takes().Minus(l.first().Takes())
			worst.Raise(more)
			own.Raise(more)
			for _, name := range snapshot.Names(more) {
				if more.Of(name).Sign() > 0 && taken.Of(name).Cmp(left.Of(name)) <= 0 {
					exceeds(fmt.Sprintf("%s/options[%d]", l.object, i), name, new(big.Int).Add(taken.Of(name), more.Of(name)))
				}
			}
		}
		if !several(state.Policy, l) {
			most.Add(own)
		}
	}
	for _, name := range snapshot.Names(most) {
		all := new(big.Int).Add(taken.Of(name), most.Of(name))
		if worst.Of(name).Cmp(most.Of(name)) < 0 && taken.Of(name).Cmp(left.Of(name)) <= 0 {
			_, object, _ := strings.Cut(string(name), " of ")
			exceeds(object, name, all)
		}
	}
	return left.Minus(taken).Minus(worst)
}

// several reports whether a launch has to list several options.
func several(p *snapshot.Policy, l *launch) bool {
	if (p.Flexibility != scheduling.Flexibility{}) && slices.ContainsFunc(l.Options, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.Spot }) {
		return true
	}
	return slices.ContainsFunc(l.Requirements, func(s requirements.Selector) bool { return s.MinValues != nil && *s.MinValues > 1 })
}
