package scheduling

import corev1 "k8s.io/api/core/v1"

// SchedulerProfile is how the kube-scheduler of a cluster is configured, where that is not its
// default profile.
type SchedulerProfile struct {
	// Scoring is the scoringStrategy of plugin NodeResourcesFit.
	Scoring ScoringStrategy
	// PercentageOfNodesToScore is kube-scheduler's setting of that name, from 1 to 100; 0 is
	// its own choice by the number of nodes.
	PercentageOfNodesToScore int
}

// ScoringStrategy is what kube-scheduler's plugin NodeResourcesFit prefers: the weighted mean of
// a score from 0 to 100 for each resource of a node.
type ScoringStrategy struct {
	// Type is what makes a score; "" is LeastAllocated.
	Type ScoringStrategyType
	// Resources are scored; none is CPU and memory, at weight 1 each. Extended resources count
	// for pods that request them.
	Resources []ResourceWeight
	// Shape is what RequestedToCapacityRatio scores by: at least one point, by ascending
	// utilization. Scores are linear in between, and those of the outer points beyond. No other
	// type has one.
	Shape []UtilizationShapePoint
}

// ScoringStrategyType is how kube-scheduler scores what is requested of a resource of a node.
type ScoringStrategyType string

// The types of scoring strategies.
const (
	// LeastAllocated, the zero value's meaning, prefers nodes with the most room.
	LeastAllocated ScoringStrategyType = "LeastAllocated"
	// MostAllocated prefers nodes with the least.
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

// UtilizationShapePoint is the score of a resource of which so much is requested.
type UtilizationShapePoint struct {
	// Utilization is in percent of what the node has, from 0 to 100.
	Utilization int32 `json:"utilization"`
	// Score is from 0 to 10.
	Score int32 `json:"score"`
}
