package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Explainer finds the reasons why classes of pods have no place, or no other place, once a plan is carried out. Classes are
// given by number among the planned classes. It is not safe for concurrent use.
type Explainer struct {
	In    *instance.Instance // the whole problem
	State *PlanState         // the plan once it is carried out
	terms *termState         // nil until it is asked for
	needs map[int]*needs     // by group
	idle  map[string]string  // by NodePool, why it has no offering to choose from
	// exclusions by the settings, numbered.
	exclusions []offers.Exclusion
	// lenient leaves out places that take the pods, because these pods have a place.
	lenient bool
}

// NewExplainer explains a plan of a compiled problem.
func NewExplainer(c *instance.Instance, plan *scheduling.Plan) *Explainer {
	return &Explainer{In: c, State: newPlanState(c, plan), needs: map[int]*needs{}, idle: map[string]string{}}
}

// NewAlternatives explains where else a pod could be that a plan places: the plan is carried out without that pod.
func NewAlternatives(c *instance.Instance, plan *scheduling.Plan, pod string) *Explainer {
	e := NewExplainer(c, without(plan, pod))
	e.lenient = true
	return e
}

// after is the plan once it is carried out, as topology terms see it.
func (e *Explainer) after() *termState {
	if e.terms == nil {
		e.terms = newTermState(e.State)
	}
	return e.terms
}

// Explain lists the pods that found no place, with reasons and fixes.
func Explain(c *instance.Instance, plan *scheduling.Plan) {
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
			report(plan, class.Pods, []scheduling.ReasonCount{{Code: class.Code, Count: 1, Detail: class.Refused}}, remedies(c.Classes.Volumes, class))
			continue
		}
		if pods := e.State.Unplaced(id); len(pods) > 0 {
			reasons := e.Reasons(id)
			report(plan, pods, reasons, changes(e.subject(id)))
		}
		id++
	}
	slices.SortFunc(plan.Unschedulable, func(a, b scheduling.Unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
}

// report adds pods that found no place for the same reasons.
func report(plan *scheduling.Plan, pods []*corev1.Pod, reasons []scheduling.ReasonCount, changes []scheduling.Change) {
	for _, pod := range pods {
		u := scheduling.Unschedulable{Pod: podspec.PodName(pod), Reasons: slices.Clone(reasons)}
		Propose(&u, CopyChanges(changes))
		plan.Unschedulable = append(plan.Unschedulable, u)
	}
}

// sentence is the message about a pod without a place: its three commonest reasons, and the first change.
func sentence(reasons []scheduling.ReasonCount, changes []scheduling.Change) string {
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
		if n := r.Candidates(); r.Count > 1 && n != "" {
			parts = append(parts, fmt.Sprintf("%s (%s)", r.Detail, n))
		} else {
			parts = append(parts, r.Detail)
		}
	}
	s := "fits on no node: " + strings.Join(parts, "; ")
	if len(changes) == 0 {
		return s + "; no change was found that places it"
	}
	return s + "; fix: " + changes[0].Text
}

// Reasons counts the reasons why offers and nodes do not take a class. Each offer of each NodePool and each node counts
// once, for its first reason.
func (e *Explainer) Reasons(id int) []scheduling.ReasonCount {
	return countReasons(e.subject(id), nil)
}

// NodeReason is the reason why a node does not take a class, with the code [scheduling.ReasonSearch] if it could.
func (e *Explainer) NodeReason(id, bin int) scheduling.ReasonCount {
	return whyNot(e.subject(id), bin)
}

// NodeTakes reports whether a node has no obstacle for a class.
func (e *Explainer) NodeTakes(id, bin int) bool {
	return e.subject(id).free(place{onNode, bin})
}
