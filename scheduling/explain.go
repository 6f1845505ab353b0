package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// explainer finds out why pods were left out, from the offers and nodes as they are
// once the plan is carried out.
type explainer struct {
	*compiler
	ledger *ledger
	rooms  [][]int64 // what nodes have left
	screen map[int][]screened
}

// screened is what a group's constraints leave of a template's offers.
type screened struct {
	counts   map[Reason]int // why the others were ruled out; Count is unset in the keys
	admitted model.Bits     // offers that only room can still rule out
	taint    *corev1.Taint  // the taint that rules the whole pool out
}

// explain lists the pods that found no place, with reasons and fixes.
func (c *compiler) explain(plan *Plan, solution model.Solution) {
	e := &explainer{compiler: c, ledger: newLedger(c), screen: map[int][]screened{}}
	for i := range c.model.Bins {
		room := slices.Clone(c.model.Bins[i].Room)
		load := make([]int64, c.model.Dims)
		c.model.Load(load, solution.Bins[i])
		for d, n := range load {
			room[d] -= n
		}
		e.rooms = append(e.rooms, room)
	}
	for _, node := range solution.Nodes {
		e.ledger.spend(c.bought[node.Option], node.N)
	}
	id, placed := 0, c.placed(solution)
	for _, class := range c.classes.classes {
		if class.refused != "" {
			e.report(plan, class.pods, []Reason{{Code: class.code, Count: 1, Detail: class.refused}}, nil)
			continue
		}
		if n := int64(len(class.pods)) - placed[id]; n > 0 {
			reasons := e.reasons(class)
			e.report(plan, class.pods[int64(len(class.pods))-n:], reasons, e.fixes(class, reasons))
		}
		id++
	}
	slices.SortFunc(plan.Unschedulable, func(a, b Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
}

// report adds pods that found no place for the same reasons.
func (e *explainer) report(plan *Plan, pods []*corev1.Pod, reasons []Reason, fixes []string) {
	message := sentence(reasons, fixes)
	for _, pod := range pods {
		plan.Unschedulable = append(plan.Unschedulable, Unschedulable{
			Pod: podName(pod), Message: message, Reasons: slices.Clone(reasons), Fixes: slices.Clone(fixes),
		})
	}
}

// sentence puts reasons into words.
func sentence(reasons []Reason, fixes []string) string {
	var parts []string
	for i, r := range reasons {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("%d further reasons", len(reasons)-3))
			break
		}
		if r.Count > 1 {
			parts = append(parts, fmt.Sprintf("%s (×%d)", r.Detail, r.Count))
		} else {
			parts = append(parts, r.Detail)
		}
	}
	s := "no place: " + strings.Join(parts, "; ")
	if len(fixes) > 0 {
		s += "; fix: " + fixes[0]
	}
	return s
}

// reasons counts, over all offers of all pools and all nodes, what ruled them out
// for a class.
func (e *explainer) reasons(class *podClass) []Reason {
	counts := map[Reason]int{}
	if len(e.pools) == 0 {
		counts[Reason{Code: ReasonNoNodePool, Detail: "no node pool may launch machines"}]++
	}
	for ti, s := range e.screened(class.group) {
		for r, n := range s.counts {
			counts[r] += n
		}
		s.admitted.Each(func(o int) { counts[e.ruledOut(class, ti, o)]++ })
	}
	for _, node := range e.problem.Nodes {
		if going(node) {
			counts[Reason{Code: ReasonNodeNotReady, Detail: "a node is being removed"}]++
		}
	}
	for i, x := range e.nodes {
		counts[e.nodeReason(class, x, e.rooms[i])]++
	}
	out := make([]Reason, 0, len(counts))
	for r, n := range counts {
		r.Count = n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), strings.Compare(a.Detail, b.Detail))
	})
	return out
}

// screened applies a group's constraints to the offers of every template.
func (e *explainer) screened(group int) []screened {
	if s, ok := e.screen[group]; ok {
		return s
	}
	out := make([]screened, len(e.templates))
	seen := map[string]bool{}
	for ti, v := range e.templates {
		out[ti] = e.screenTemplate(v, ti, e.classes.groups[group], !seen[v.pool.Name])
		seen[v.pool.Name] = true
	}
	for _, p := range e.pools {
		if !seen[p.Name] && len(out) > 0 {
			out[0].counts[Reason{Code: ReasonNoInstanceType, Detail: "node pool " + p.Name + " allows no value of a label that it requires"}]++
		}
	}
	e.screen[group] = out
	return out
}

// screenTemplate applies a group's constraints to the offers of one template.
func (e *explainer) screenTemplate(v *template, ti int, group *constraint, firstOfPool bool) screened {
	s := screened{counts: map[Reason]int{}, admitted: v.within.Clone()}
	count := func(r Reason, gone model.Bits) {
		if n := gone.Count(); n > 0 {
			s.counts[r] += n
			s.admitted.AndNot(gone)
		}
	}
	if !v.within.Any() {
		if firstOfPool {
			s.counts[Reason{Code: ReasonNoInstanceType, Detail: "the requirements of node pool " + v.pool.Name + " leave no instance type"}]++
		}
		return s
	}
	if hard, _ := v.hardTaint(group); hard != nil {
		s.taint = hard
		count(Reason{Code: ReasonTaints, Detail: fmt.Sprintf("node pool %s has the untolerated taint %s", v.pool.Name, taintText(hard))}, v.within)
		return s
	}
	for i := range group.selector {
		x := &group.selector[i]
		gone := s.admitted.Clone()
		gone.AndNot(e.offers.satisfying(v, x))
		count(Reason{Code: ReasonRequirements, Detail: "node selector " + x.raw + "=" + strings.Join(x.Values(), ",") + " does not match"}, gone)
	}
	gone := s.admitted.Clone()
	gone.AndNot(e.offers.admitsOwn(v, group, false))
	count(Reason{Code: ReasonRequirements, Detail: "required node affinity does not match: " + affinityText(group)}, gone)
	count(volumeReason(group), e.screenVolumes(v, group, s.admitted))

	idle := s.admitted.Clone()
	idle.Each(func(o int) {
		if e.offers.offers[o].launchable {
			idle.Clear(o)
		}
	})
	count(Reason{Code: ReasonUnavailable, Detail: "offerings are not on sale now"}, idle)
	for i, d := range e.daemons {
		if portsClash(group.ports, d.constraint.ports) {
			taken := s.admitted.Clone()
			taken.And(e.offered[ti].daemons[i])
			count(Reason{Code: ReasonHostPorts, Detail: "daemon set " + d.set.Name + " binds the same host port"}, taken)
		}
	}
	return s
}

