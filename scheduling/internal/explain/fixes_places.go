package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// volumeFix says where volumes would have to be.
func (e *Explainer) volumeFix(class *podspec.PodClass, id int, out *scheduling.ChangeList) {
	group := e.Classes.Groups[class.Group]
	if len(group.Volumes) == 0 {
		return
	}
	without := *group
	without.Volumes = nil
	zones := map[string]bool{}
	for ti, v := range e.Templates {
		if hard, _ := v.HardTaint(group); hard != nil {
			continue
		}
		here := e.Offers.Admits(v, group, false)
		e.Offers.Admits(v, &without, false).Each(func(o int) {
			if !here.Has(o) && e.usable(class, id, ti, o) {
				zones[e.Offers.Offers[o].Offering.Zone] = true
			}
		})
	}
	for i, x := range e.Nodes {
		hard, _ := podspec.Untolerated(group.Tolerations, x.Taints)
		if hard == nil && group.OwnMatchesNode(x.Node.Name, x.Labels) && !group.VolumesMatch(x.Node.Name, x.Labels) &&
			model.Fits(e.Left[i], class.Requests) && len(e.Tied.NodeBars(id, i)) == 0 {
			if zone, ok := x.Labels[offerings.ZoneLabel]; ok {
				zones[zone] = true
			}
		}
	}
	if len(zones) == 0 {
		return
	}
	const most = 5
	c := scheduling.Change{Kind: scheduling.ChangeVolume, Key: offerings.ZoneLabel, Values: slices.Sorted(maps.Keys(zones))[:min(len(zones), most)]}
	c.Text = fmt.Sprintf("use volumes that are elsewhere, such as in %s: these can be used %s, and nothing there takes the pod",
		strings.Join(c.Values, ", "), podspec.PlacesText(group))
	out.Add(c)
}

// portFix says which host port is taken.
func (e *Explainer) portFix(class *podspec.PodClass, id int, out *scheduling.ChangeList) {
	group := e.Classes.Groups[class.Group]
	if len(group.Ports) == 0 {
		return
	}
	for ti, v := range e.Templates {
		if hard, _ := v.HardTaint(group); hard != nil {
			continue
		}
		row := e.Offers.Admits(v, group, false)
		for i, d := range e.Daemons {
			port, clash := firstClash(group.Ports, d.Constraint.Ports)
			if !clash {
				continue
			}
			taken := row.Clone()
			taken.And(e.Offered[ti].Daemons[i])
			if e.anyFits(class, id, ti, taken) {
				out.Add(portChange(port, "daemon set "+d.Set.Name+" binds it"))
			}
		}
	}
	for i, x := range e.Nodes {
		hard, _ := podspec.Untolerated(group.Tolerations, x.Taints)
		if hard != nil || !group.MatchesNode(x.Node.Name, x.Labels) || !model.Fits(e.Left[i], class.Requests) || len(e.Tied.NodeBars(id, i)) > 0 {
			continue
		}
		port, clash := firstClash(group.Ports, x.Ports)
		for _, it := range e.Bins[i].Items {
			if !clash {
				port, clash = firstClash(group.Ports, e.Classes.Groups[e.Planned[it.Class].Group].Ports)
			}
		}
		if clash {
			out.Add(portChange(port, "it is taken on node "+x.Node.Name))
			return
		}
	}
}

func portChange(port podspec.HostPort, why string) scheduling.Change {
	return scheduling.Change{
		Kind: scheduling.ChangeHostPort, From: fmt.Sprintf("%d/%s", port.Port, port.Protocol),
		Text: fmt.Sprintf("bind another host port than %d/%s: %s", port.Port, port.Protocol, why),
	}
}

// firstClash returns the first of some ports that others bind too.
func firstClash(ports, others []podspec.HostPort) (podspec.HostPort, bool) {
	i := slices.IndexFunc(ports, func(p podspec.HostPort) bool { return podspec.PortsClash([]podspec.HostPort{p}, others) })
	if i < 0 {
		return podspec.HostPort{}, false
	}
	return ports[i], true
}

