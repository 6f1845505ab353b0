// Package schedulingtest helps to test programs that plan with package scheduling,
// and tests that package itself. It has four parts.
//
//   - Builders make the objects of a problem in one line each: [Pod], [NodePool],
//     [Node], [DaemonSet], [Type] and [MustCatalog].
//   - Generators make problems from a seed: [Random] mixes every constraint,
//     [MixedSizes], [Diverse] and [Workloads] are the corpora of the benchmarks,
//     [Shuffle] changes the order of a problem, and [Cluster] makes clusters that were
//     packed well once and have lost pods since; [RandomCluster] mixes what can go
//     wrong in one. [Apply] carries the steps of a plan out.
//   - [Check] and [Audit] solve a problem and test every promise that the package
//     makes about plans.
//   - [RunScenarios] runs a directory of text files that say what is planned for what.
//
// # Scenario files
//
// A scenario file consists of comments, which are lines that start with #, and of
// blocks with blank lines between them. A block is a command with its input, a
// line of four hyphens, and what the command prints:
//
//	# A reserved machine is used up before spot is bought.
//	catalog
//	m6.large cpu=2 memory=8Gi reserved@a=0.02x1 spot@a=0.03 on-demand@a=0.10
//	----
//	1 type, 3 offerings
//
//	pods
//	4 x web cpu=1 memory=2Gi
//	----
//	4 pods
//
//	solve
//	----
//	default-1  m6.large  reserved@a  0.02/h  web x2
//	default-2  m6.large  spot@a      0.03/h  web x2
//	cost 0.05/h  bound 0.05/h  optimal
//
// The commands of a file work on one problem, in order. Each of these replaces what
// an earlier command of that name has set, except pool, which replaces the pool of
// its name:
//
//	catalog [pool=NAME]
//	TYPE RESOURCE=QUANTITY… [arch=ARCH] [os=OS] [label=(KEY=VALUE…)]
//	    [reserve=(RESOURCE=QUANTITY…)] OFFERING…
//
//	pool NAME [weight=N] [limits=(RESOURCE=QUANTITY…)] [replicas=N] [none]
//	    [where=(REQUIREMENT, …)]… [taint=TAINT]… [startup=TAINT]… [label=(KEY=VALUE…)]
//
//	pods
//	[N x] NAME POD-WORD…
//
//	nodes
//	NAME [type=TYPE zone=ZONE capacity-type=CT] [pool=NAME] [RESOURCE=QUANTITY…]
//	    [label=(KEY=VALUE…)] [without=KEY]… [taint=TAINT]… [in-flight] [deleting] [disrupted] [cordoned]
//
//	running
//	[N x] NAME on=NODE [daemon=DAEMONSET] [done] [deleting] POD-WORD…
//
//	daemonset
//	NAME POD-WORD…
//
//	unavailable
//	TYPE ZONE CAPACITY-TYPE
//
//	claims
//	[N x] NAME [ns=NS] [class=CLASS] [volume=VOLUME] [half-bound=VOLUME] [mode=rwo|rwx|rox|rwop]
//	    [of-pod=POD] [lost] [deleting]
//
//	volumes
//	[N x] NAME [where=(REQUIREMENT, …)]… [driver=DRIVER] [class=CLASS] [deleting]
//
//	classes
//	NAME [where=(KEY in VALUE…, …)]… [driver=DRIVER] [immediate] [default[=MINUTE]]
//
//	csi-nodes
//	NODE DRIVER[=N]…
//
//	namespaces
//	NAME [label=(KEY=VALUE…)]
//
//	services
//	NAME [ns=NS] [of=(KEY=VALUE…)]
//
//	owners
//	replicaset|statefulset|controller/NAME [ns=NS] [of=(SELECTOR)]
//
//	default-spread
//	KEY [skew=N] [min=N] [soft]
//
// These say what is planned, and what a second opinion thinks of it:
//
//	solve [effort=fast|default|thorough|N] [max-options=N] [min-values=POLICY]
//	    [weights=POLICY] [preferences=POLICY] [preference-price=USD] [strategy=NAME]
//	    [order=CT,…] [priorities=(TYPE…)] [no-spot] [smallest=(RESOURCE=QUANTITY…)]
//	    [largest=(RESOURCE=QUANTITY…)] [node-overhead=USD] [interruption=USD] [interruption-per-core=USD]
//	    [unstated-rate=N%] [spot-options=N] [spot-types=N] [spot-families=N] [spot-zones=N]
//	    [workload-share=N%] [show=(DETAIL…)]
//
//	verify
//
// The words about pods are
//
//	RESOURCE=QUANTITY  limits=(…)  container=(…)  init=(…)  sidecar=(…)  overhead=(…)
//	pod-level=(…)  where=(REQUIREMENT, …)  prefer=(REQUIREMENT, … [, weight N])
//	select=(KEY=VALUE…)  tolerate=TOLERATION  port=[IP:]PORT[/PROTOCOL]  priority=N  ns=NAME
//	label=(KEY=VALUE…)  owner=KIND/NAME  claim=CLAIM  ephemeral=(NAME [class=CLASS] [mode=MODE])
//	spread=(KEY [of=(SELECTOR)] [skew=N] [min=N] [soft] [affinity=POLICY] [taints=POLICY] [same=KEY]…)
//	near=(KEY [of=(SELECTOR)] [weight=N] [ns=(NAME…)] [ns-of=(SELECTOR)] [same=KEY]… [other=KEY]…)
//	apart=(the same as near)
//
// spread is a topology spread constraint, hard unless it says soft; near and apart are
// pod affinity and anti-affinity, required unless they have a weight. They are about the
// pods with all the labels of this one unless of= says about which; of=none is a tie
// without a selector, and of=() one about every pod. ns= and ns-of= say in which
// namespaces, same= and other= are matchLabelKeys and mismatchLabelKeys, and the policies
// are honor and ignore. A selector is a list of KEY=VALUE… and of conditions in, not in,
// exists and absent, separated by commas:
//
//	3 x web cpu=1 label=(app=web) spread=(zone) apart=(host of=(app in db cache) weight=50)
//
// In the name of a claim, # stands for what follows the last hyphen of the pod's name.
//
// Several where= of a pod are terms of which one must hold, and so are those of a volume
// and of a storage class. A requirement is one of
//
//	KEY in VALUE…   KEY not in VALUE…   KEY exists   KEY absent
//	KEY > N   KEY < N   KEY >= N   KEY <= N
//
// and on a pool may end in "min N", its minValues. The keys zone, arch, os, type,
// host, capacity-type, reservation and pool, and the resources disk and gpu, are short
// for the long names; a key in double quotes stands for itself. A taint is
// KEY[=VALUE]:EFFECT; a toleration is KEY[=VALUE][:EFFECT], with > or < in the place
// of = for those that compare numbers, or * for everything. An offering is
// CAPACITY-TYPE@ZONE=PRICE, then xN (the machines left) and #ID for reservations, ~N%
// for the interruption rate, ! for offerings that are not on sale now, +(RESOURCE=QUANTITY…)
// for what machines bought there have instead of what the type says, and
// -(RESOURCE=QUANTITY…) for what the system keeps of them instead. The details
// that solve can show are options, requests, labels, taints, requirements, reasons,
// fixes and warnings.
//
// A line of input is one object: it does not continue on the next line, except that
// of pool, which may. Errors are printed, too, behind "error: ". Every solve checks
// silently what [Check] checks.
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
//	random_cluster  clusters with everything in them that can keep nodes from being removed
//	cluster, cluster_options, apply  clusters that were packed well once, and what becomes of them
//
// Tests of programs that plan
//
//	audit, problem  what has to hold for every plan
//	minimise     the smallest problem that still fails
//
// Scenario files
//
//	scenario     reading files, and running them
//	commands, solve  a command each
//	words, objects  what a line consists of
//	render       plans as text
