// Package schedulingtest helps to test programs that plan with package scheduling, and tests that package itself. It
// has three parts.
//
//   - Builders make the objects of a problem in one line each: [Pod], [NodePool], [Node], [DaemonSet], [Type] and
//     [MustCatalog].
//   - Generators make problems from a seed: [Random] mixes every constraint, [MixedSizes], [Diverse] and [Workloads]
//     are the corpora of the benchmarks, [Shuffle] changes the order of a problem, [Cluster] makes clusters that were
//     packed well once and have lost pods since, [UsedCluster] clusters that were never packed well, and
//     [RandomCluster] mixes every obstacle to the removal of nodes. [Apply] carries out the steps of a plan.
//   - [Audit] plans a problem and checks every rule of plans; [Minimise] reduces a problem that fails.
package schedulingtest

// A map of this package's files.
//
// Builders, one option after the other
//
//	pod, where, terms, owner  pods, their node requirements and their topology terms
//	node, volume  nodes, NodePools and DaemonSets; claims, volumes and their classes
//	catalog      amounts, instance types and offerings
//	apiserver    defaults of the API server, and its objects beside pods
//	option       the types of these options, and options that several objects have
//
// Problems by the thousand
//
//	corpus       the mixes of pods of the benchmarks
//	random, random_market, random_pods, random_terms, random_volumes, random_buffers  small problems with every constraint, drawn from a seed
//	random_spot     SpotPolicies of such pods
//	random_resize   pods of such clusters that are being resized in place
//	random_cluster  clusters with every obstacle to the removal of nodes
//	cluster, cluster_options, cluster_used, apply  clusters that were packed well once or never, and their state after steps
//
// Tests of programs that plan
//
//	audit        promises of every plan
//	problem      problems in another order, and as text
//	minimise     the smallest problem that still fails
