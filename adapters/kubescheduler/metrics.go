package kubescheduler

import (
	"errors"

	"k8s.io/component-base/metrics"
)

// cause is why a pod is not bound to its planned node.
type cause string

const (
	followed   cause = ""
	noPlan     cause = "no_plan"
	notPlanned cause = "not_planned"
	unreadable cause = "unreadable"
	oldPlan    cause = "old_plan"
	nodeGone   cause = "node_missing"
	// Only these are of pods that had a planned node in the cluster.
	doesNotFit cause = "does_not_fit"
	outscored  cause = "outscored"
)

// causeOf is the cause for a source's error.
func causeOf(err error) cause {
	switch {
	case err == nil:
		return followed
	case errors.Is(err, ErrNoPlan):
		return noPlan
	case errors.Is(err, ErrNotPlanned):
		return notPlanned
	}
	return unreadable
}

// boundPods counts the pods that were bound: result is "planned", "elsewhere" for pods whose planned node was there, or
// "fallback" for pods that were scheduled as without the plugin.
type boundPods struct{ counter *metrics.CounterVec }

func newBoundPods() boundPods {
	return boundPods{metrics.NewCounterVec(&metrics.CounterOpts{
		Name:           "plimsoll_scheduler_pods_bound_total",
		Help:           "Pods bound to their planned node, elsewhere, or without a plan to follow, by cause.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"result", "cause"})}
}

func (b boundPods) count(why cause) {
	result := "fallback"
	switch why {
	case followed:
		result = "planned"
	case doesNotFit, outscored:
		result = "elsewhere"
	}
	b.counter.WithLabelValues(result, string(why)).Inc()
}
