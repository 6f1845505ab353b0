// Package provisioning chooses nodes to launch for pending pods, and which pods go
// onto each, at the lowest price it can find and with a proof of how low a price could be.
//
// [Planner.Plan] returns a [scheduling.Plan] for a [scheduling.Problem]; the zero Planner
// works. [Planner.Explain] answers questions about a plan: why a launch has its offering and
// what others would cost, where else a pod could go, which pods a node receives.
// [Planner.Alternatives] compares the best plans for several goals ([Goal]). A [Session]
// holds a problem that changes all the time, and the time of the next plan depends on the change
// alone. [Validate] reports the faults of a problem.
//
// # How a plan comes about
//
// A pod goes through the packages below internal once, in this order:
//
//	validate   every fault of the input at once, each with the path of its field
//	podspec    the requests and constraints of each pod; pods that scheduling cannot tell
//	           apart become one class, so that the cost of a plan follows classes
//	offers     a NodePool with a value for every label that it leaves open, and each
//	           instance type × offering with its labels as columns
//	units      topology terms as rules over domains; pods that must share a node
//	instance   all of this in numbers: offers with the same room (after daemons), the same
//	           admitted pods and the same share of limits are one option
//	search     domains for pods with topology terms (topology), nodes for all (pack), and
//	           each launch with all offers that hold its pods, in rank order
//	explain    why pods have no place, and changes that would give them one
//	prove      lower bounds on the price, by the requests of pods and class by class (bound);
//	           the higher bound counts, see [certificate.Certificate]
//
// In this package a plan goes through Planner.Plan → solve (nominated pods; changes that would place the others) → settled
// (zones of volumes) → place (minValues of NodePools) → attempt (one plan) → searched (one effort after the other).
//
// # From one plan to the next
//
// A pod whose node is starting is nominated to it ([scheduling.Problem.Nominated]):
// for the next plans it runs there, so that its place is taken and it is not planned again.
//
// A [Session] keeps the pods, nodes and offers that it has read while a [scheduling.Delta] after the
// other changes them. [Session.Plan] gives the plan that [Planner.Plan] would give for
// [Session.Problem], byte for byte. Kept are: the offers of a catalog in rank order with
// their labels; the requests and constraints of pods of one spec; each node with the room
// that its pods take, until one of them changes; the room that nodes have left, until daemons, pools, catalogs or
// the resources that pods ask for change; and the offers that meet the same constraints.
// [Session.Fork] answers what-if questions: a fork shares all this with the session and
// goes its own way.
package provisioning
