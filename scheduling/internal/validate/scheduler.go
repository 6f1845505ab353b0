package validate

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
)

// schedulerFaults returns the faults that kube-scheduler would report of its profile
// (k8s.io/kubernetes/pkg/scheduler/apis/config/validation, ValidateNodeResourcesFitArgs).
func schedulerFaults(p *scheduling.SchedulerProfile) []*scheduling.FieldError {
	f := &faults.Collector{}
	upTo := func(n, high int64, message, path string, of ...any) {
		if n < 0 || n > high {
			f.Add(strconv.FormatInt(n, 10), message, "scheduler."+fmt.Sprintf(path, of...))
		}
	}
	upTo(int64(p.PercentageOfNodesToScore), 100, "must be a percentage from 1 to 100, or 0 for kube-scheduler's own choice", "percentageOfNodesToScore")
	s := &p.Scoring
	for i, r := range s.Resources {
		upTo(r.Weight, 100, "must be a weight from 1 to 100, or 0 for 1", "scoring.resources[%d].weight", i)
	}
	for i, point := range s.Shape {
		upTo(int64(point.Utilization), 100, "must be a percentage from 0 to 100", "scoring.shape[%d].utilization", i)
		upTo(int64(point.Score), 10, "must be a score from 0 to 10", "scoring.shape[%d].score", i)
		if i > 0 && point.Utilization <= s.Shape[i-1].Utilization {
			f.Add(strconv.Itoa(int(point.Utilization)), "must be above that of the point before", fmt.Sprintf("scheduler.scoring.shape[%d].utilization", i))
		}
	}
	switch s.Type {
	case scheduling.RequestedToCapacityRatio:
		if len(s.Shape) == 0 {
			f.Add("", "has no point, and RequestedToCapacityRatio scores by it", "scheduler.scoring.shape")
		}
	case "", scheduling.LeastAllocated, scheduling.MostAllocated:
		if len(s.Shape) > 0 {
			f.Add("", "is for RequestedToCapacityRatio alone", "scheduler.scoring.shape")
		}
	default:
		f.Add(string(s.Type), "is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio", "scheduler.scoring.type")
	}
	return f.List
}
