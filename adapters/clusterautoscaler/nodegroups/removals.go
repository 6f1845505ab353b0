package nodegroups

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// result reads the plan.
func (s *scaleDown) result() *ScaleDown {
	out := &ScaleDown{Cluster: s.cluster, Plan: s.plan}
	verdicts := map[string]*disruption.Verdict{}
	for i := range s.plan.Nodes {
		verdicts[s.plan.Nodes[i].Node] = &s.plan.Nodes[i]
	}
	resizes := make([]Resize, len(s.Groups))
	for i := range s.plan.Steps {
		step := &s.plan.Steps[i]
		for _, launch := range step.Launches {
			r := &resizes[s.group[launch.NodePool]]
			r.To++
			r.Pods = append(r.Pods, launch.Pods...)
			r.PricePerHour = offerings.Sum(r.PricePerHour, launch.Price)
			out.SavingPerHour -= launch.Price
		}
		for _, node := range step.Drain {
			v := verdicts[node]
			g := s.group[v.NodePool]
			resizes[g].To--
			out.Removals = append(out.Removals, Removal{
				Node: node, Group: s.Groups[g].ID, Step: i + 1, Utilization: s.utilization[node], PricePerHour: v.PricePerHour, Atomic: s.Groups[g].Atomic,
			})
			out.SavingPerHour += v.PricePerHour
		}
	}
	s.resize(out, resizes)
	for _, node := range s.problem.Nodes {
		if v := verdicts[node.Name]; v == nil || v.Decision == disruption.Keep {
			out.Unremovable = append(out.Unremovable, s.unremovable(node.Name, v))
		}
	}
	slices.SortFunc(out.Unremovable, func(a, b Unremovable) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// resize adds the changes of sizes to the result; To is by how much each group grows.
func (s *scaleDown) resize(out *ScaleDown, resizes []Resize) {
	for g := range resizes {
		r := &resizes[g]
		if r.To == 0 && len(r.Pods) == 0 {
			continue
		}
		r.Group, r.From, r.To = s.Groups[g].ID, s.Groups[g].Target, s.Groups[g].Target+r.To
		slices.Sort(r.Pods)
		removed := 0
		for _, x := range out.Removals {
			if x.Group != r.Group {
				continue
			}
			if removed++; len(r.Pods) == 0 {
				r.PricePerHour = offerings.Sum(r.PricePerHour, x.PricePerHour)
			}
		}
		r.Reason = "removes " + count(removed, "node")
		if grown := r.To - r.From + removed; grown > 0 {
			r.Reason = fmt.Sprintf("adds %s for %s, %s", count(grown, "node"), count(len(r.Pods), "pod"), r.Reason)
		}
		out.Resizes = append(out.Resizes, *r)
	}
}

// unremovable says why a node stays.
func (s *scaleDown) unremovable(node string, v *disruption.Verdict) Unremovable {
	out, refused := s.refusals[node]
	if !refused {
		out = Unremovable{Node: node, Utilization: s.utilization[node], Reason: NotUnneededOtherReason}
		if v != nil && len(v.Reasons) > 0 {
			inWords(&out, v.Reasons[0])
		}
	}
	out.Group = s.GroupOf[node]
	return out
}
