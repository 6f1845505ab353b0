package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// advised is a random problem to look at.
func advised(seed uint64) *Subject {
	p := st.Random(seed, st.Size{Pods: 30, Nodes: -1, Types: 30})
	for _, pool := range p.NodePools {
		pool.Spec.Limits, pool.Spec.Template.Spec.Taints = nil, nil
		if seed%2 == 0 {
			pool.Spec.Weight = nil
		}
	}
	return &Subject{
		Cluster:  disruption.Cluster{Problem: p},
		Planner:  disruption.Planner{Now: p.Now, Policy: scheduling.Policy{Effort: scheduling.EffortFast}},
		OwnPools: true,
		Workload: func(pod string) string { return pod[:strings.LastIndex(pod, "-")] },
	}
}

// price is what all pods cost on new machines, and how many have a place.
func (s *Subject) price(t *testing.T) (offerings.Price, int) {
	t.Helper()
	p := s.Cluster.RebuildProblem(s.Planner)
	p.Pods = append(p.Pods, s.problem().Pods...)
	policy := s.Planner.Policy
	policy.NoReasons = true
	plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
	require.NoError(t, err)
	return cmp.Or(plan.Summary.ExpectedPerHour, plan.Summary.PricePerHour), plan.Summary.Placed
}

// changed is the subject with a NodePool changed.
func (s *Subject) changed(name string, change func(*scheduling.NodePool)) *Subject {
	out := &Subject{Cluster: s.Cluster, Planner: s.Planner, OwnPools: s.OwnPools, Workload: s.Workload}
	out.Cluster.NodePools = slices.Clone(s.Cluster.NodePools)
	for i, pool := range out.Cluster.NodePools {
		if pool.Name == name {
			out.Cluster.NodePools[i] = pool.DeepCopy()
			change(out.Cluster.NodePools[i])
		}
	}
	return out
}

// Whoever follows an advice gets what it says: the saving to the cent, the number of instance types, and no such finding
// any more.
func TestAdviceHolds(t *testing.T) {
	seen := map[Code]int{}
	for seed := range soak.Cases(40) {
		s := advised(seed)
		found, err := s.Findings(t.Context())
		require.NoError(t, err)
		price, placed := s.price(t)
		for _, f := range found {
			seen[f.Code]++
			name := strings.TrimPrefix(f.Object, "NodePool/")
			told := fmt.Sprintf("seed %d: %s %s: %s", seed, f.Code, f.Object, f.Advice)
			switch f.Code {
			case NodePoolOverlap:
				first, to, ok := strings.Cut(strings.TrimPrefix(f.Advice, "set the weight of "), " to ")
				if !ok {
					require.Equal(t, strconv.Itoa(highestWeight), f.Value, told) // none is higher
					continue
				}
				number, _, _ := strings.Cut(to, ",")
				weight, err := strconv.ParseInt(number, 10, 32)
				require.NoError(t, err, told)
				lead := func(name string) *Subject {
					return s.changed(name, func(p *scheduling.NodePool) { p.Spec.Weight = new(int32(weight)) })
				}
				if f.SavingPerHour > 0 {
					_, by, _ := strings.Cut(f.Advice, " with it, and ")
					_, by, _ = strings.Cut(by, " with ")
					now, _ := lead(strings.TrimSuffix(by, ", which comes first by name")).price(t)
					then, _ := lead(first).price(t)
					require.Equal(t, f.SavingPerHour, now-then, told)
				}
				again, err := lead(first).overlaps(t.Context())
				require.NoError(t, err)
				require.False(t, slices.ContainsFunc(again, func(g Finding) bool { return g.Object == "NodePool/"+first }), told)
			case SpotNarrow:
				_, count, ok := strings.Cut(f.Advice, "there are ")
				if !ok || strings.HasPrefix(f.Advice, "name a catalog") {
					continue
				}
				count, _, _ = strings.Cut(count, ",")
				wider := s.changed(name, func(p *scheduling.NodePool) {
					spec := &p.Spec.Template.Spec
					_, at, one := strings.Cut(strings.TrimSuffix(f.Field, "]"), "[")
					i, _ := strconv.Atoi(at)
					j := 0
					spec.Requirements = slices.DeleteFunc(spec.Requirements, func(r requirements.Selector) bool {
						j++
						return one && j-1 == i || !one && slices.Contains(strings.Split(f.Value, ", "), requirements.NormalizeKey(r.Key))
					})
				})
				i := slices.IndexFunc(wider.Cluster.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
				require.Equal(t, count, fmt.Sprint(spotTypes(wider.sells(wider.Cluster.NodePools[i]))), told)
				require.Equal(t, strings.Contains(f.Advice, "still few"), slices.ContainsFunc(narrow(wider.Cluster.NodePools, wider.sells), func(g Finding) bool { return g.Object == f.Object }), told)
			case NodePoolTypes:
				wider := s.changed(name, func(p *scheduling.NodePool) {
					p.Spec.Template.Spec.Requirements = slices.DeleteFunc(p.Spec.Template.Spec.Requirements, func(r requirements.Selector) bool {
						return slices.Contains(strings.Split(f.Value, ", "), requirements.NormalizeKey(r.Key))
					})
				})
				then, more := wider.price(t)
				require.Equal(t, f.SavingPerHour, price-then, told)
				require.GreaterOrEqual(t, more, placed, told)
			case RequestSize:
				then, more := s.requesting(t, &f).price(t)
				require.Equal(t, f.SavingPerHour, price-then, told)
				require.GreaterOrEqual(t, more, placed, told)
			}
		}
	}
	t.Log(seen)
}

// requesting is the subject with a smaller request, as a finding advises.
func (s *Subject) requesting(t *testing.T, f *Finding) *Subject {
	t.Helper()
	out := &Subject{Cluster: s.Cluster, Planner: s.Planner, OwnPools: s.OwnPools, Workload: s.Workload}
	container, key, _ := strings.Cut(strings.TrimPrefix(f.Field, "spec.containers["), "].resources.requests.")
	to, _, _ := strings.Cut(strings.TrimPrefix(f.Advice, "request "), ",")
	from, less := resource.MustParse(f.Value), resource.MustParse(to)
	out.Cluster.Pods = slices.Clone(s.Cluster.Pods)
	for i, pod := range out.Cluster.Pods {
		pod = pod.DeepCopy()
		for j := range pod.Spec.Containers {
			c := &pod.Spec.Containers[j]
			if q := c.Resources.Requests[corev1.ResourceName(key)]; s.Workload(scheduling.PodName(pod)) == f.Object && c.Name == container && q.Cmp(from) == 0 {
				c.Resources.Requests[corev1.ResourceName(key)] = less
			}
		}
		out.Cluster.Pods[i] = pod
	}
	return out
}
