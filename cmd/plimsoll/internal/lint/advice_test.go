package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// advised is a random problem to look at, planned with more than the least effort for some seeds.
func advised(seed uint64) *Subject {
	p := st.Random(seed, st.Size{Pods: 30, Nodes: -1, Types: 30})
	for _, pool := range p.NodePools {
		pool.Spec.Limits, pool.Spec.Template.Spec.Taints = nil, nil
		if seed%2 == 0 {
			pool.Spec.Weight = nil
		}
	}
	effort := scheduling.EffortFast
	if seed%5 == 0 {
		effort = scheduling.EffortDefault
	}
	return &Subject{
		Cluster:  disruption.Cluster{Problem: p},
		Planner:  disruption.Planner{Now: p.Now, Policy: scheduling.Policy{Effort: effort}},
		OwnPools: true,
		Workload: func(pod string) string { return pod[:strings.LastIndex(pod, "-")] },
	}
}

// rebuilt returns the summary of the plan of new nodes for all pods.
func (s *Subject) rebuilt(t *testing.T) *scheduling.Summary {
	t.Helper()
	p := s.Cluster.RebuildProblem(s.Planner)
	p.Pods = append(p.Pods, s.problem().Pods...)
	policy := s.Planner.Policy
	policy.NoReasons = true
	plan, err := provisioning.Planner{Policy: policy}.Plan(t.Context(), p)
	require.NoError(t, err)
	return &plan.Summary
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

// The savings of a run hold together: with the advice of each finding applied after that of the others before it, all pods cost
// less by the saving, to the cent, and none loses its place. NodePools with the advised weights no longer overlap.
func TestSavingsHoldTogether(t *testing.T) {
	seen, proven := map[Code]int{}, 0
	for seed := range soak.Cases(40) {
		s := advised(seed)
		found, err := s.tried(t.Context(), nil)
		require.NoError(t, err)
		overlaps := len(s.overlapping(s.Cluster.NodePools))
		for i := range found {
			f := &found[i]
			told := fmt.Sprintf("seed %d: %s %s: %s", seed, f.Code, f.Object, f.Advice)
			if f.Code == NodePoolOverlap && f.SavingPerHour == 0 {
				require.NotContains(t, f.Advice, " to ", told) // no order that costs as much
				require.Equal(t, Info, f.Severity, told)
				require.Contains(t, f.Message, "no other order that was tried is cheaper now", told)
				continue
			}
			seen[f.Code]++
			before, after := s, s
			switch f.Code {
			case NodePoolOverlap:
				require.Equal(t, Warning, f.Severity, told)
				before, after = s.ordered(t, f)
				overlaps--
			case NodePoolTypes:
				after = s.changed(strings.TrimPrefix(f.Object, "NodePool/"), func(p *scheduling.NodePool) {
					p.Spec.Template.Spec.Requirements = slices.DeleteFunc(p.Spec.Template.Spec.Requirements, func(r requirements.Selector) bool {
						return slices.Contains(strings.Split(f.Value, ", "), requirements.NormalizeKey(r.Key))
					})
				})
			case RequestSize:
				after = s.requesting(t, f)
			}
			now, then := before.rebuilt(t), after.rebuilt(t)
			require.Equal(t, f.SavingPerHour, now.PricePerHour-then.PricePerHour, told)
			require.Equal(t, f.SavingProven, then.PricePerHour < now.LowerBoundPerHour, told)
			require.GreaterOrEqual(t, then.Placed, now.Placed, told)
			if f.SavingProven {
				proven++
			}
			s = after
		}
		require.LessOrEqual(t, len(s.overlapping(s.Cluster.NodePools)), overlaps, seed)
	}
	t.Log(seen, proven)
	require.NotZero(t, proven)
	for _, code := range []Code{NodePoolOverlap, NodePoolTypes, RequestSize} {
		require.NotZero(t, seen[code], code)
	}
}

// ordered is the subject with the weights that a finding advises: in Karpenter's order of equal weights, and as advised.
func (s *Subject) ordered(t *testing.T, f *Finding) (byName, advised *Subject) {
	t.Helper()
	list, _, _ := strings.Cut(strings.TrimPrefix(f.Advice, "set it to "), ": ")
	var weights []int32
	var names []string
	for _, text := range strings.Split(list, ", ") {
		number, name, _ := strings.Cut(text, " for ")
		weight, err := strconv.ParseInt(number, 10, 32)
		require.NoError(t, err, f.Advice)
		weights, names = append(weights, int32(weight)), append(names, name)
	}
	with := func(names []string) *Subject {
		out := s
		for i, name := range names {
			out = out.changed(name, func(p *scheduling.NodePool) { p.Spec.Weight = &weights[i] })
		}
		return out
	}
	last := slices.Sorted(slices.Values(names))
	slices.Reverse(last)
	require.Equal(t, "NodePool/"+last[0], f.Object)
	return with(last), with(names)
}

// Without the requirement that a finding names, as many instance types are on spot as it says.
func TestSpotAdviceHolds(t *testing.T) {
	for seed := range soak.Cases(40) {
		s := advised(seed)
		for _, f := range narrow(s.Cluster.NodePools, s.sells) {
			name := strings.TrimPrefix(f.Object, "NodePool/")
			told := fmt.Sprintf("seed %d: %s: %s", seed, f.Object, f.Advice)
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
		}
	}
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
