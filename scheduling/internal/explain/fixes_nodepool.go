package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// widening proposes a wider requirement of a NodePool, so that it can launch a place that the requirement rules out.
func widening(s *subject, p place, key string) scheduling.Change {
	pool, value := s.in.Templates[p.template].Pool.Name, s.labelAt(p, key)
	return scheduling.Change{
		Kind: scheduling.ChangeNodePool, Object: "NodePool/" + pool, Key: key, Values: []string{value},
		Text: fmt.Sprintf("let NodePool %s launch %s=%s, such as %s", pool, key, value, s.in.Offers.Offers[p.at].InstanceType.Name),
	}
}

// widen notes an offer that a single requirement of its NodePool rules out: for each label the cheapest offer.
func (n *nearest) widen(p place, x obstacle) {
	key := n.subject.state.ruledOut(p.template).keys[x.n]
	if have, ok := n.wider[key]; !ok || n.in.Offers.Offers[p.at].Cost < n.in.Offers.Offers[have.at].Cost {
		n.wider[key] = p
	}
}

// widenings propose wider requirements of NodePools, one requirement each.
func (n *nearest) widenings() (out []scheduling.Change) {
	for _, key := range slices.Sorted(maps.Keys(n.wider)) {
		out = append(out, widening(n.subject, n.wider[key], key))
	}
	return out
}

// limitGap is by how much a limit of a pool falls short of one more node.
type limitGap struct {
	pool  *scheduling.NodePool
	name  corev1.ResourceName
	short int64
}

// closerLimits reports whether the gaps of a place are easier to close than those of another: fewer gaps, or the same
// single limit by a smaller amount.
func closerLimits(a, b []limitGap) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a[0].pool == b[0].pool && a[0].name == b[0].name && a[0].short < b[0].short
}

// limitGaps lists the limits that one more node would exceed.
func limitGaps(s *PlanState, p offers.OfferRef) []limitGap {
	pool := s.in.Templates[p.Template].Pool
	var out []limitGap
	for d, short := range s.ledger.Gaps(p) {
		out = append(out, limitGap{pool, instance.LimitedResources(pool)[d], short})
	}
	return out
}

// limitChange raises limits so that one more machine can be bought.
func limitChange(gaps []limitGap) scheduling.Change {
	var changes []scheduling.Change
	for _, g := range gaps {
		old := g.pool.Spec.Limits[g.name]
		q := podspec.Quantity(g.name, podspec.Plus(podspec.Amount(g.name, old), g.short))
		to := offers.LimitText(g.name, q)
		changes = append(changes, scheduling.Change{
			Kind: scheduling.ChangeLimit, Object: "NodePool/" + g.pool.Name, Key: string(g.name), From: offers.LimitText(g.name, old), To: to,
			Text: fmt.Sprintf("raise the limit %s of NodePool %s to %s", g.name, g.pool.Name, to),
		})
	}
	return offers.Joined(changes, " and ")
}

// mostStatic is how many static NodePools are named that could have one more node for a pod.
const mostStatic = 2

// replicaFixes raise the replicas of static NodePools: of the NodePool that the pod selects by name, or else of the first
// NodePools by name.
func replicaFixes(problem *scheduling.Problem, class *podspec.PodClass, out *ChangeList) {
	asked := class.Pods[0].Spec.NodeSelector[scheduling.NodePoolLabel]
	var static []*scheduling.NodePool
	for _, pool := range problem.NodePools {
		if pool.Spec.Replicas != nil && pool.DeletionTimestamp == nil && (asked == "" || asked == pool.Name) {
			static = append(static, pool)
		}
	}
	slices.SortFunc(static, func(a, b *scheduling.NodePool) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range static[:min(len(static), mostStatic)] {
		nodes := int64(0)
		for _, node := range problem.Nodes {
			if node.Labels[scheduling.NodePoolLabel] == p.Name && !podspec.Going(node) {
				nodes++
			}
		}
		from, to := strconv.FormatInt(*p.Spec.Replicas, 10), strconv.FormatInt(max(*p.Spec.Replicas, nodes)+1, 10)
		out.Add(scheduling.Change{
			Kind: scheduling.ChangeReplicas, Object: "NodePool/" + p.Name, From: from, To: to,
			Text: fmt.Sprintf("raise the replicas of the static NodePool %s to %s", p.Name, to),
		})
	}
}

// applyNodePool changes a node pool, or adds one that allows everything.
func applyNodePool(t *Trial, c *scheduling.Change) bool {
	if c.Object == "" {
		p := &scheduling.NodePool{}
		p.Name = cmp.Or(t.Pod.Spec.NodeSelector[scheduling.NodePoolLabel], "default")
		return t.Update(scheduling.Delta{NodePools: []*scheduling.NodePool{p}}) == nil
	}
	i := slices.IndexFunc(t.Problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == nameOf(c.Object) })
	if i < 0 {
		return false
	}
	p := t.Problem.NodePools[i].DeepCopy()
	asked := p.Spec.Template.Spec.Requirements
	switch c.Kind {
	case scheduling.ChangeLimit:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		p.Spec.Limits[corev1.ResourceName(c.Key)] = q
	case scheduling.ChangeReplicas:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		p.Spec.Replicas, p.Spec.Limits = nil, corev1.ResourceList{scheduling.NodesResource: q}
	case scheduling.ChangeMinValues:
		for i := range asked {
			asked[i].MinValues = nil
		}
	default:
		if changed, err := p.Allow(c.Key, c.Values[0]); err != nil || !changed {
			return false
		}
	}
	return t.Update(scheduling.Delta{NodePools: []*scheduling.NodePool{p}}) == nil
}
