package main

import (
	"context"
	"fmt"
	"io"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/internal/mix"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// efforts plans each problem with fast, default and thorough effort: mixes, round sizes, and the pods of clusters on new
// nodes. Weights and preferences are ignored, because plans of more effort may pay for them. It returns an error where more
// effort places fewer pods, or as many at a higher price.
func (s *settings) efforts(ctx context.Context, out io.Writer) error {
	catalog, err := mix.EC2()
	if err != nil {
		return err
	}
	mixes, rounds := mix.Random(), mix.RoundSizes()
	worse := 0
	fmt.Fprint(out, "| problems | number | fast → default | default → thorough | more effort is worse |\n|---|--:|--:|--:|--:|\n")
	for _, g := range []struct {
		name string
		draw func(seed uint64) scheduling.Problem
	}{
		{"mixes", func(seed uint64) scheduling.Problem { return mixes(seed).Problem }},
		{"rounds", func(seed uint64) scheduling.Problem { return rounds(seed).Problem }},
		{"clusters", func(seed uint64) scheduling.Problem { return anew(seed, s.nodes, catalog) }},
	} {
		var change [2]float64 // sums of relative changes of the price
		seeds := 0
		err := each(s.parallel, s.count, func(i int) (plans []answer, err error) {
			return s.withEfforts(ctx, g.draw(s.seed+uint64(i)))
		}, func(plans []answer) {
			wrong := false
			for k := range change {
				less, more := &plans[k].Summary, &plans[k+1].Summary
				if less.Placed == more.Placed && less.PricePerHour > 0 {
					change[k] += float64(more.PricePerHour)/float64(less.PricePerHour) - 1
				}
				wrong = wrong || more.Placed < less.Placed || more.Placed == less.Placed && more.PricePerHour > less.PricePerHour
			}
			if seeds++; wrong {
				worse++
				fmt.Fprintf(out, "| %s, %d of them | | %s | %s | yes |\n", g.name, seeds, prices(plans[:2]), prices(plans[1:]))
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintf(out, "| %s | %d | %+.2f %% | %+.2f %% | |\n", g.name, s.count, 100*change[0]/float64(s.count), 100*change[1]/float64(s.count))
	}
	if worse > 0 {
		return fmt.Errorf("more effort is worse for %d problems", worse)
	}
	return nil
}

// withEfforts are the plans of a problem, by effort.
func (s *settings) withEfforts(ctx context.Context, p scheduling.Problem) (plans []answer, err error) {
	t := *s
	t.solver = scheduling.Policy{Weights: scheduling.WeightIgnore, Preferences: scheduling.PreferencesIgnore}
	for _, t.solver.Effort = range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortThorough} {
		plan, err := t.solve(ctx, p)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// prices are those of plans, with the pods that they place.
func prices(plans []answer) string {
	one := func(a answer) string {
		return fmt.Sprintf("%.4f for %d", a.Summary.PricePerHour.USD(), a.Summary.Placed)
	}
	return one(plans[0]) + " → " + one(plans[1])
}

// anew is the problem of the pods of a cluster on new nodes.
func anew(seed uint64, nodes int, catalog *instancetypes.Catalog) scheduling.Problem {
	p := schedulingtest.UsedCluster(seed, nodes, catalog).Problem
	p.Pods = append(p.Pods, lo.Map(p.Running, func(pod *corev1.Pod, _ int) *corev1.Pod {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
		return pod
	})...)
	p.Nodes, p.Running = nil, nil
	return p
}
