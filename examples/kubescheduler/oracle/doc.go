// Package oracle asks the real kube-scheduler whether it agrees with a plan.
//
// It carries a [scheduling.Plan] out on paper: machines become Nodes, DaemonSets put
// their pods on them as the DaemonSet controller would, nodes in flight become ready.
// Then kube-scheduler, compiled into this program from k8s.io/kubernetes with its
// default plugins, is asked about every pod.
//
//   - A pod that the plan places must pass every filter on its planned node, with the
//     pods before it in place. That holds for the first option of each launch and for
//     a sample of the other options.
//   - A pod that the plan gives up on must fail on every node there is and on every
//     empty machine that any pool could have bought for it, unless a limit, a
//     reservation or minValues forbid the machine, because kube-scheduler knows none of these.
//
// Each difference is a [Disagreement].
//
// A plan of steps that empty nodes is carried out likewise ([CheckSteps]): launches become
// nodes, pods leave wave by wave, and each must pass every filter where it is expected.
//
// # Two ways to ask
//
// [Scheduler] drives the framework of a scheduler step by step: nodes and pods go into
// its cache, and its filters run for one pod and one node. That costs microseconds, so
// that [Check] can try thousands of plans. [Run] instead runs a whole scheduler on
// a fake API server, with queue, informers and binding, and reads the pods' nodes;
// with the plugin of adapters/kubescheduler in it, they must be those of the plan.
// [Scheduler.Schedule] runs whole scheduling cycles of the first, scores included, without an
// API server; package realised binds thousands of pods with it.
//
// # Objects of the API server
//
// Pods and DaemonSets get the API server's defaults from the API server's own code.
// The DaemonSet controller's own code decides whether a DaemonSet runs on a node.
// Affinity between pods needs no more than the pods. Further objects of the API server,
// e.g. volumes, claims, storage classes, namespaces and services, are those of the
// problem ([NewSchedulerFor], [Objects]), or are handed to [NewScheduler] or [Run].
package oracle
