// Package manifest turns Kubernetes manifests into a [scheduling.Problem], and
// plans back into NodeClaims.
//
// # Input
//
// A [Loader] reads files, directories and streams: YAML with any number of
// documents, JSON, JSON values one after another, and lists such as those that
// kubectl prints. Lists are read item by item, so that the dump of a large cluster
// costs no more memory than its objects.
//
// # What becomes of the objects
//
//   - A Pod without a node is to be placed, unless it has finished, is being deleted, or
//     belongs to a DaemonSet or, as static pods do, to a Node. A Pod on a Node of the
//     input runs there; one on any other node is left out with a warning. Pods behind a
//     scheduling gate are kept, for the plan to say what they wait for.
//   - A Deployment, StatefulSet, ReplicaSet, ReplicationController or Job stands for
//     the pods that its controller would still create: those that it asks for less
//     those of the input that it owns. A CronJob stands for the pods of one Job, if
//     none of its Jobs or pods is in the input.
//   - DaemonSets, Nodes and NodePools are taken as they are. A NodeClaim without a
//     Node is a machine on its way and becomes a Node that is not yet initialized.
//   - Pods that have not been through admission (those without a UID) get what
//     admission would give them: the priority of their PriorityClass, the overhead
//     and node selector of their RuntimeClass, and the defaults of their namespace's
//     LimitRanges.
//   - The claims that a StatefulSet's templates promise are made for the pods that are
//     made. Claims that have not been through admission and name no class get the
//     default class.
//   - ReplicaSets, StatefulSets, ReplicationControllers and Services tell which pods
//     belong together. Pods made for a Deployment belong to the ReplicaSet of its
//     present revision, with the label of that revision if it is in the input.
//   - A KubeSchedulerConfiguration, kube-scheduler's configuration file, may have
//     default constraints for plugin PodTopologySpread. They count if defaultingType is
//     List; those that kube-scheduler has by itself are wishes, and none are taken.
//     The scoringStrategy of plugin NodeResourcesFit and percentageOfNodesToScore say how it
//     binds pods.
//   - For planning disruption, [Snapshot.Cluster] tells what NodeClaims and nodes say of
//     the machines' ages, their drift and whether they will be taken away.
//   - EC2NodeClasses, NodeClasses of EKS Auto Mode, AKSNodeClasses, GCENodeClasses and
//     NodeOverlays change what is on sale: [Snapshot.SetCatalog] gives each NodePool the
//     catalog that it buys from. A NodePool of EKS Auto Mode does so whether its NodeClass is
//     in the input or not, and its nodes live for 21 days at most.
//   - ResourceQuotas and HorizontalPodAutoscalers are compared with what is planned, and
//     change nothing but the warnings.
//   - Labels of clouds and installers name the group that a node belongs to and how it is
//     paid for: [NodeGroupOf] and [CapacityTypeOf]. In a cluster without NodePools groups can
//     stand for them, whose next nodes are what their healthy nodes are:
//     [Snapshot.AssumeNodePools].
//   - ComputeClasses of GKE are read as NodePools; Provisioners and AWSNodeTemplates are converted to NodePools and EC2NodeClasses,
//     with a warning that says how.
//   - Kinds that have no say in where pods go (ConfigMap, Secret, Ingress and the like,
//     and most kinds of well-known operators) are left out without a word, and
//     those that deploy what is elsewhere, such as Argo CD's Applications, with a warning.
//     Any other kind is an error, because a custom resource may stand for pods that a
//     plan must not forget; [Loader.IgnoreUnknown] turns that error into a warning.
//   - Where objects name others of a kind of which the input has none at all, such as
//     PersistentVolumeClaims, a warning says what to add to it.
//
// # Names
//
// Pods of a workload are named after it with a number, web-0, web-1 and so on, in
// the namespace that they would be created in. Objects without a namespace belong
// to "default", as they do for kubectl.
//
// # Errors
//
// All that is wrong with the input comes back at once, as [Faults]: each names the
// file, the document, the object, the field and the value. What a solver refuses later
// on names the object alone, and [Snapshot.Locate] the place, too. Unknown fields are no
// fault, because dumps hold fields of newer versions of Kubernetes; outside of
// status and metadata they are reported as a warning, because they may be a typo,
// with the field that was probably meant. Of NodePools such a typo is a fault.
//
// A repository holds files that are no manifests, and templates and patches that are no
// objects yet. [Loader.SkipInvalid] leaves them out and lists them in [Snapshot.Skipped].
package manifest
