package launchplan

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// defaultMaxOptions is the limit for a Policy with MaxOptions 0.
const defaultMaxOptions = 60

// variety checks the number of options of the launch: enough distinct values for the minValues of the pool, enough
// variety of spot options for the policy's Flexibility, and no more options than the limit unless either needs them.
func (c *launchCheck) variety(l *launch) {
	least, spot := l.pool.MinValues(), varietyOf(l.nodes)
	if c.state.Policy.StrictMinValues() {
		for _, key := range slices.Sorted(maps.Keys(least)) {
			if n := snapshot.Distinct(l.nodes, key); n < least[key] {
				c.report.Add(rule.MinValues, l.object, "options have %d values of %s, minValues requires %d", n, key, least[key])
			}
		}
	}
	most := defaultMaxOptions
	if c.state.Policy.MaxOptions > 0 {
		most = c.state.Policy.MaxOptions
	}
	if len(l.nodes) > most {
		fewer := l.nodes[:len(l.nodes)-1]
		needed := slices.ContainsFunc(slices.Collect(maps.Keys(least)), func(key string) bool {
			return snapshot.Distinct(fewer, key) < min(least[key], snapshot.Distinct(l.nodes, key))
		})
		without := varietyOf(fewer)
		for what, values := range spot {
			needed = needed || len(without[what]) < min(wantedVariety(c.state.Policy)[what], len(values))
		}
		if !needed {
			c.report.Add(rule.TooManyOptions, l.object, "has %d options, at most %d are allowed", len(l.nodes), most)
		}
	}
	if len(spot) == 0 {
		return
	}
	for _, what := range lacking(c.state.Policy, spot) {
		c.report.Add(rule.Flexibility, l.object, "spot options have %d %s, the flexibility setting requires %d", len(spot[what]), what, wantedVariety(c.state.Policy)[what])
	}
}

// variety is the distinct values of spot options: pairs of type and zone ("options"), "types", "families" and
// "zones".
type variety map[string]map[string]bool

func (v variety) add(n *snapshot.Node) {
	if n == nil || n.Offering.CapacityType != offerings.Spot {
		return
	}
	for what, value := range map[string]string{
		"options":  n.Kind.Name + " in " + n.Offering.Zone,
		"types":    n.Kind.Name,
		"families": offerings.Family(n.Kind.Name),
		"zones":    n.Offering.Zone,
	} {
		if v[what] == nil {
			v[what] = make(map[string]bool)
		}
		v[what][value] = true
	}
}

func varietyOf(nodes []*snapshot.Node) variety {
	v := make(variety)
	for _, n := range nodes {
		v.add(n)
	}
	return v
}

// wantedVariety returns the number of distinct values that the policy demands of each.
func wantedVariety(p *snapshot.Policy) map[string]int {
	f := p.Flexibility
	return map[string]int{"options": f.Options, "types": f.Types, "families": f.Families, "zones": f.Zones}
}

// lacking returns the names of which there are fewer values than the policy demands, sorted.
func lacking(p *snapshot.Policy, v variety) []string {
	return slices.DeleteFunc([]string{"families", "options", "types", "zones"}, func(what string) bool { return len(v[what]) >= wantedVariety(p)[what] })
}
