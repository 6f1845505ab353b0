// Package order splits a step into parts as small as possible: nodes are removed one by one, or as few together as
// possible.
//
// It owns the order of the nodes, and the pods' destinations by number and kind. A pod takes one of the destinations of
// its kind only when it is evicted, because topology spread and pod affinity look at the cluster as it is then. It promises
// that the pods of a part can be scheduled where they are expected, by the topology terms of a [landing.Trial]. It does not
// know budgets, waves or the least saving: it asks whether a part is a step.
package order