// ruledOut says why an offer that passed a class's constraints does not take its pods.
func (e *explainer) ruledOut(class *podClass, ti, o int) Reason {
	room, ok := e.roomOf(ti, o)
	if !ok {
		return Reason{Code: ReasonResources, Detail: "daemons alone do not fit"}
	}
	if lacking := e.lacking(room, class.requests); len(lacking) > 0 {
		return e.resourceReason(lacking)
	}
	v := e.templates[ti]
	p := purchase{template: ti, offer: o}
	if id := e.ledger.reservation(p); id != "" && e.ledger.supply[id] < 1 {
		return Reason{Code: ReasonReservation, Detail: "reservation " + id + " is used up"}
	}
	if d, ok := e.exceeded(p); ok {
		return Reason{Code: ReasonLimits, Detail: fmt.Sprintf("node pool %s reaches its limit of %s", v.pool.Name, limitedResources(v.pool)[d])}
	}
	if len(floorKeys(v.set)) > 0 {
		return Reason{Code: ReasonMinValues, Detail: "too few choices remain for the minValues of node pool " + v.pool.Name}
	}
	return Reason{Code: ReasonLimits, Detail: "node pool " + v.pool.Name + " cannot buy a further machine"}
}

// roomOf is what a machine bought at an offer has for pods.
func (e *explainer) roomOf(ti, o int) ([]int64, bool) {
	n := e.compiler.rooms.number(e.compiler, e.offers.offers[o].shape, e.offered[ti].daemons, o)
	if n < 0 {
		return nil, false
	}
	return e.compiler.rooms.rooms[n], true
}

// exceeded returns the first limit that one more purchase would exceed.
func (e *explainer) exceeded(p purchase) (int, bool) {
	left := e.ledger.limits[e.templates[p.template].number]
	for d, use := range e.ledger.use(p) {
		if use > left[d] || left[d] < 0 {
			return d, true
		}
	}
	return 0, false
}

// lacking are the resources of which room has less than a pod asks for.
func (e *explainer) lacking(room, request []int64) []int {
	var out []int
	for d, n := range request {
		if n > room[d] {
			out = append(out, d)
		}
	}
	return out
}

// resourceReason words a lack of resources; one that nothing at all has comes first.
func (e *explainer) resourceReason(lacking []int) Reason {
	if r, ok := e.attachReason(lacking); ok {
		return r
	}
	var names []string
	for _, d := range e.withoutAttachments(lacking) {
		if !e.anywhere(d) {
			return Reason{Code: ReasonNoResource, Detail: "nothing on sale or running has " + string(e.table.names[d])}
		}
		names = append(names, string(e.table.names[d]))
	}
	return Reason{Code: ReasonResources, Detail: "too little " + strings.Join(names, " and ")}
}

// anywhere reports whether any offer or node has a resource.
func (e *explainer) anywhere(d int) bool {
	return slices.ContainsFunc(e.offers.shapes, func(s shape) bool { return s.allocatable[d] > 0 }) ||
		slices.ContainsFunc(e.nodes, func(x *existingNode) bool {
			q, ok := x.node.Status.Allocatable[e.table.names[d]]
			return ok && !q.IsZero()
		})
}

// nodeReason says why a node does not take a class's pods.
func (e *explainer) nodeReason(class *podClass, x *existingNode, room []int64) Reason {
	group := e.classes.groups[class.group]
	if hard, _ := untolerated(group.tolerations, x.taints); hard != nil {
		return Reason{Code: ReasonTaints, Detail: "nodes have the untolerated taint " + taintText(hard)}
	}
	if !group.ownMatchesNode(x.node.Name, x.labels) {
		return Reason{Code: ReasonRequirements, Detail: "node selector or required node affinity does not match running nodes"}
	}
	if portsClash(group.ports, x.ports) {
		return Reason{Code: ReasonHostPorts, Detail: "a pod on the node binds the same host port"}
	}
	if !group.volumesMatch(x.node.Name, x.labels) {
		return volumeReason(group)
	}
	if driver := x.attached.turnsAway(group); driver != "" {
		return fullReason(driver)
	}
	if lacking := e.lacking(room, class.requests); len(lacking) > 0 {
		r := e.resourceReason(lacking)
		if r.Code == ReasonResources {
			r.Detail += " left on running nodes"
		}
		return r
	}
	return Reason{Code: ReasonHostPorts, Detail: "a pod planned onto the node binds the same host port"}
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// affinityText writes the alternatives of a required node affinity.
func affinityText(c *constraint) string {
	var terms []string
	for i := range c.terms {
		var parts []string
		for j := range c.terms[i].labels {
			parts = append(parts, c.terms[i].labels[j].Short())
		}
		for j := range c.terms[i].fields {
			parts = append(parts, c.terms[i].fields[j].Short())
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return cmp.Or(strings.Join(terms, ", or "), "it has no usable term")
}
