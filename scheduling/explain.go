package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// explainer finds out why pods were left out, from the offers and nodes as they are
// once the plan is carried out.
type explainer struct {
	*scene
	tied   *tied // nil where nothing ties pods to each other
	screen map[int][]screened
	idle   map[string]string // by NodePool, why it has no offering to choose from
	// lenient passes over places that nothing rules out, for pods that have one.
	lenient bool
}

func newExplainer(c *compiler, plan *Plan) *explainer {
	s := newScene(c, plan)
	return &explainer{scene: s, tied: newTied(s), screen: map[int][]screened{}, idle: map[string]string{}}
}

// explain lists the pods that found no place, with reasons and fixes.
func (c *compiler) explain(plan *Plan) {
	if c.sited != nil {
		c = c.sited.compiler
	}
	left := 0
	for _, class := range c.classes.classes {
		left += len(class.pods)
	}
	for i := range plan.Launches {
		left -= len(plan.Launches[i].Pods)
	}
	for i := range plan.Existing {
		left -= len(plan.Existing[i].Pods)
	}
	if left == 0 {
		return
	}
	e := newExplainer(c, plan)
	id := 0
	for _, class := range c.classes.classes {
		if class.refused != "" {
			e.report(plan, class.pods, []Reason{{Code: class.code, Count: 1, Detail: class.refused}}, e.remedies(class))
			continue
		}
		if pods := e.unplaced(id); len(pods) > 0 {
			reasons := e.reasons(class, id)
			e.report(plan, pods, reasons, e.changes(class, id))
		}
		id++
	}
	slices.SortFunc(plan.Unschedulable, func(a, b Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
}

// report adds pods that found no place for the same reasons.
func (e *explainer) report(plan *Plan, pods []*corev1.Pod, reasons []Reason, changes []Change) {
	for _, pod := range pods {
		u := Unschedulable{Pod: podName(pod), Reasons: slices.Clone(reasons)}
		u.propose(copyChanges(changes))
		plan.Unschedulable = append(plan.Unschedulable, u)
	}
}

// sentence puts reasons into words.
func sentence(reasons []Reason, changes []Change) string {
	var parts []string
	for i, r := range reasons {
		if i == 3 {
			if len(reasons) == 4 {
				parts = append(parts, "1 further reason")
			} else {
				parts = append(parts, fmt.Sprintf("%d further reasons", len(reasons)-3))
			}
			break
		}
		if r.Count > 1 {
			parts = append(parts, fmt.Sprintf("%s (%d offerings or nodes)", r.Detail, r.Count))
		} else {
			parts = append(parts, r.Detail)
		}
	}
	s := "no place: " + strings.Join(parts, "; ")
	if len(changes) == 0 {
		return s + "; no change was found that places it"
	}
	return s + "; fix: " + changes[0].Text
}

// reasons counts, over all offers of all pools and all nodes, what ruled them out
// for a class, which is at a place among the planned ones.
func (e *explainer) reasons(class *podClass, id int) []Reason {
	t := newTally(e, class, id)
	if len(e.pools) == 0 {
		t.counts[Reason{Code: ReasonNoNodePool, Detail: "no node pool may launch machines"}]++
	}
	for ti, s := range e.screened(class.group) {
		t.offers(ti, s)
	}
	for _, node := range e.problem.Nodes {
		if going(node) {
			t.counts[Reason{Code: ReasonNodeNotReady, Detail: "a node is being removed"}]++
		}
	}
	for i := range e.nodes {
		t.node(i)
	}
	return t.reasons()
}

// sortedReasons puts counted reasons in order, the most frequent first.
func sortedReasons(counts map[Reason]int) []Reason {
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

// unplanned is the reason of places that nothing rules out.
func (e *explainer) unplanned(id int, where string) Reason {
	if e.tied.ties(id) {
		return Reason{Code: ReasonSearch, Detail: where + " has places, but no plan was found that keeps what ties the pod to others"}
	}
	return Reason{Code: ReasonSearch, Detail: where + " has places, but no plan was found that uses them"}
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
func (e *explainer) nodeReason(class *podClass, id, bin int) (Reason, bar) {
	group, x := e.classes.groups[class.group], e.nodes[bin]
	if hard, _ := untolerated(group.tolerations, x.taints); hard != nil {
		return Reason{Code: ReasonTaints, Detail: "nodes have the untolerated taint " + taintText(hard)}, bar{}
	}
	if !group.ownMatchesNode(x.node.Name, x.labels) {
		return Reason{Code: ReasonRequirements, Detail: "node selector or required node affinity does not match running nodes"}, bar{}
	}
	if portsClash(group.ports, x.ports) {
		return Reason{Code: ReasonHostPorts, Detail: "a pod on the node binds the same host port"}, bar{}
	}
	if !group.volumesMatch(x.node.Name, x.labels) {
		return volumeReason(group), bar{}
	}
	if driver := x.attached.turnsAway(group); driver != "" {
		return fullReason(driver), bar{}
	}
	if lacking := e.lacking(e.left[bin], class.requests); len(lacking) > 0 {
		r := e.resourceReason(lacking)
		if r.Code == ReasonResources {
			r.Detail += " left on running nodes"
		}
		return r, bar{}
	}
	if e.portsTaken(class, bin) {
		return Reason{Code: ReasonHostPorts, Detail: "a pod planned onto the node binds the same host port"}, bar{}
	}
	if bars := e.tied.nodeBars(id, bin); len(bars) > 0 {
		return Reason{}, bars[0]
	}
	return e.unplanned(id, "a running node"), bar{}
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
