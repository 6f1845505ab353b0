package launchplan

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// options resolves and checks every option of a launch.
func (c *launchCheck) options(l *launch) {
	made := snapshot.Choices{Labels: l.Labels, Requirements: snapshot.FromSelectors(l.Requirements)}
	identity := fmt.Sprintf("%s %s %q", l.pool.Object.Name, snapshot.LabelText(l.Labels), made.Requirements)
	var previous *snapshot.Node
	for i := range l.Options {
		o, object := &l.Options[i], fmt.Sprintf("%s/options[%d]", l.object, i)
		if k := slices.IndexFunc(l.Options[:i], func(other scheduling.LaunchOption) bool { return optionKey(&other) == optionKey(o) }); k >= 0 {
			c.report.Add(rule.OptionDuplicated, object, "is the same as options[%d]", k)
		}
		n := c.resolve(l, object, o, made, identity)
		l.nodes = append(l.nodes, n)
		if n == nil {
			continue
		}
		c.option(l, object, o, n)
		if previous != nil && c.state.Policy.Ranking.Strategy != offerings.Diversified && c.state.Policy.Ranking.Compare(c.state.Policy.Candidate(previous), c.state.Policy.Candidate(n)) > 0 {
			c.report.Add(rule.OptionOrder, object, "is ranked behind an option that is worse")
		}
		previous = n
	}
}

// optionKey returns the key that tells the options of a launch apart.
func optionKey(o *scheduling.LaunchOption) offerings.Key {
	return offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID}
}

// resolve returns the planned node of an option, nil if the catalog does not have it.
func (c *launchCheck) resolve(l *launch, object string, o *scheduling.LaunchOption, made snapshot.Choices, identity string) *snapshot.Node {
	t, ok := l.pool.Catalog.Get(o.InstanceType)
	if !ok {
		c.report.Add(rule.TypeUnknown, object, "instance type %q is not in the catalog of NodePool %s", o.InstanceType, l.pool.Object.Name)
		return nil
	}
	offering, ok := snapshot.FindOffering(t, o.Zone, o.CapacityType, o.ReservationID)
	if !ok {
		c.report.Add(rule.OfferingUnknown, object, "%s has no %s offering in zone %q with reservation %q", o.InstanceType, o.CapacityType, o.Zone, o.ReservationID)
		return nil
	}
	key := fmt.Sprintf("%q %s", optionKey(o), identity)
	n := c.planned[key]
	if n == nil {
		n = c.state.NewPlanned(l.pool, t, offering, made, snapshot.DaemonsDecided)
		c.planned[key] = n
	}
	return n
}

// option checks one option: whether it may be bought, and whether it holds the pods.
func (c *launchCheck) option(l *launch, object string, o *scheduling.LaunchOption, n *snapshot.Node) {
	if why := c.state.Unavailable(n.Kind, n.Offering); why != "" {
		c.report.Add(rule.OfferingUnavailable, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if why := c.state.Policy.Excluded(n.Kind, n.Offering); why != "" {
		c.report.Add(rule.OptionExcluded, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if o.Price != n.Offering.Price {
		c.report.Add(rule.OptionPrice, object, "price is $%v, in the catalog $%v", o.Price, n.Offering.Price)
	}
	if o.InterruptionRate != n.Offering.InterruptionRate {
		c.report.Add(rule.OptionInterruption, object, "interruption rate is %v, in the catalog %v", o.InterruptionRate, n.Offering.InterruptionRate)
	}
	if !slices.Equal(o.Estimated, n.Offering.Estimated) {
		c.report.Add(rule.OptionEstimated, object, "estimated fields are %q, in the catalog %q", o.Estimated, n.Offering.Estimated)
	}
	for _, key := range n.Clashes {
		c.report.Add(rule.PoolRequirements, object, "label %s is %q in the catalog, and the launch or its NodePool has another value", key, n.Labels[key])
	}
	for _, e := range n.Unmet() {
		c.report.Add(rule.PoolRequirements, object, "NodePool %s requires %s", l.pool.Object.Name, e)
	}
	promised := n.Copied()
	promised.Open = l.promises
	for _, e := range snapshot.FromSelectors(l.Requirements) {
		if _, fixed := promised.Value(e.Key); fixed || promised.Open(requirements.NormalizeKey(e.Key)).Rule == snapshot.Shut {
			if !promised.Meets([]snapshot.Expression{e}) {
				c.report.Add(rule.LaunchRequirements, object, "does not meet the requirement %s of the launch", e)
			}
		}
	}
	for _, e := range l.pool.Asks {
		if asks := snapshot.About(e.Key, l.pool.Asks); !promised.Meets(asks) && n.Meets(asks) {
			c.report.Add(rule.LaunchRequirements, object, "the launch lacks the NodePool's requirement %s", e)
		}
	}
	place(c.report, object, promised, l.pods, c.bounds)
}
