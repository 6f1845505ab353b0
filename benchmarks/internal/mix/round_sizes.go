package mix

import (
	"fmt"
	"math"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// RoundSizes returns a function from seeds to problems of the commonest kind: 300 to 5,000 pods of 10 to 16 round sizes
// (e.g. 250m and 512Mi) in many Deployments, on EC2 nodes of at most 16 CPUs whose allocatable is a little below a power of
// two. Every fourth seed buys spot in place of on demand. No pod cares where others are.
func RoundSizes() func(seed uint64) Mix {
	catalogs := []*instancetypes.Catalog{ec2.MustCatalog("us-east-1"), ec2.MustCatalog("eu-west-1")}
	return func(seed uint64) Mix { return drawRoundSizes(seed, catalogs[seed%2]) }
}

func drawRoundSizes(seed uint64, catalog *instancetypes.Catalog) Mix {
	r := rand.New(rand.NewPCG(seed, 48))
	type size struct{ milli, mebi int64 }
	var sizes []size
	known := map[size]bool{}
	for range 18 {
		x := size{[]int64{100, 250, 500, 1000, 2000, 4000}[r.IntN(6)], 128 << r.IntN(7)}
		if !known[x] && len(sizes) < 16 {
			known[x], sizes = true, append(sizes, x)
		}
	}
	capacityType := offerings.OnDemand
	if seed%4 == 3 {
		capacityType = offerings.Spot
	}
	m := Mix{Seed: seed, Classes: len(sizes), Market: catalog.Name() + " " + string(capacityType)}
	m.Catalog = catalog
	m.NodePools = []*scheduling.NodePool{st.NodePool("default", st.Where(
		st.In(corev1.LabelArchStable, "amd64"), st.In(offerings.CapacityTypeLabel, string(capacityType)), st.Lt("karpenter.k8s.aws/instance-cpu", 17),
	))}
	for i, milli := range []int64{50, 100} {
		m.DaemonSets = append(m.DaemonSets, st.DaemonSet(fmt.Sprintf("daemon-%d", i), st.Namespace("kube-system"), st.Requests(st.MilliCPU(milli), st.MiB(200)), st.TolerateAll()))
	}
	pods := int(300 * math.Pow(5000.0/300, r.Float64()))
	for i := 0; len(m.Pods) < pods; i++ {
		x := sizes[r.IntN(len(sizes))]
		replicas := min(int(3*math.Pow(1-r.Float64(), -1/1.1)), pods-len(m.Pods)) // Pareto: many Deployments are small, a few large
		name := fmt.Sprintf("deployment-%03d", i)
		m.Pods = append(m.Pods, st.Pods(replicas, name, st.Label("app", name), st.Requests(st.MilliCPU(x.milli), st.MiB(x.mebi)))...)
	}
	return m
}
