// Package nodegroups plans the sizes of node groups, for callers who can set them all, e.g. a controller that calls the API of a
// cloud, or a build of Cluster Autoscaler of one's own. [Planner.ScaleUp] has the new size of each group for the pending pods,
// [Planner.ScaleDown] the nodes that can be removed, in their order. The limits are those of Cluster Autoscaler: minimum,
// maximum and target size, groups that grow and shrink as a whole, balanced similar groups, utilization, and the pods and
// annotations that keep a node.
//
// Package expander answers Cluster Autoscaler's question for one group. Here a plan may grow several groups at once, which
// costs less, because the small rest of the pods gets a small node.
//
//	cluster               the input, and its faults
//	model, pools          nodes and groups as those of NodePools
//	scaleup, balance      sizes for pending pods; similar groups
//	scaledown, removals   nodes to remove
//	unremovable, utilization  why the other nodes stay
//
// # Groups as NodePools
//
// A group is a NodePool that launches one instance type, the node of its template, and has at most [Group.Max] nodes. Its name
// is the id of the group where this is a valid label value, and group-N for the N-th group from 0 otherwise; reasons of
// pods without a place name it. Nodes of a group that run have the labels, zone and allocatable of their own objects.
// Nodes that the target size promises, and that have not joined yet, take in pods and cost nothing more. A group launches
// nodes in the zone of its template; those of a group in several zones may come in another.
//
// Independent code (package verify) has checked each plan that is returned.
//
// # What is the caller's
//
// Cluster-wide limits (--max-nodes-total, --cores-total), how long a node has to be unneeded before it goes
// (--scale-down-unneeded-time), and carrying the plan out.
package nodegroups
