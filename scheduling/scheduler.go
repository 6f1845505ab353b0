package scheduling

import corev1 "k8s.io/api/core/v1"

// SchedulerProfile is the configuration of a cluster's kube-scheduler, where it differs from the
// default profile.
type SchedulerProfile struct {
	// Scoring is the scoringStrategy of plugin NodeResourcesFit.
	Scoring ScoringStrategy
	// PercentageOfNodesToScore is kube-scheduler's setting of this name, from 1 to 100; with 0 it
	// chooses by the number of nodes.
	PercentageOfNodesToScore int
}

// ScoringStrategy configures the scores of kube-scheduler's plugin NodeResourcesFit: the weighted
// mean of a score from 0 to 100 for each resource of a node.
type ScoringStrategy struct {
	// Type is the kind of score; "" is LeastAllocated.
	Type ScoringStrategyType
	// Resources are scored; none is CPU and memory, at weight 1 each. Extended resources count
	// for pods that request them.
	Resources []ResourceWeight
	// Shape is the score by utilization of RequestedToCapacityRatio, and must be empty for other
	// types: at least one point, by ascending utilization. Scores are linear in between, and
	// constant beyond the outer points.
	Shape []UtilizationShapePoint
}

// ScoringStrategyType is the kind of score for the requested share of a resource of a node.
type ScoringStrategyType string

// The types of scoring strategies.
const (
	// LeastAllocated, the zero value's meaning, prefers nodes with the most room.
	LeastAllocated ScoringStrategyType = "LeastAllocated"
	// MostAllocated prefers nodes with the least room.
	MostAllocated ScoringStrategyType = "MostAllocated"
	// RequestedToCapacityRatio scores by a shape.
	RequestedToCapacityRatio ScoringStrategyType = "RequestedToCapacityRatio"
)

// ResourceWeight is how much a resource counts for a score.
type ResourceWeight struct {
	Name corev1.ResourceName `json:"name"`
	// Weight is from 1 to 100; 0 is 1.
	Weight int64 `json:"weight"`
}

// UtilizationShapePoint is the score at one utilization of a resource.
type UtilizationShapePoint struct {
	// Utilization is in percent of the node's allocatable, from 0 to 100.
	Utilization int32 `json:"utilization"`
	// Score is from 0 to 10.
	Score int32 `json:"score"`
}