// saleFix names the best offering that would do if it were on sale.
func (e *Explainer) saleFix(class *podspec.PodClass, id int, screens []screened, out *scheduling.ChangeList) {
	for ti := range screens {
		best := -1
		screens[ti].idle.Each(func(o int) {
			if room, ok := e.room(ti, o); best < 0 && ok && model.Fits(room, class.Requests) && e.affords(ti, o) && e.free(id, ti, o) {
				best = o
			}
		})
		if best >= 0 {
			out.Add(e.putOnSale(e.Templates[ti].Pool.Name, &e.Offers.Offers[best]))
			return
		}
	}
}

// raiseReservation lets a reservation have one machine more.
func raiseReservation(id string) scheduling.Change {
	return scheduling.Change{Kind: scheduling.ChangeReservation, Object: id, Text: "raise the count of reservation " + id}
}

// poolFix names the node pools whose requirements leave nothing.
func (e *Explainer) poolFix(out *scheduling.ChangeList) {
	for _, p := range e.Pools {
		empty := !slices.ContainsFunc(e.Templates, func(v *offers.Template) bool { return v.Pool.Name == p.Name && v.Within.Any() })
		if empty {
			out.Add(scheduling.Change{
				Kind: scheduling.ChangeNodePool, Object: "NodePool/" + p.Name,
				Text: "widen the requirements of node pool " + p.Name + ": they leave no instance type",
			})
		}
	}
}

