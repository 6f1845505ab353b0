package binding

import (
	"cmp"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// fit is NodeResourcesFit's score by its strategy
// (k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources).
type fit struct {
	strategy  scheduling.ScoringStrategyType
	shape     []scheduling.UtilizationShapePoint
	resources []fitResource
}

// fitResource is a resource that counts.
type fitResource struct {
	weight int64
	basic  int  // its place among CPU and memory, of which pods always count for some; -1 if it is neither
	number int  // among all resources
	asked  bool // only pods that request it have it scored
}

func newFit(c *instance.Instance) fit {
	s := c.Facts.Problem.Scheduler.Scoring
	f := fit{strategy: cmp.Or(s.Type, scheduling.LeastAllocated), shape: s.Shape}
	if len(s.Resources) == 0 {
		s.Resources = []scheduling.ResourceWeight{{Name: corev1.ResourceCPU}, {Name: corev1.ResourceMemory}}
	}
	for _, r := range s.Resources {
		q := fitResource{weight: cmp.Or(r.Weight, 1), basic: -1, number: number(c, r.Name)}
		switch r.Name {
		case corev1.ResourceCPU:
			q.basic = 0
		case corev1.ResourceMemory:
			q.basic = 1
		case corev1.ResourceEphemeralStorage:
		default:
			if q.asked = true; !strings.Contains(string(r.Name), "/") && !strings.HasPrefix(string(r.Name), corev1.ResourceHugePagesPrefix) {
				continue // kube-scheduler counts no other resources of nodes
			}
		}
		f.resources = append(f.resources, q)
	}
	return f
}

// score is that of a node with one more pod of a class, by its pods' CPU and memory so far.
func (f *fit) score(x *class, scored, basic [2]int64, state *cluster.State, n int32) int64 {
	k := state.Kind(n)
	var sum, weights int64
	for _, q := range f.resources {
		var used, all int64
		if q.basic >= 0 {
			used, all = scored[q.basic]+x.wanted[q.basic], basic[q.basic]
		} else {
			request := x.request(q.number)
			if q.asked && request == 0 {
				continue
			}
			all = amount(k.Allocatable, q.number)
			used = request + all - amount(k.Vacant, q.number) + amount(k.Room, q.number) - amount(state.Room(n), q.number)
		}
		if all == 0 {
			continue
		}
		v := f.of(used, all)
		if v == 0 && f.strategy == scheduling.RequestedToCapacityRatio {
			continue // it does not even count for the mean
		}
		sum += v * q.weight
		weights += q.weight
	}
	switch {
	case weights == 0:
		return 0
	case f.strategy == scheduling.RequestedToCapacityRatio:
		return int64(math.Round(float64(sum) / float64(weights)))
	}
	return sum / weights
}

// of is the score of a resource.
func (f *fit) of(used, all int64) int64 {
	used = min(used, all)
	switch f.strategy {
	case scheduling.MostAllocated:
		return used * most / all
	case scheduling.RequestedToCapacityRatio:
		return f.shaped(used * 100 / all)
	}
	return (all - used) * most / all
}

// shaped is the score by the shape where so many percent are used (helper.BuildBrokenLinearFunction).
func (f *fit) shaped(percent int64) int64 {
	const mostOfShape = 10
	var x0, y0 int64
	for i, point := range f.shape {
		x, y := int64(point.Utilization), int64(point.Score)*(most/mostOfShape)
		if percent <= x {
			if i == 0 {
				return y
			}
			return y0 + (y-y0)*(percent-x0)/(x-x0)
		}
		x0, y0 = x, y
	}
	return y0
}

func (x *class) request(resource int) int64 {
	for _, q := range x.pods.Needs {
		if q.Resource == resource {
			return q.N
		}
	}
	return 0
}
