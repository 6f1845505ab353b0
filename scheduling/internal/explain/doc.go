// Package explain says why pods have no place, counted over all offers and nodes, and which smallest changes would place
// them. It also says why a launch has its instance type and not a cheaper one.
//
// It judges one more pod after a plan is carried out, and changes nothing. Whether a proposed change works is not known
// here: package provisioning tries each. Topology terms are judged by package cluster.
//
//	explain        the questions about a class of pods, and the report of the pods that a plan leaves out
//	plan_state     where the pods of a plan are; the room, limits and reservations that are left; the offers that the
//	               requirements of NodePools rule out
//	places         the obstacles that keep pods from an offer or a node, in a fixed order
//	places_text    the reason and the change of each obstacle
//	terms          topology terms that pods would violate; terms_text words them
//	tally          reasons, counted over all places
//	offers_text    reasons and changes for affinity, volumes and offers that cannot be launched
//	resources      reasons and changes for resources that are lacking, with amounts in readable units
//	fixes          changes, the smallest first; fixes_nearest finds the places that need a single one
//	fixes_*        changes of a family, with the code that applies them in a trial: required labels (asks), spreads, other topology
//	               terms, volumes, requests, taints, NodePools, offerings and the policy, pods that are not planned (refused)
//	pod, launch    where else a pod could be; other offers for a launch
package explain
