package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// workloadAnswer says what becomes of the pods of a workload.
type workloadAnswer struct {
	// Workload is kind/namespace/name.
	Workload string `json:"workload"`
	// Groups are its pods, those together that fare alike.
	Groups []podGroup `json:"groups"`
}

// podGroup is pods that fare alike: on machines of one kind, on nodes that are there, or
// without a place for the same reasons.
type podGroup struct {
	// Pods are as namespace/name; Example explains the first.
	Pods    []string                   `json:"pods"`
	Example *scheduling.PodExplanation `json:"example"`
}

// explainWorkload explains the pods of a workload, named as namespace/name, or by its name
// where no other namespace has it.
func explainWorkload(x *provisioning.Explainer, p *problem, plan *scheduling.Plan, s subject) (*workloadAnswer, error) {
	workloads := p.Workloads(s.kind)
	var found, all []string
	for name := range workloads {
		all = append(all, name)
		if _, own, _ := strings.Cut(name, "/"); name == s.name || own == s.name {
			found = append(found, name)
		}
	}
	slices.Sort(all)
	slices.Sort(found)
	if len(found) != 1 {
		e := &scheduling.UnknownNameError{Kind: strings.ToLower(s.kind), Name: s.name, Near: found, Ambiguous: len(found) > 1}
		if !e.Ambiguous {
			e.Near = spelling.Closest(all, 5, func(name string) (int, bool) {
				_, own, _ := strings.Cut(name, "/")
				d := min(spelling.Distance(s.name, name), spelling.Distance(s.name, own))
				return d, d <= 1+len(s.name)/5
			})
		}
		return nil, e
	}
	fates := fatesOf(plan)
	out := &workloadAnswer{Workload: s.kind + "/" + found[0]}
	index := map[string]int{}
	for _, pod := range workloads[found[0]] {
		at, ok := index[fates[pod]]
		if !ok {
			example, err := x.Pod(pod)
			if err != nil {
				return nil, err
			}
			at = len(out.Groups)
			index[fates[pod]] = at
			out.Groups = append(out.Groups, podGroup{Example: example})
		}
		out.Groups[at].Pods = append(out.Groups[at].Pods, pod)
	}
	slices.SortStableFunc(out.Groups, func(a, b podGroup) int { return cmp.Compare(len(b.Pods), len(a.Pods)) })
	return out, nil
}

// fatesOf says of each pod of a plan what becomes of it, alike for those that fare alike.
func fatesOf(plan *scheduling.Plan) map[string]string {
	out := map[string]string{}
	for pod, at := range plan.Placements() {
		out[pod.String()] = "node"
		if l := at.Launch; l != nil {
			out[pod.String()] = l.NodePool + " " + offeringText(&l.Options[0])
		}
	}
	for i := range plan.Unschedulable {
		out[plan.Unschedulable[i].Pod] = plan.Unschedulable[i].Message
	}
	return out
}

// explainWorkload writes what becomes of the pods of a workload.
func (t *table) explainWorkload(x *workloadAnswer) {
	total := 0
	for _, g := range x.Groups {
		total += len(g.Pods)
	}
	t.line("%s has %s.", strings.Replace(x.Workload, "/", " ", 1), figures.Count(total, "pod"))
	for _, g := range x.Groups {
		t.line("")
		if n := len(g.Pods); n > 1 {
			t.line("%s fare alike: %s.", figures.Count(n, "pod"), figures.Names(g.Pods, 3))
		}
		t.explainPod(g.Example)
	}
}
