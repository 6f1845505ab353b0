package controller

import (
	"fmt"
	"io"
	"reflect"

	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Stats counts what a controller has done since it started, and how things stood at the end of the last Reconcile.
type Stats struct {
	Reconciles       int             `metric:"reconciles" help:"Rounds of the controller."`
	Plans            int             `metric:"plans" help:"Plans for pending pods."`
	DisruptionPlans  int             `metric:"disruption_plans" help:"Plans that remove nodes."`
	Launched         int             `metric:"launches" help:"Machines that the provider has started."`
	CapacityFailures int             `metric:"capacity_failures" help:"Orders that failed for lack of capacity."`
	LaunchFailures   int             `metric:"launch_failures" help:"Orders whose result was unknown and that were repeated."`
	Adopted          int             `metric:"adopted_machines" help:"Listed machines that this run had not ordered."`
	Lost             int             `metric:"lost_machines" help:"Machines that were no longer listed before they had a node."`
	Unregistered     int             `metric:"unregistered_machines" help:"Machines terminated because their node was not ready in time."`
	Terminated       int             `metric:"terminations" help:"Machines that the controller has terminated."`
	Steps            int             `metric:"steps" help:"Steps of disruption that were carried out."`
	AbandonedSteps   int             `metric:"abandoned_steps" help:"Steps that could not be finished."`
	Evictions        int             `metric:"evictions" help:"Pods that were evicted."`
	BlockedEvictions int             `metric:"blocked_evictions" help:"Evictions that a PodDisruptionBudget put off."`
	RejectedObjects  int             `metric:"rejected_objects" help:"Objects that were left out because they are malformed."`
	Replanned        int             `metric:"replanned_pods" help:"Pods that were planned once more because they had not been bound to the node that they were promised."`
	Nominated        int             `metric:"nominations" help:"Pods whose node the scheduler was told."`
	Saved            offerings.Price `gauge:"saved_dollars_per_hour" help:"Sum of the savings of the steps that were carried out, in USD per hour."`

	PendingPods   int `gauge:"pending_pods" help:"Pods without a node."`
	PromisedPods  int `gauge:"promised_pods" help:"Pods that wait for a node on its way, or to be bound."`
	UnplacedPods  int `gauge:"unplaced_pods" help:"Pods for which the last plan had no node."`
	InFlight      int `gauge:"machines_in_flight" help:"Machines whose node is not ready yet."`
	StepsUnderWay int `gauge:"steps_under_way" help:"Steps of disruption that are to be carried out."`
}

// Stats returns the counts.
func (c *Controller) Stats() Stats {
	c.statsMu.Lock()
	defer c.statsMu.Unlock()
	return c.stats
}

// count changes the counts.
func (c *Controller) count(f func(*Stats)) {
	c.statsMu.Lock()
	defer c.statsMu.Unlock()
	f(&c.stats)
}

// WriteMetrics writes the counts in the text format of OpenMetrics, as plimsoll_controller_*.
func (s Stats) WriteMetrics(w io.Writer) error {
	var families []*openmetrics.Family
	value := reflect.ValueOf(s)
	for i := range value.NumField() {
		field := value.Type().Field(i)
		family := &openmetrics.Family{Name: field.Tag.Get("metric"), Type: openmetrics.Counter, Help: field.Tag.Get("help")}
		if family.Name == "" {
			family.Name, family.Type = field.Tag.Get("gauge"), openmetrics.Gauge
		}
		family.Name = "plimsoll_controller_" + family.Name
		family.Add(fmt.Sprint(value.Field(i).Interface()))
		families = append(families, family)
	}
	return openmetrics.Write(w, families)
}