// together finds the place that misses by the fewest things, where a single one does
// not help anywhere, and lists those.
func (e *Explainer) together(class *podspec.PodClass, id int, out *scheduling.ChangeList) {
	var best []scheduling.Change
	better := func(changes []scheduling.Change) {
		if len(changes) > 0 && (best == nil || len(changes) < len(best)) {
			best = changes
		}
	}
	seen := map[string]bool{}
	for ti, v := range e.Templates {
		v.Within.Each(func(o int) {
			if best == nil || len(best) > 2 {
				better(e.offerMisses(class, id, ti, o))
			}
		})
	}
	for i := range e.Nodes {
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
	out.Add(c)
}

// offerMisses lists what would have to change for an offer to take a pod.
func (e *Explainer) offerMisses(class *podspec.PodClass, id, ti, o int) []scheduling.Change {
	var out []scheduling.Change
	group, v := e.Classes.Groups[class.Group], e.Templates[ti]
	if hard, _ := v.HardTaint(group); hard != nil {
		out = append(out, tolerationFix(group, v.Pool.Spec.Template.Spec.Taints, "NodePool/"+v.Pool.Name, "node pool "+v.Pool.Name))
	}
	met := e.metBy(group, func(x *podspec.Expression) bool { return e.Offers.Satisfying(v, x).Has(o) }, func() bool { return e.Offers.AdmitsOwn(v, group, false).Has(o) },
		func(key string) string { value, _ := e.labelOf(ti, o, key); return value })
	out = append(out, met...)
	if len(group.Volumes) > 0 {
		row := v.Within.Clone()
		e.Offers.NarrowToVolumes(row, v, group)
		if !row.Has(o) {
			out = append(out, scheduling.Change{Kind: scheduling.ChangeVolume, Text: "use other volumes: these can be used " + podspec.PlacesText(group)})
		}
	}
	x := &e.Offers.Offers[o]
	if x.Excluded.Code != "" {
		out = append(out, offers.Admitting(e.Solver, x))
	} else if !x.Launchable {
		out = append(out, e.putOnSale(v.Pool.Name, x))
	}
	for i, d := range e.Daemons {
		if port, clash := firstClash(group.Ports, d.Constraint.Ports); clash && e.Offered[ti].Daemons[i].Has(o) {
			out = append(out, portChange(port, "daemon set "+d.Set.Name+" binds it"))
		}
	}
	room, ok := e.room(ti, o)
	if !ok {
		return append(out, scheduling.Change{Kind: scheduling.ChangeDaemonSet, Text: "ask for less in daemon sets: they alone do not fit " + x.InstanceType.Name})
	}
	for _, d := range e.lacking(room, class.Requests) {
		out = append(out, e.lessOf(d, max(room[d], 0), class))
	}
	p := offers.Purchase{Template: ti, Offer: o}
	if gaps := e.limitGaps(p); len(gaps) > 0 {
		out = append(out, limitChange(gaps))
	}
	if r := e.ledger.Reservation(p); r != "" && e.ledger.Supply[r] < 1 && x.Launchable {
		out = append(out, raiseReservation(r))
	}
	for _, b := range e.offerBars(id, ti, o) {
		out = append(out, e.Tied.lift(class, id, b))
	}
	return out
}

// metBy lists which conditions on labels a place does not meet, whose labels have some
// values.
func (e *Explainer) metBy(group *podspec.Constraint, meets func(*podspec.Expression) bool, admits func() bool, value func(key string) string) []scheduling.Change {
	var out []scheduling.Change
	for _, a := range asksOf(group) {
		if meets(a.Expression) {
			continue
		}
		c := scheduling.Change{Kind: a.kind(), Key: a.Raw, From: a.values(), Text: "do not ask for " + a.Short()}
		if v := value(a.Key()); v != "" {
			c.Values, c.Text = []string{v}, fmt.Sprintf("ask for %s %s instead of %s", a.Raw, v, a.values())
		}
		out = append(out, c)
	}
	if len(out) == 0 && !admits() {
		out = append(out, scheduling.Change{Kind: scheduling.ChangeNodeAffinity, Text: "widen the required node affinity: " + affinityText(group)})
	}
	return out
}

// nodeMisses lists what would have to change for a node to take a pod.
func (e *Explainer) nodeMisses(class *podspec.PodClass, id, bin int) []scheduling.Change {
	var out []scheduling.Change
	group, x := e.Classes.Groups[class.Group], e.Nodes[bin]
	if hard, _ := podspec.Untolerated(group.Tolerations, x.Taints); hard != nil {
		out = append(out, tolerationFix(group, x.Taints, "Node/"+x.Node.Name, "node "+x.Node.Name))
	}
	out = append(out, e.metBy(group, func(a *podspec.Expression) bool { return a.Matches(x.Labels) }, func() bool { return group.OwnMatchesNode(x.Node.Name, x.Labels) },
		func(key string) string { return x.Labels[key] })...)
	if !group.VolumesMatch(x.Node.Name, x.Labels) {
		out = append(out, scheduling.Change{Kind: scheduling.ChangeVolume, Text: "use other volumes: these can be used " + podspec.PlacesText(group)})
	}
	if port, clash := firstClash(group.Ports, x.Ports); clash {
		out = append(out, portChange(port, "it is taken on node "+x.Node.Name))
	}
	if driver := x.Attached.TurnsAway(group); driver != "" {
		out = append(out, scheduling.Change{Kind: scheduling.ChangeVolume, Key: driver, Text: "use fewer volumes of " + driver})
	}
	for _, d := range e.lacking(e.Left[bin], class.Requests) {
		name := e.Table.Names[d]
		if driver := podspec.AttachDriver(name); driver != "" {
			out = append(out, attachFix(driver, max(e.Left[bin][d], 0), class.Requests[d]))
			continue
		}
		q := podspec.Quantity(name, class.Requests[d]-e.Left[bin][d])
		out = append(out, scheduling.Change{
			Kind: scheduling.ChangeRoom, Object: "Node/" + x.Node.Name, Key: string(name), To: q.String(),
			Text: fmt.Sprintf("free %s of %s on node %s", q.String(), name, x.Node.Name),
		})
	}
	for _, b := range e.Tied.NodeBars(id, bin) {
		out = append(out, e.Tied.lift(class, id, b))
	}
	return out
}
