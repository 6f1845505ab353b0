package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// fewestPods is from how many pods on mixes count for the figures at the end.
const fewestPods = 1000

// mix is a random problem.
type mix struct {
	scheduling.Problem
	seed    uint64
	classes int
	market  string
	tied    bool // whether some pods care where others are
}

// mixes plans random problems.
func (s *settings) mixes(ctx context.Context, out io.Writer) error {
	catalogs := []*instancetypes.Catalog{
		ec2.MustCatalog("us-east-1"), ec2.MustCatalog("eu-west-1"), ec2.MustCatalog("ap-northeast-1"), azure.MustCatalog("eastus"),
	}
	type planned struct {
		mix
		answer
	}
	gaps := map[bool][]float64{}
	fmt.Fprint(out, "| seed | pods | classes | pools | market | ties | left out | nodes | USD/h | gap | seconds |\n|--:|--:|--:|--:|---|---|--:|--:|--:|--:|--:|\n")
	err := each(s.parallel, s.count, func(i int) (planned, error) {
		m := newMix(s.seed+uint64(i), catalogs)
		a, err := s.solve(ctx, m.Problem)
		if err != nil {
			err = fmt.Errorf("mix %d: %w", m.seed, err)
		}
		return planned{m, a}, err
	}, func(p planned) {
		sum := &p.answer.Summary
		fmt.Fprintf(out, "| %d | %d | %d | %d | %s | %s | %d | %d | %.3f | %.2f %% | %.1f |\n", p.seed, len(p.Pods), p.classes, len(p.NodePools), p.market,
			lo.Ternary(p.tied, "yes", "no"), len(p.Unschedulable), sum.Nodes, sum.PricePerHour.USD(), 100*sum.Gap, p.took.Seconds())
		if len(p.Pods) >= fewestPods {
			gaps[p.tied] = append(gaps[p.tied], 100*sum.Gap)
		}
	})
	for _, tied := range []bool{false, true} {
		if list := slices.Sorted(slices.Values(gaps[tied])); len(list) > 0 {
			fmt.Fprintf(out, "\n%s ties, from %d pods on: %d mixes, median gap %.2f %%, mean %.2f %%, largest %.2f %%\n",
				lo.Ternary(tied, "With", "Without"), fewestPods, len(list), list[len(list)/2], lo.Mean(list), list[len(list)-1])
		}
	}
	return err
}

// newMix draws a problem: 200 to 5,000 pods of 3 to 1,000 classes, and one to three NodePools
// of a market that sell on demand, spot or both. In every third mix some pods are tied.
func newMix(seed uint64, catalogs []*instancetypes.Catalog) mix {
	r := rand.New(rand.NewPCG(seed, 0))
	// span draws evenly on a logarithmic scale.
	span := func(from, to float64) float64 { return from * math.Pow(to/from, r.Float64()) }
	catalog := catalogs[r.IntN(len(catalogs))]
	m := mix{seed: seed, market: catalog.Name(), tied: seed%3 == 0}
	m.Catalog = catalog
	capacity := [][]string{{string(offerings.OnDemand)}, {string(offerings.Spot)}, {string(offerings.OnDemand), string(offerings.Spot)}}[r.IntN(3)]
	m.market += " " + lo.Ternary(len(capacity) == 1, capacity[0], "both")
	arches := []string{"amd64", "arm64"}
	for i := range 1 + r.IntN(3) {
		where := []requirements.Selector{st.In(scheduling.CapacityTypeLabel, capacity...)}
		if i > 0 || r.IntN(2) == 0 {
			where = append(where, st.In(corev1.LabelArchStable, arches[i%2]))
		}
		m.NodePools = append(m.NodePools, st.NodePool(fmt.Sprintf("pool-%d", i), st.Where(where...)))
	}
	pods := int(span(200, 5000))
	m.classes = min(int(span(3, 1000)), pods)
	// What classes ask for has a middle and a spread of its own in each mix, and so has how
	// evenly they share the pods.
	cpu, cpuSpread := span(150, 1500), 0.3+r.Float64()
	ratio, ratioSpread := span(1, 8), r.Float64()
	shares := make([]float64, m.classes)
	for i := range shares {
		shares[i] = math.Exp(1.5 * r.Float64() * r.NormFloat64())
	}
	total := lo.Sum(shares)
	for i, share := range shares {
		name := fmt.Sprintf("class-%04d", i)
		milli := min(max(cpu*math.Exp(cpuSpread*r.NormFloat64()), 10), 16000)
		mebi := min(max(milli/1000*ratio*1024*math.Exp(ratioSpread*r.NormFloat64()), 16), 128<<10)
		of := []st.PodOption{st.Label("app", name), st.Requests(st.MilliCPU(int64(math.Ceil(milli/10)*10)), st.MiB(int64(math.Ceil(mebi/8)*8)))}
		if len(m.NodePools) > 1 && r.IntN(6) == 0 {
			of = append(of, st.Select(corev1.LabelArchStable, arches[1]))
		}
		count := 1 + int(share/total*float64(pods-m.classes))
		if m.tied && r.IntN(3) == 0 {
			ties := []st.PodOption{
				st.Spread(corev1.LabelTopologyZone, st.Skew(1+r.Int32N(3))), st.Spread(corev1.LabelTopologyZone, st.Soft()),
				st.Spread(corev1.LabelHostname, st.Skew(1+r.Int32N(4))), st.Apart(corev1.LabelHostname), st.Near(corev1.LabelTopologyZone),
			}
			of = append(of, ties[r.IntN(len(ties))])
		}
		m.Pods = append(m.Pods, st.Pods(count, name, of...)...)
	}
	return m
}
