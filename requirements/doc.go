// Package requirements is the algebra of label requirements, which NodePools, pods, instance types
// and offerings state about the labels of a node.
//
// A [Requirement] holds the values that the label of one key may take. It is a list of values or a
// complement (all values except listed ones), perhaps narrowed to a range of integers, with a bit
// of its own for whether a node without the label will do, and the least number of different values
// (minValues) that a launch must keep open. A [Set] is a conjunction of requirements over different
// keys. Both are immutable values that need no locking; their zero values allow anything. Results
// never depend on the order of maps or of arguments.
//
// # Rules
//
//   - In lists values; NotIn excludes values; Exists allows all values;
//     DoesNotExist allows none. Gt, Gte, Lt and Lte allow the integers of 64
//     bits beyond a number, negative ones included; a label that is no such
//     integer does not match. These are the rules of kube-scheduler, with Gte
//     and Lte added for NodePools.
//   - A node without the label satisfies NotIn and DoesNotExist, and no other operator. An
//     intersection allows absence only if both sides do. Thus Exists with NotIn [a] differs from
//     NotIn [a] alone, and In [a] with In [b] (impossible) differs from DoesNotExist (no label will
//     do); [Requirement.Operator] cannot tell these apart, [Requirement.AllowsAbsent] and
//     [Requirement.Impossible] can.
//   - [Requirement.Intersect] is commutative, associative and idempotent. The tighter bound wins,
//     exclusions outside the bounds are dropped, bounds that contradict leave no value, and bounds
//     are used up when they meet a list.
//   - [Requirement.Overlaps] says whether an intersection can be satisfied, without making it.
//     [Set.Compatible] adds a direction: a key that is asked for must be defined, whereas
//     [Set.Overlaps] ignores it. A running node's labels are settled by [Set.Matches].
//   - Alias keys (beta keys of Kubernetes, zone keys of storage drivers) count
//     as the stable key everywhere, see [NormalizeKey].
//
// # Text form
//
// [Requirement.String] and [Set.String] are complete and canonical:
//
//	set         = [ requirement { ", " requirement } ] .
//	requirement = word clause { clause } .
//	clause      = ( "In" | "NotIn" ) "[" { word } "]" | "Exists" | "DoesNotExist"
//	            | ( ">=" | "<=" ) integer | "minValues" integer .
//	word        = plain { plain } | Go string literal in double quotes .
//	plain       = letter | digit | "-" | "_" | "." | "/" .
//
// The first word is the key. The clauses of a requirement intersect. "zone In []" is the
// requirement that no node satisfies, "zone NotIn []" the one that every node satisfies.
//
//	topology.kubernetes.io/zone In [us-east-1a us-east-1b] minValues 2
//	karpenter.k8s.aws/instance-cpu NotIn [48] >=4 <=64
//	example.com/dedicated DoesNotExist
//
// # Differences from Karpenter
//
// The algebra follows Karpenter, so that NodePools keep their meaning, with
// these deliberate exceptions:
//
//   - Bounds that no integer can pass (Gt with the largest one, Lt with the smallest) leave no
//     value, and keep minValues. Lt 0 allows negative integers, as kube-scheduler's comparison
//     does; valid label values cannot be negative, so no valid label satisfies it.
//   - Overlap is exact: exclusions that use up a range of integers leave no value. Integers count
//     in their plain spelling there, although a label "01" does satisfy Gt 0 as it does in
//     kube-scheduler.
//   - An arbitrary value ([Requirement.Any]) is the same every time, and always
//     satisfies the requirement.
//   - [Requirement.Selector] keeps exclusions beside bounds.
//   - Karpenter tells whether absence will do by the operator that a requirement
//     reports, so that Gt 1 with NotIn [5] forgives a missing label. Here it
//     does not.
//   - A requirement that no node can satisfy is never compatible, not even on a key that may be
//     undefined.
//   - No function writes to its input. Karpenter's table that renames values in place has one entry
//     in practice, which is built in: Azure's disk driver has the zone "" where the node label has
//     "0".
//   - A text form for people leaves the rest of a long list out ([Requirement.Short], [Set.Short]);
//     String is complete.
//   - Hints for misspelt keys prefer the closest key, come for running nodes,
//     too, and need three characters in common.
//
// Which terms of a pod's affinity make up its set, and in which order preferences
// give way, is decided by package scheduling, on copies; so is the validation
// of taints.
package requirements
