package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// options resolves and checks every option of a launch.
func (j *judge) options(r *resolved) {
	made := choices{labels: r.Labels, requirements: fromSelectors(r.Requirements)}
	identity := fmt.Sprintf("%s %s %q", r.pool.Name, labelText(r.Labels), made.requirements)
	var previous *machine
	for i := range r.Options {
		object := fmt.Sprintf("%s/options[%d]", r.object, i)
		for k := range i {
			if sameOption(&r.Options[k], &r.Options[i]) {
				j.add(OptionDuplicated, object, "is options[%d] again", k)
				break
			}
		}
		m := j.resolve(r, object, &r.Options[i], made, identity)
		r.machines = append(r.machines, m)
		if m == nil {
			continue
		}
		j.option(r, object, &r.Options[i], m)
		if previous != nil && j.policy.Ranking.Strategy != offerings.Diversified &&
			j.policy.Ranking.Compare(j.candidate(previous), j.candidate(m)) > 0 {
			j.add(OptionOrder, object, "belongs before the option ahead of it")
		}
		previous = m
	}
}

func sameOption(a, b *scheduling.Option) bool {
	return a.InstanceType == b.InstanceType && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.ReservationID == b.ReservationID
}

// labelText identifies a set of labels.
func labelText(labels map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%q=%q ", key, labels[key])
	}
	return b.String()
}

// resolve finds what an option stands for in the catalog; nil if nothing.
func (j *judge) resolve(r *resolved, object string, o *scheduling.Option, made choices, identity string) *machine {
	t, ok := r.pool.catalog.Get(o.InstanceType)
	if !ok {
		j.add(TypeUnknown, object, "type %q is not in the catalog of pool %s", o.InstanceType, r.pool.Name)
		return nil
	}
	offering, ok := findOffering(t, o.Zone, o.CapacityType, o.ReservationID)
	if !ok {
		j.add(OfferingUnknown, object, "%s is not sold as %s in %q with reservation %q", o.InstanceType, o.CapacityType, o.Zone, o.ReservationID)
		return nil
	}
	key := fmt.Sprintf("%q %q %q %q %s", o.InstanceType, o.Zone, o.CapacityType, o.ReservationID, identity)
	m := j.machines[key]
	if m == nil {
		m = j.newMachine(r.pool, t, offering, made, settled)
		j.machines[key] = m
	}
	return m
}

