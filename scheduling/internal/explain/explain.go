package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Explainer finds out why pods were left out, from the offers and nodes as they are
// once the plan is carried out.
type Explainer struct {
	*scene
	Tied   *tied // nil where nothing ties pods to each other
	screen map[int][]screened
	idle   map[string]string // by NodePool, why it has no offering to choose from
	// lenient passes over places that nothing rules out, for pods that have one.
	Lenient bool
}

// NewExplainer explains a plan of a compiled problem.
func NewExplainer(c *compile.Compiler, plan *scheduling.Plan) *Explainer {
	s := newScene(c, plan)
	return &Explainer{scene: s, Tied: newTied(s), screen: map[int][]screened{}, idle: map[string]string{}}
}

// Explain lists the pods that found no place, with reasons and fixes.
func Explain(c *compile.Compiler, plan *scheduling.Plan) {
	if c.Sited != nil {
		c = c.Sited.Compiler
	}
	left := 0
	for _, class := range c.Classes.Classes {
		left += len(class.Pods)
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
	e := NewExplainer(c, plan)
	id := 0
	for _, class := range c.Classes.Classes {
		if class.Refused != "" {
			e.report(plan, class.Pods, []scheduling.Reason{{Code: class.Code, Count: 1, Detail: class.Refused}}, e.remedies(class))
			continue
		}
		if pods := e.Unplaced(id); len(pods) > 0 {
			reasons := e.Reasons(class, id)
			e.report(plan, pods, reasons, e.changes(class, id))
		}
		id++
	}
	slices.SortFunc(plan.Unschedulable, func(a, b scheduling.Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
}

// report adds pods that found no place for the same reasons.
func (e *Explainer) report(plan *scheduling.Plan, pods []*corev1.Pod, reasons []scheduling.Reason, changes []scheduling.Change) {
	for _, pod := range pods {
		u := scheduling.Unschedulable{Pod: podspec.PodName(pod), Reasons: slices.Clone(reasons)}
		Propose(&u, scheduling.CopyChanges(changes))
		plan.Unschedulable = append(plan.Unschedulable, u)
	}
}

// sentence puts reasons into words.
func sentence(reasons []scheduling.Reason, changes []scheduling.Change) string {
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

// Reasons counts, over all offers of all pools and all nodes, what ruled them out
// for a class, which is at a place among the planned ones.
func (e *Explainer) Reasons(class *podspec.PodClass, id int) []scheduling.Reason {
	t := newTally(e, class, id)
	if len(e.Pools) == 0 {
		t.counts[scheduling.Reason{Code: scheduling.ReasonNoNodePool, Detail: "no node pool may launch machines"}]++
	}
	for ti, s := range e.screened(class.Group) {
		t.offers(ti, s)
	}
	for _, node := range e.Problem.Nodes {
		if podspec.Going(node) {
			t.counts[scheduling.Reason{Code: scheduling.ReasonNodeNotReady, Detail: "a node is being removed"}]++
		}
	}
	for i := range e.Nodes {
		t.node(i)
	}
	return t.reasons()
}

// sortedReasons puts counted reasons in order, the most frequent first.
func sortedReasons(counts map[scheduling.Reason]int) []scheduling.Reason {
	out := make([]scheduling.Reason, 0, len(counts))
	for r, n := range counts {
		r.Count = n
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b scheduling.Reason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), strings.Compare(a.Detail, b.Detail))
	})
	return out
}

// unplanned is the reason of places that nothing rules out.
func (e *Explainer) unplanned(id int, where string) scheduling.Reason {
	if e.Tied.ties(id) {
		return scheduling.Reason{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that keeps what ties the pod to others"}
	}
	return scheduling.Reason{Code: scheduling.ReasonSearch, Detail: where + " has places, but no plan was found that uses them"}
}

// lacking are the resources of which room has less than a pod asks for.
func (e *Explainer) lacking(room, request []int64) []int {
	var out []int
	for d, n := range request {
		if n > room[d] {
			out = append(out, d)
		}
	}
	return out
}

// resourceReason words a lack of resources; one that nothing at all has comes first.
func (e *Explainer) resourceReason(lacking []int) scheduling.Reason {
	if r, ok := e.attachReason(lacking); ok {
		return r
	}
	var names []string
	for _, d := range e.withoutAttachments(lacking) {
		if !e.anywhere(d) {
			return scheduling.Reason{Code: scheduling.ReasonNoResource, Detail: "nothing on sale or running has " + string(e.Table.Names[d])}
		}
		names = append(names, string(e.Table.Names[d]))
	}
	return scheduling.Reason{Code: scheduling.ReasonResources, Detail: "too little " + strings.Join(names, " and ")}
}

// anywhere reports whether any offer or node has a resource.
func (e *Explainer) anywhere(d int) bool {
	return slices.ContainsFunc(e.Offers.Shapes, func(s offers.Shape) bool { return s.Allocatable[d] > 0 }) ||
		slices.ContainsFunc(e.Nodes, func(x *compile.ExistingNode) bool {
			q, ok := x.Node.Status.Allocatable[e.Table.Names[d]]
			return ok && !q.IsZero()
		})
}

// NodeReason says why a node does not take a class's pods.
func (e *Explainer) NodeReason(class *podspec.PodClass, id, bin int) (scheduling.Reason, Bar) {
	group, x := e.Classes.Groups[class.Group], e.Nodes[bin]
	if hard, _ := podspec.Untolerated(group.Tolerations, x.Taints); hard != nil {
		return scheduling.Reason{Code: scheduling.ReasonTaints, Detail: "nodes have the untolerated taint " + taintText(hard)}, Bar{}
	}
	if !group.OwnMatchesNode(x.Node.Name, x.Labels) {
		return scheduling.Reason{Code: scheduling.ReasonRequirements, Detail: "node selector or required node affinity does not match running nodes"}, Bar{}
	}
	if podspec.PortsClash(group.Ports, x.Ports) {
		return scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "a pod on the node binds the same host port"}, Bar{}
	}
	if !group.VolumesMatch(x.Node.Name, x.Labels) {
		return volumeReason(group), Bar{}
	}
	if driver := x.Attached.TurnsAway(group); driver != "" {
		return fullReason(driver), Bar{}
	}
	if lacking := e.lacking(e.Left[bin], class.Requests); len(lacking) > 0 {
		r := e.resourceReason(lacking)
		if r.Code == scheduling.ReasonResources {
			r.Detail += " left on running nodes"
		}
		return r, Bar{}
	}
	if e.portsTaken(class, bin) {
		return scheduling.Reason{Code: scheduling.ReasonHostPorts, Detail: "a pod planned onto the node binds the same host port"}, Bar{}
	}
	if bars := e.Tied.NodeBars(id, bin); len(bars) > 0 {
		return scheduling.Reason{}, bars[0]
	}
	return e.unplanned(id, "a running node"), Bar{}
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// tally counts what rules places out for a class.
type tally struct {
	*Explainer
	class   *podspec.PodClass
	id      int
	counts  map[scheduling.Reason]int
	bars    map[Bar]int
	shared  map[*Bar]int // by what keeps the class from a site
	rooms   []int        // by number of a room that is too small
	blocked []int        // by place among the blocks
}

func newTally(e *Explainer, class *podspec.PodClass, id int) *tally {
	return &tally{Explainer: e, class: class, id: id, counts: map[scheduling.Reason]int{}, bars: map[Bar]int{}, shared: map[*Bar]int{}}
}

// offers counts what rules out the offers of a template.
func (t *tally) offers(ti int, s screened) {
	for r, n := range s.counts {
		t.counts[r] += n
	}
	minValues := len(offers.FloorKeys(t.Templates[ti].Set)) > 0
	overfull, open, spots := 0, 0, 0
	s.admitted.Each(func(o int) {
		n := t.roomNumber(ti, o)
		switch k := t.block(ti, o); {
		case n < 0:
			overfull++
		case !t.fitsRoom(t.class, n):
			t.rooms = counted(t.rooms, n)
		case k > 0:
			t.blocked = counted(t.blocked, k-1)
		default:
			if bars := t.offerBars(t.id, ti, o); len(bars) > 0 {
				t.shared[&bars[0]]++
			} else {
				open++
				spots += offers.CapacityKind(&t.Explainer.Offers.Offers[o])
			}
		}
	})
	if overfull > 0 {
		t.counts[scheduling.Reason{Code: scheduling.ReasonResources, Detail: "daemons alone do not fit"}] += overfull
	}
	if spots > 0 && !t.Lenient && !t.choosable(ti, t.spotsOf(s.admitted), t.class.Requests) {
		t.counts[offers.FlexibilityReason(t.Solver)] += spots
		open -= spots
	}
	switch pool := "node pool " + t.Templates[ti].Pool.Name; {
	case open == 0 || t.Lenient:
	case minValues:
		t.counts[scheduling.Reason{Code: scheduling.ReasonMinValues, Detail: "too few choices remain for the minValues of " + pool}] += open
	default:
		t.counts[t.unplanned(t.id, pool)] += open
	}
}

func counted(counts []int, at int) []int {
	for len(counts) <= at {
		counts = append(counts, 0)
	}
	counts[at]++
	return counts
}

// node counts what rules out a node.
func (t *tally) node(bin int) {
	switch r, b := t.NodeReason(t.class, t.id, bin); {
	case b.Kind != NoBar:
		t.bars[b]++
	case !t.Lenient || r.Code != scheduling.ReasonSearch:
		t.counts[r]++
	}
}

// reasons words what was counted.
func (t *tally) reasons() []scheduling.Reason {
	for n, count := range t.rooms {
		if count > 0 {
			t.counts[t.resourceReason(t.lacking(t.Compiler.Rooms.Rooms[n], t.class.Requests))] += count
		}
	}
	for k, count := range t.blocked {
		if count > 0 {
			t.counts[t.sizes.blocks[k]] += count
		}
	}
	for b, n := range t.shared {
		t.bars[*b] += n
	}
	if t.Tied != nil {
		t.Tied.word(t.class, t.bars, t.counts)
	}
	return sortedReasons(t.counts)
}
