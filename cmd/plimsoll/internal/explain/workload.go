package explain

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/explanation"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// Workload is the answer about a workload: where its pods go, or why they go nowhere.
type Workload struct {
	// Workload is kind/namespace/name.
	Workload string `json:"workload"`
	// Groups divide its pods by their outcome.
	Groups []Group `json:"groups"`
}

// Group is pods with the same outcome: planned on new nodes of one offering, planned on existing nodes, running, or
// unschedulable for the same reasons.
type Group struct {
	// Pods are as namespace/name; Example explains the first.
	Pods    []string                    `json:"pods"`
	Example *explanation.PodExplanation `json:"example"`
	// Nodes are the nodes of the pods, by name; empty for unschedulable pods.
	Nodes []NodePods `json:"nodes,omitempty"`
}

// NodePods is a node with its number of pods of a [Group].
type NodePods struct {
	// Node or Launch is its name.
	Node   string `json:"node,omitempty"`
	Launch string `json:"launch,omitempty"`
	Pods   int    `json:"pods"`
}

// workload explains the pods of a workload, named as namespace/name, or by its name
// where no other namespace has it.
func workload(x *provisioning.Explainer, s *manifest.Snapshot, plan *scheduling.Plan, of Subject) (*Workload, error) {
	workloads := s.Workloads(of.Kind)
	var found, all []string
	for name := range workloads {
		all = append(all, name)
		if _, own, _ := strings.Cut(name, "/"); name == of.Name || own == of.Name {
			found = append(found, name)
		}
	}
	slices.Sort(all)
	slices.Sort(found)
	if len(found) != 1 {
		e := &explanation.UnknownNameError{Kind: strings.ToLower(of.Kind), Name: of.Name, Near: found, Ambiguous: len(found) > 1}
		if !e.Ambiguous {
			e.Near = spelling.Closest(all, 5, func(name string) (int, bool) {
				_, own, _ := strings.Cut(name, "/")
				d := min(spelling.Distance(of.Name, name), spelling.Distance(of.Name, own))
				return d, d <= 1+len(of.Name)/5
			})
		}
		return nil, e
	}
	outcomes := outcomes(s.Problem.Running, plan)
	out := &Workload{Workload: of.Kind + "/" + found[0]}
	index := map[any]int{}
	for _, pod := range workloads[found[0]] {
		is := outcomes[pod]
		at, ok := index[is.group]
		if !ok {
			example, err := x.Pod(pod)
			if err != nil {
				return nil, err
			}
			at = len(out.Groups)
			index[is.group] = at
			out.Groups = append(out.Groups, Group{Example: example})
		}
		out.Groups[at].add(pod, is.on)
	}
	for i := range out.Groups {
		slices.SortFunc(out.Groups[i].Nodes, func(a, b NodePods) int {
			return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Launch, b.Launch))
		})
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int { return cmp.Compare(len(b.Pods), len(a.Pods)) })
	return out, nil
}

// add puts a pod into the group, on a node unless that has no name.
func (g *Group) add(pod string, on NodePods) {
	g.Pods = append(g.Pods, pod)
	if on == (NodePods{}) {
		return
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Node == on.Node && n.Launch == on.Launch {
			n.Pods++
			return
		}
	}
	on.Pods = 1
	g.Nodes = append(g.Nodes, on)
}

// outcome is the outcome of a pod in a plan.
type outcome struct {
	group any      // equal for the pods of one [Group]
	on    NodePods // without a number of pods
}

// outcomes is, by pod, the outcome in a plan: an existing node, the NodePool and offering of a launch, the message why
// the pod is unschedulable, or the node on which it runs. Pods that are not planned have none.
func outcomes(running []*corev1.Pod, plan *scheduling.Plan) map[string]outcome {
	out := map[string]outcome{}
	for _, pod := range running {
		if pod != nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			out[pod.Namespace+"/"+pod.Name] = outcome{explanation.PodRunning, NodePods{Node: pod.Spec.NodeName}}
		}
	}
	for pod, at := range plan.Placements() {
		if l := at.Launch; l != nil {
			out[pod.String()] = outcome{[...]any{l.NodePool, l.Options[0].Key()}, NodePods{Launch: l.Name}}
		} else {
			out[pod.String()] = outcome{explanation.PodExisting, NodePods{Node: at.Node}}
		}
	}
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		out[u.Pod] = outcome{group: u.Message}
	}
	return out
}