// option checks one option: whether it may be bought, and whether it holds the pods.
func (j *judge) option(r *resolved, object string, o *scheduling.Option, m *machine) {
	if why := j.unavailable(m.kind, m.offering); why != "" {
		j.add(OfferingUnavailable, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if why := j.excluded(m.kind, m.offering); why != "" {
		j.add(OptionExcluded, object, "%s in %s %s", o.InstanceType, o.Zone, why)
	}
	if o.Price != m.offering.Price {
		j.add(OptionPrice, object, "costs %v, in the catalog %v", o.Price, m.offering.Price)
	}
	if o.InterruptionRate != m.offering.InterruptionRate {
		j.add(OptionInterruption, object, "interruption rate %v, in the catalog %v", o.InterruptionRate, m.offering.InterruptionRate)
	}
	if !slices.Equal(o.Estimated, m.offering.Estimated) {
		j.add(OptionEstimated, object, "estimated are %q, in the catalog %q", o.Estimated, m.offering.Estimated)
	}
	for _, key := range m.clashes {
		j.add(PoolRequirements, object, "label %s is %q by the catalog, the launch or its pool say otherwise", key, m.labels[key])
	}
	for _, e := range m.unmet() {
		j.add(PoolRequirements, object, "pool %s requires %s", r.pool.Name, e)
	}
	place := m.place
	place.open = r.promises
	for _, e := range fromSelectors(r.Requirements) {
		if _, fixed := place.value(e.key); fixed || place.open(requirements.NormalizeKey(e.key)).rule == shut {
			if !place.meets([]expression{e}) {
				j.add(LaunchRequirements, object, "does not meet the launch's own %s", e)
			}
		}
	}
	for _, e := range r.pool.asks {
		if !place.meets(about(e.key, r.pool.asks)) && m.meets(about(e.key, r.pool.asks)) {
			j.add(LaunchRequirements, object, "the launch does not carry the pool's %s", e)
		}
	}
	j.placeAll(object, &place, r.pods, &occupancy{taken: m.daemonPorts, volumes: attached{}, limit: m.volumeLimit, reach: &place, free: m.room()})
}

// promises is what a launch says about labels that only the provider knows: pods
// may rely on what its requirements say.
func (r *resolved) promises(key string) opening {
	if !r.pool.providers(key) {
		return opening{}
	}
	known := about(key, fromSelectors(r.Requirements))
	if len(known) == 0 {
		return opening{}
	}
	return opening{rule: every, known: known}
}

// occupancy is what a machine or node has for pods, and what is taken of it already.
type occupancy struct {
	taken   []port
	volumes attached
	// limit is how many volumes of a driver it takes, reach where its volumes may be.
	limit func(driver string) (int, bool)
	reach *place
	free  amounts
}

// placeAll checks that all of the pods can be at the place, and adds them to what is taken.
func (j *judge) placeAll(object string, at *place, pods []*tenant, o *occupancy) {
	need := amounts{}
	for _, t := range pods {
		if !at.admits(t.wants) {
			j.add(NodeAffinity, object, "labels do not suit pod %s", t.name)
		}
		if bad := untolerated(at.taints, t.pod.Spec.Tolerations); len(bad) > 0 {
			j.add(Taints, object, "pod %s does not tolerate %s", t.name, taintText(bad))
		}
		if p, ok := clash(t.ports, o.taken); ok {
			j.add(HostPorts, object, "port %v of pod %s is taken", p, t.name)
		}
		o.taken = slices.Concat(o.taken, t.ports)
		if claim, bad := o.reach.outOfReach(t.mounts); bad {
			j.add(Volume, object, "the volume of claim %s, which pod %s uses, cannot be used there", claim, t.name)
		}
		if why, full := o.volumes.excess(t.mounts, o.limit); full {
			j.add(AttachLimit, object, "pod %s: %s", t.name, why)
		}
		o.volumes.add(t.mounts)
		need.add(t.requests)
	}
	for _, name := range exceeding(need, o.free) {
		j.add(Resources, object, "%s: pods ask for %v, %v are free", name, need.of(name), o.free.of(name))
	}
	o.free = o.free.minus(need)
}

func (e expression) String() string {
	if len(e.values) == 0 {
		return fmt.Sprintf("%s %s", e.key, e.op)
	}
	return fmt.Sprintf("%s %s %v", e.key, e.op, e.values)
}

// existing checks the nodes that receive pods, and charges the pods to them.
func (j *judge) existing() {
	listed := make(map[string]bool)
	for i := range j.plan.Existing {
		a := &j.plan.Existing[i]
		object := "node/" + a.Node
		if listed[a.Node] {
			j.add(NodeDuplicated, object, "is listed twice")
		}
		listed[a.Node] = true
		if len(a.Pods) == 0 {
			j.add(NodeEmpty, object, "is listed without pods")
		}
		s := j.stations[a.Node]
		if s == nil {
			j.add(NodeUnknown, object, "is not in the problem")
			continue
		}
		if leaving(s.node) {
			j.add(NodeLeaving, object, "is being removed")
		}
		var pods []*tenant
		for _, name := range a.Pods {
			if t := j.pods[name]; t != nil {
				pods = append(pods, t)
			}
		}
		o := &occupancy{taken: s.taken, volumes: s.attached, limit: s.volumeLimit, reach: s.forVolumes(), free: s.left}
		j.placeAll(object, &s.place, pods, o)
		s.taken, s.left = o.taken, o.free
	}
}

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
func (w *world) wantedVariety() map[string]int {
	f := w.policy.Flexibility
	return map[string]int{"options": f.Options, "types": f.Types, "families": f.Families, "zones": f.Zones}
}

// lacking is what there is too little of, sorted.
func (w *world) lacking(v variety) []string {
	var out []string
	for what, least := range w.wantedVariety() {
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
	for _, what := range j.lacking(v) {
		j.add(Flexibility, r.object, "%d %s of spot machines, want at least %d", len(v[what]), what, j.wantedVariety()[what])
	}
}

// lastForVariety reports whether the last of the machines is there for the choice that
// spot machines have to leave.
func (w *world) lastForVariety(machines []*machine) bool {
	all, without := varietyOf(machines), varietyOf(machines[:len(machines)-1])
	return slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(what string) bool {
		return len(without[what]) < min(w.wantedVariety()[what], len(all[what]))
	})
}
