package verify

import (
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// variety is in how many ways spot machines differ, by what is counted.
type variety map[string]map[string]bool

func (v variety) add(m *machine) {
	if m == nil || m.offering.CapacityType != offerings.Spot {
		return
	}
	for what, value := range map[string]string{
		"options":  m.kind.Name + " in " + m.offering.Zone,
		"types":    m.kind.Name,
		"families": offerings.Family(m.kind.Name),
		"zones":    m.offering.Zone,
	} {
		if v[what] == nil {
			v[what] = make(map[string]bool)
		}
		v[what][value] = true
	}
}

func varietyOf(machines []*machine) variety {
	v := make(variety)
	for _, m := range machines {
		v.add(m)
	}
	return v
}

// wantedVariety is how many of each are asked for.
func (c Checker) wantedVariety() map[string]int {
	f := c.Solver.Flexibility
	return map[string]int{"options": f.Options, "types": f.Types, "families": f.Families, "zones": f.Zones}
}

// lacking is what there is too little of, sorted.
func (c Checker) lacking(v variety) []string {
	var out []string
	for what, least := range c.wantedVariety() {
		if len(v[what]) < least {
			out = append(out, what)
		}
	}
	slices.Sort(out)
	return out
}

// flexible checks that a launch which may become a spot machine leaves the provider
// enough of a choice among them.
func (j *judge) flexible(r *resolved) {
	v := varietyOf(r.machines)
	if len(v) == 0 {
		return
	}
	for _, what := range j.settings.lacking(v) {
		j.add(Flexibility, r.object, "%d %s of spot machines, want at least %d", len(v[what]), what, j.settings.wantedVariety()[what])
	}
}

// lastForVariety reports whether the last of the machines is there for the choice that
// spot machines have to leave.
func (c Checker) lastForVariety(machines []*machine) bool {
	all, without := varietyOf(machines), varietyOf(machines[:len(machines)-1])
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(what string) bool {
		return len(without[what]) < min(c.wantedVariety()[what], len(all[what]))
	})
}
