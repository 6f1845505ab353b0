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

// Explainer finds out why pods were left out, from the offers and nodes as they are
// once the plan is carried out.
type Explainer struct {
	In    *instance.Instance // the whole problem
	State *PlanState         // the plan once it is carried out
	terms *termState         // nil until it is asked for
	needs map[int]*needs     // by group
	idle  map[string]string  // by NodePool, why it has no offering to choose from
	// exclusions by the settings, numbered.
	exclusions []offers.Exclusion
	// lenient passes over places that nothing rules out, for pods that have one.
	Lenient bool
}

// NewExplainer explains a plan of a compiled problem.
func NewExplainer(c *instance.Instance, plan *scheduling.Plan) *Explainer {
	return &Explainer{In: c, State: newPlanState(c, plan), needs: map[int]*needs{}, idle: map[string]string{}}
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
			reasons := e.Reasons(class, id)
			report(plan, pods, reasons, changes(e.subject(class, id)))
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

// sentence puts reasons into words.
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
	s := "no place: " + strings.Join(parts, "; ")
	if len(changes) == 0 {
		return s + "; no change was found that places it"
	}
	return s + "; fix: " + changes[0].Text
}

// Reasons counts the reasons why offers and nodes do not take a class, given with its number among the planned classes. Each
// offer of each pool and each node counts once, for its first reason.
func (e *Explainer) Reasons(class *podspec.PodClass, id int) []scheduling.ReasonCount {
	return countReasons(e.subject(class, id), nil)
}

// NodeReason says why a node does not take a class's pods.
func (e *Explainer) NodeReason(class *podspec.PodClass, id, bin int) scheduling.ReasonCount {
	return whyNot(e.subject(class, id), bin)
}

// NodeTakes reports whether nothing keeps a class's pods from a node.
func (e *Explainer) NodeTakes(class *podspec.PodClass, id, bin int) bool {
	return e.subject(class, id).free(place{onNode, bin})
}
