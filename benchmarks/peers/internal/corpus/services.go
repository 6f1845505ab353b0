package corpus

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Services is n pods of Deployments as a company has them: requests are log-normal around
// 400m and 2 GiB a core, and replicas have a heavy tail, so that most services have a few
// and a few have most of the pods.
func Services(n int, seed uint64) []*corev1.Pod { return services(n, seed, false) }

// TiedServices is the same pods. A third of the services spread over zones, and a sixth
// of those with up to thirty replicas want a host for each.
func TiedServices(n int, seed uint64) []*corev1.Pod { return services(n, seed, true) }

func services(n int, seed uint64, ties bool) []*corev1.Pod {
	d := newDice(seed)
	pods := make([]*corev1.Pod, 0, n)
	for i := 0; len(pods) < n; i++ {
		name := fmt.Sprintf("service-%04d", i)
		replicas := min(heavy(d, max(n/10, 1)), n-len(pods))
		milliCPU := clamp(400*math.Exp(0.9*d.NormFloat64()), 10, 12_000)
		mib := clamp(milliCPU/1000*2048*math.Exp(0.8*d.NormFloat64()), 16, 60_000)
		spread, alone := d.IntN(3) == 0, d.IntN(6) == 0
		opts := []schedulingtest.PodOption{
			schedulingtest.Label("app", name),
			schedulingtest.Requests(schedulingtest.MilliCPU(int64(math.Round(milliCPU/5))*5), schedulingtest.MiB(int64(mib))),
		}
		if ties && spread {
			opts = append(opts, schedulingtest.Spread(corev1.LabelTopologyZone))
		}
		if ties && alone && replicas <= 30 {
			opts = append(opts, schedulingtest.Apart(corev1.LabelHostname))
		}
		pods = append(pods, schedulingtest.Pods(replicas, name, opts...)...)
	}
	return pods
}

// heavy is a number from 2 to the limit with a Pareto tail: half of the draws are below
// 4, and their mean grows with the limit.
func heavy(d dice, limit int) int {
	return min(int(2/math.Pow(1-d.Float64(), 1/1.1)), max(limit, 2))
}

func clamp(x, low, high float64) float64 { return math.Min(math.Max(x, low), high) }
