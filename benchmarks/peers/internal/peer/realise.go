package peer

import (
	"context"
	"fmt"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// realised is what the machines cost per hour once kube-scheduler has bound the pods as it likes, with
// those that are bought for pods that find no place; 0 where that is not known, such as with machines
// whose labels the problem does not decide.
func realised(ctx context.Context, p scheduling.Problem, o Outcome) offerings.Price {
	plan := &scheduling.Plan{}
	for i, m := range o.Machines {
		l := scheduling.Launch{Name: fmt.Sprintf("machine-%d", i), NodePool: m.NodePool, Options: []scheduling.Option{{
			InstanceType: m.InstanceType, Zone: m.Offering.Zone, CapacityType: m.Offering.CapacityType, ReservationID: m.Offering.ReservationID, Price: m.Offering.Price,
		}}}
		for key, value := range m.Labels {
			l.Requirements = append(l.Requirements, requirements.Selector{Key: key, Operator: requirements.In, Values: []string{value}})
		}
		for _, pod := range m.Pods {
			l.Pods = append(l.Pods, pod.Namespace+"/"+pod.Name)
		}
		plan.Launches = append(plan.Launches, l)
	}
	r, err := provisioning.Planner{}.Realise(ctx, p, plan)
	if err != nil {
		return 0
	}
	return r.ExpectedPerHour
}
