// Package manifest turns Kubernetes manifests into a [scheduling.Problem], and
// plans back into NodeClaims.
//
// # Input
//
// A [Loader] reads files, directories and streams: YAML with any number of documents, JSON, JSON
// values one after another, and lists, e.g. the output of kubectl. Lists are read item by item, so
// that the dump of a large cluster costs no more memory than its objects.
//
// # The objects of the input
//
//   - A Pod without a node is to be placed, unless it has finished, is being deleted, or belongs to
//     a DaemonSet or, as static pods do, to a Node. A Pod on a Node of the input runs there; one on
//     any other node is left out with a warning. Pods behind a scheduling gate are kept, so that
//     the plan names their gates.
//   - A Deployment, StatefulSet, ReplicaSet, ReplicationController or Job stands for the pods that
//     its controller would still create: its replicas less its pods in the input. A CronJob stands
//     for the pods of one Job, if none of its Jobs or pods is in the input.
//   - DaemonSets, Nodes and NodePools are taken as they are. A NodeClaim without a
//     Node is a node that is starting, and becomes a Node that is not yet initialized.
//   - Pods that have not been through admission (those without a UID) get the defaults of
//     admission: the priority of their PriorityClass, the overhead and node selector of their
//     RuntimeClass, and the defaults of their namespace's LimitRanges.
//   - The claims that a StatefulSet's templates promise are made for the pods that are
//     made. Claims that have not been through admission and name no class get the
//     default class.
//   - ReplicaSets, StatefulSets, ReplicationControllers and Services decide which pods belong
//     together. Pods made for a Deployment belong to the ReplicaSet of its present revision, with
//     the label of that revision if it is in the input.
//   - A KubeSchedulerConfiguration, kube-scheduler's configuration file, may have default
//     constraints for plugin PodTopologySpread. They count if defaultingType is List;
//     kube-scheduler's built-in constraints are preferences, and are not used. The scoringStrategy
//     of plugin NodeResourcesFit and percentageOfNodesToScore configure its scores.
//   - For planning disruption, [Snapshot.Cluster] returns the ages of nodes, their drift and
//     interruption notices, from NodeClaims and nodes.
//   - EC2NodeClasses, NodeClasses of EKS Auto Mode, AKSNodeClasses, GCENodeClasses and NodeOverlays
//     change the catalog: [Snapshot.SetCatalog] gives each NodePool the catalog that it launches from.
//     A NodePool of EKS Auto Mode does so whether its NodeClass is in the input or not, and its
//     nodes live for 21 days at most.
//   - SpotPolicies, a kind of this project's own, bound how many pods of a workload may be on spot nodes.
//   - ResourceQuotas and HorizontalPodAutoscalers are compared with the plan, and only add
//     warnings.
//   - Labels of clouds and installers name the group of a node and its capacity type: [NodeGroupOf]
//     and [CapacityTypeOf]. In a cluster without NodePools groups can stand for them, with their
//     healthy nodes as templates of new ones: [Snapshot.AssumeNodePools].
//   - ComputeClasses of GKE are read as NodePools; Provisioners and AWSNodeTemplates are converted
//     to NodePools and EC2NodeClasses, with a warning that states the result.
//   - Kinds that do not affect scheduling (ConfigMap, Secret, Ingress and the like, and most kinds
//     of well-known operators) are left out silently, and kinds that deploy objects from elsewhere,
//     e.g. Argo CD's Applications, with a warning. Any other kind is an error, because a custom
//     resource may make pods that a plan must not miss; [Loader.IgnoreUnknown] turns that error
//     into a warning.
//   - Where objects refer to a kind of which the input has no object, e.g. PersistentVolumeClaims,
//     a warning names the kind to add.
//
// # Names
//
// Pods of a workload are named after it with a number, web-0, web-1 and so on, in
// the namespace that they would be created in. Objects without a namespace belong
// to "default", as they do for kubectl.
//
// # Errors
//
// All faults of the input are returned at once, as [Faults]: each names the file, the document, the
// object, the field and the value. Faults that a planner finds later name the object, and
// [Snapshot.Locate] adds the place. Unknown fields are no fault, because dumps hold fields of newer
// versions of Kubernetes; outside of status and metadata they are reported as a warning, because
// they may be a typo, with the field that was probably meant. In NodePools a probable typo is a
// fault.
//
// A repository holds files that are no manifests, and templates and patches that are no
// objects yet. [Loader.SkipInvalid] leaves them out and lists them in [Snapshot.Skipped].
package manifest
