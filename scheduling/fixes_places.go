package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// volumeFix says where volumes would have to be.
func (e *explainer) volumeFix(class *podClass, id int, out *changeList) {
	group := e.classes.groups[class.group]
	if len(group.volumes) == 0 {
		return
	}
	without := *group
	without.volumes = nil
	zones := map[string]bool{}
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard != nil {
			continue
		}
		here := e.offers.admits(v, group, false)
		e.offers.admits(v, &without, false).Each(func(o int) {
			if !here.Has(o) && e.usable(class, id, ti, o) {
				zones[e.offers.offers[o].offering.Zone] = true
			}
		})
	}
	for i, x := range e.nodes {
		hard, _ := untolerated(group.tolerations, x.taints)
		if hard == nil && group.ownMatchesNode(x.node.Name, x.labels) && !group.volumesMatch(x.node.Name, x.labels) &&
			model.Fits(e.left[i], class.requests) && len(e.tied.nodeBars(id, i)) == 0 {
			if zone, ok := x.labels[offerings.ZoneLabel]; ok {
				zones[zone] = true
			}
		}
	}
	if len(zones) == 0 {
		return
	}
	const most = 5
	c := Change{Kind: ChangeVolume, Key: offerings.ZoneLabel, Values: slices.Sorted(maps.Keys(zones))[:min(len(zones), most)]}
	c.Text = fmt.Sprintf("use volumes that are elsewhere, such as in %s: these can be used %s, and nothing there takes the pod",
		strings.Join(c.Values, ", "), placesText(group))
	out.add(c)
}

// portFix says which host port is taken.
func (e *explainer) portFix(class *podClass, id int, out *changeList) {
	group := e.classes.groups[class.group]
	if len(group.ports) == 0 {
		return
	}
	for ti, v := range e.templates {
		if hard, _ := v.hardTaint(group); hard != nil {
			continue
		}
		row := e.offers.admits(v, group, false)
		for i, d := range e.daemons {
			port, clash := firstClash(group.ports, d.constraint.ports)
			if !clash {
				continue
			}
			taken := row.Clone()
			taken.And(e.offered[ti].daemons[i])
			if e.anyFits(class, id, ti, taken) {
				out.add(portChange(port, "daemon set "+d.set.Name+" binds it"))
			}
		}
	}
	for i, x := range e.nodes {
		hard, _ := untolerated(group.tolerations, x.taints)
		if hard != nil || !group.matchesNode(x.node.Name, x.labels) || !model.Fits(e.left[i], class.requests) || len(e.tied.nodeBars(id, i)) > 0 {
			continue
		}
		port, clash := firstClash(group.ports, x.ports)
		for _, it := range e.bins[i].items {
			if !clash {
				port, clash = firstClash(group.ports, e.classes.groups[e.planned[it.class].group].ports)
			}
		}
		if clash {
			out.add(portChange(port, "it is taken on node "+x.node.Name))
			return
		}
	}
}

func portChange(port hostPort, why string) Change {
	return Change{
		Kind: ChangeHostPort, From: fmt.Sprintf("%d/%s", port.port, port.protocol),
		Text: fmt.Sprintf("bind another host port than %d/%s: %s", port.port, port.protocol, why),
	}
}

// firstClash returns the first of some ports that others bind too.
func firstClash(ports, others []hostPort) (hostPort, bool) {
	i := slices.IndexFunc(ports, func(p hostPort) bool { return portsClash([]hostPort{p}, others) })
	if i < 0 {
		return hostPort{}, false
	}
	return ports[i], true
}

// saleFix names the best offering that would do if it were on sale.
func (e *explainer) saleFix(class *podClass, id int, screens []screened, out *changeList) {
	for ti := range screens {
		best := -1
		screens[ti].idle.Each(func(o int) {
			if room, ok := e.room(ti, o); best < 0 && ok && model.Fits(room, class.requests) && e.affords(ti, o) && e.free(id, ti, o) {
				best = o
			}
		})
		if best >= 0 {
			out.add(e.putOnSale(e.templates[ti].pool.Name, &e.offers.offers[best]))
			return
		}
	}
}

// raiseReservation lets a reservation have one machine more.
func raiseReservation(id string) Change {
	return Change{Kind: ChangeReservation, Object: id, Text: "raise the count of reservation " + id}
}

// poolFix names the node pools whose requirements leave nothing.
func (e *explainer) poolFix(out *changeList) {
	for _, p := range e.pools {
		empty := !slices.ContainsFunc(e.templates, func(v *template) bool { return v.pool.Name == p.Name && v.within.Any() })
		if empty {
			out.add(Change{
				Kind: ChangeNodePool, Object: "NodePool/" + p.Name,
				Text: "widen the requirements of node pool " + p.Name + ": they leave no instance type",
			})
		}
	}
}

// together finds the place that misses by the fewest things, where a single one does
// not help anywhere, and lists those.
func (e *explainer) together(class *podClass, id int, out *changeList) {
	var best []Change
	better := func(changes []Change) {
		if len(changes) > 0 && (best == nil || len(changes) < len(best)) {
			best = changes
		}
	}
	seen := map[string]bool{}
	for ti, v := range e.templates {
		v.within.Each(func(o int) {
			if best == nil || len(best) > 2 {
				better(e.offerMisses(class, id, ti, o))
			}
		})
	}
	for i := range e.nodes {
		if best == nil || len(best) > 2 {
			better(e.nodeMisses(class, id, i))
		}
	}
	if best == nil {
		return
	}
	c := best[0]
	var texts []string
	for _, x := range best {
		if !seen[x.Text] {
			seen[x.Text] = true
			texts = append(texts, x.Text)
		}
	}
	c.Text = strings.Join(texts, ", and ")
	c.And = append(slices.Clone(c.And), best[1:]...)
	out.add(c)
}

