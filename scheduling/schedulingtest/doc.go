// Package schedulingtest helps to test programs that plan with package scheduling,
// and tests that package itself. It has three parts.
//
//   - Builders make the objects of a problem in one line each: [Pod], [NodePool],
//     [Node], [DaemonSet], [Type] and [MustCatalog].
//   - Generators make problems from a seed: [Random] mixes every constraint,
//     [MixedSizes], [Diverse] and [Workloads] are the corpora of the benchmarks,
//     [Shuffle] changes the order of a problem, and [Cluster] makes clusters that were
//     packed well once and have lost pods since, [UsedCluster] such as many users have
//     them; [RandomCluster] mixes what can go wrong in one. [Apply] carries the steps of
//     a plan out.
//   - [Audit] solves a problem and tests every promise that is made about plans;
//     [Minimise] makes a problem that breaks one small.
package schedulingtest

// A map of this package's files.
//
// Builders, one option after the other
//
//	pod, where, terms, owner  pods, where they may go, and what they have to do with each other
//	node, volume  nodes, NodePools and DaemonSets; claims, volumes and their classes
//	catalog      amounts, and what is on sale
//	apiserver    what the API server makes of pods, and holds beside them
//	option       the types of these options, and options that several objects have
//
// Problems by the thousand
//
//	corpus       the mixes of pods of the benchmarks
//	random, random_market, random_pods, random_terms, random_volumes  small problems with everything in them, drawn from a seed
//	random_resize   pods of such clusters that are being resized in place
//	random_cluster  clusters with everything in them that can keep nodes from being removed
//	cluster, cluster_options, cluster_used, apply  clusters that were packed well once or never, and what becomes of them
//
// Tests of programs that plan
//
//	audit        what has to hold for every plan
//	problem      problems in another order, and as text
//	minimise     the smallest problem that still fails
