package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Workload is the answer about a workload: where its pods go, or why they go nowhere.
type Workload struct {
	// Workload is kind/namespace/name.
	Workload string `json:"workload"`
	// Groups divide its pods by their outcome.
	Groups []Group `json:"groups"`
}

// Group is pods with the same outcome: on machines of one kind, on existing nodes, or unschedulable for the same
// reasons.
type Group struct {
	// Pods are as namespace/name; Example explains the first.
	Pods    []string                    `json:"pods"`
	Example *explanation.PodExplanation `json:"example"`
}

// workload explains the pods of a workload, named as namespace/name, or by its name
// where no other namespace has it.
func workload(x *provisioning.Explainer, workloads map[string][]string, plan *scheduling.Plan, s Subject) (*Workload, error) {
	var found, all []string
	for name := range workloads {
		all = append(all, name)
		if _, own, _ := strings.Cut(name, "/"); name == s.Name || own == s.Name {
			found = append(found, name)
		}
	}
	slices.Sort(all)
	slices.Sort(found)
	if len(found) != 1 {
		e := &explanation.UnknownNameError{Kind: strings.ToLower(s.Kind), Name: s.Name, Near: found, Ambiguous: len(found) > 1}
		if !e.Ambiguous {
			e.Near = spelling.Closest(all, 5, func(name string) (int, bool) {
				_, own, _ := strings.Cut(name, "/")
				d := min(spelling.Distance(s.Name, name), spelling.Distance(s.Name, own))
				return d, d <= 1+len(s.Name)/5
			})
		}
		return nil, e
	}
	fates := outcomes(plan)
	out := &Workload{Workload: s.Kind + "/" + found[0]}
	index := map[any]int{}
	for _, pod := range workloads[found[0]] {
		at, ok := index[fates[pod]]
		if !ok {
			example, err := x.Pod(pod)
			if err != nil {
				return nil, err
			}
			at = len(out.Groups)
			index[fates[pod]] = at
			out.Groups = append(out.Groups, Group{Example: example})
		}
		out.Groups[at].Pods = append(out.Groups[at].Pods, pod)
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int { return cmp.Compare(len(b.Pods), len(a.Pods)) })
	return out, nil
}

// outcomes is, by pod, the outcome in a plan: an existing node, the NodePool and offering of a launch, or the message why
// the pod is unschedulable. Pods with equal values go into one [Group].
func outcomes(plan *scheduling.Plan) map[string]any {
	out := map[string]any{}
	for pod, at := range plan.Placements() {
		out[pod.String()] = "node"
		if l := at.Launch; l != nil {
			out[pod.String()] = [...]any{l.NodePool, l.Options[0].Key()}
		}
	}
	for i := range plan.Unschedulable {
		out[plan.Unschedulable[i].Pod] = plan.Unschedulable[i].Message
	}
	return out
}