// offerMisses lists what would have to change for an offer to take a pod.
func (e *explainer) offerMisses(class *podClass, id, ti, o int) []Change {
	var out []Change
	group, v := e.classes.groups[class.group], e.templates[ti]
	if hard, _ := v.hardTaint(group); hard != nil {
		out = append(out, tolerationFix(group, v.pool.Spec.Template.Spec.Taints, "NodePool/"+v.pool.Name, "node pool "+v.pool.Name))
	}
	met := e.metBy(group, func(x *expression) bool { return e.offers.satisfying(v, x).Has(o) }, func() bool { return e.offers.admitsOwn(v, group, false).Has(o) },
		func(key string) string { value, _ := e.labelOf(ti, o, key); return value })
	out = append(out, met...)
	if len(group.volumes) > 0 {
		row := v.within.Clone()
		e.offers.narrowToVolumes(row, v, group)
		if !row.Has(o) {
			out = append(out, Change{Kind: ChangeVolume, Text: "use other volumes: these can be used " + placesText(group)})
		}
	}
	x := &e.offers.offers[o]
	if x.excluded.code != "" {
		out = append(out, e.solver.admitting(x))
	} else if !x.launchable {
		out = append(out, e.putOnSale(v.pool.Name, x))
	}
	for i, d := range e.daemons {
		if port, clash := firstClash(group.ports, d.constraint.ports); clash && e.offered[ti].daemons[i].Has(o) {
			out = append(out, portChange(port, "daemon set "+d.set.Name+" binds it"))
		}
	}
	room, ok := e.room(ti, o)
	if !ok {
		return append(out, Change{Kind: ChangeDaemonSet, Text: "ask for less in daemon sets: they alone do not fit " + x.instanceType.Name})
	}
	for _, d := range e.lacking(room, class.requests) {
		out = append(out, e.lessOf(d, max(room[d], 0), class))
	}
	p := purchase{template: ti, offer: o}
	if gaps := e.limitGaps(p); len(gaps) > 0 {
		out = append(out, limitChange(gaps))
	}
	if r := e.ledger.reservation(p); r != "" && e.ledger.supply[r] < 1 && x.launchable {
		out = append(out, raiseReservation(r))
	}
	for _, b := range e.offerBars(id, ti, o) {
		out = append(out, e.tied.lift(class, id, b))
	}
	return out
}

// metBy lists which conditions on labels a place does not meet, whose labels have some
// values.
func (e *explainer) metBy(group *constraint, meets func(*expression) bool, admits func() bool, value func(key string) string) []Change {
	var out []Change
	for _, a := range asksOf(group) {
		if meets(a.expression) {
			continue
		}
		c := Change{Kind: a.kind(), Key: a.raw, From: a.values(), Text: "do not ask for " + a.Short()}
		if v := value(a.Key()); v != "" {
			c.Values, c.Text = []string{v}, fmt.Sprintf("ask for %s %s instead of %s", a.raw, v, a.values())
		}
		out = append(out, c)
	}
	if len(out) == 0 && !admits() {
		out = append(out, Change{Kind: ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityText(group)})
	}
	return out
}

// nodeMisses lists what would have to change for a node to take a pod.
func (e *explainer) nodeMisses(class *podClass, id, bin int) []Change {
	var out []Change
	group, x := e.classes.groups[class.group], e.nodes[bin]
	if hard, _ := untolerated(group.tolerations, x.taints); hard != nil {
		out = append(out, tolerationFix(group, x.taints, "Node/"+x.node.Name, "node "+x.node.Name))
	}
	out = append(out, e.metBy(group, func(a *expression) bool { return a.matches(x.labels) }, func() bool { return group.ownMatchesNode(x.node.Name, x.labels) },
		func(key string) string { return x.labels[key] })...)
	if !group.volumesMatch(x.node.Name, x.labels) {
		out = append(out, Change{Kind: ChangeVolume, Text: "use other volumes: these can be used " + placesText(group)})
	}
	if port, clash := firstClash(group.ports, x.ports); clash {
		out = append(out, portChange(port, "it is taken on node "+x.node.Name))
	}
	if driver := x.attached.turnsAway(group); driver != "" {
		out = append(out, Change{Kind: ChangeVolume, Key: driver, Text: "use fewer volumes of " + driver})
	}
	for _, d := range e.lacking(e.left[bin], class.requests) {
		name := e.table.names[d]
		if driver := attachDriver(name); driver != "" {
			out = append(out, attachFix(driver, max(e.left[bin][d], 0), class.requests[d]))
			continue
		}
		q := quantity(name, class.requests[d]-e.left[bin][d])
		out = append(out, Change{
			Kind: ChangeRoom, Object: "Node/" + x.node.Name, Key: string(name), To: q.String(),
			Text: fmt.Sprintf("free %s of %s on node %s", q.String(), name, x.node.Name),
		})
	}
	for _, b := range e.tied.nodeBars(id, bin) {
		out = append(out, e.tied.lift(class, id, b))
	}
	return out
}
