package scheduling

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Problem is the complete input of a decision. Planners do not change it; the caller may use it
// again.
type Problem struct {
	// Pods are to be placed. Pods that already have a node (spec.nodeName) belong
	// in Running; pods that are terminal or being deleted are ignored.
	Pods []*corev1.Pod
	// NodePools define the nodes that may be launched.
	NodePools []*NodePool
	// Catalog holds the instance types. It may be nil when there are no NodePools.
	Catalog *instancetypes.Catalog
	// PoolCatalogs override Catalog for the named pools, for callers whose node
	// classes see different types.
	PoolCatalogs map[string]*instancetypes.Catalog
	// Nodes are running or in flight. A node of a pool that is not yet initialized
	// (label karpenter.sh/initialized) is in flight: its start-up taints are
	// ignored, and capacity that it does not report yet is taken from the catalog.
	// Nodes that are being deleted or carry the disruption taint receive no pods.
	Nodes []*corev1.Node
	// Running are the pods on these nodes.
	Running []*corev1.Pod
	// Nominated are the nodes that pods of Pods have been promised, by pod (an empty namespace is
	// "default"): the placements of an earlier plan (provisioning.Nominations) whose nodes are
	// under way. It overrides status.nominatedNodeName of the pod; "" removes it. A pod stays where
	// it is nominated, and no other pod takes its resources there. The nomination ends where the
	// pod no longer fits there beside the running and the other nominated pods, or where a pod of
	// higher priority has no other place: then it is planned like any other pod, and the plan has a
	// warning. For a pod that runs on another node it is the node of its successor, which its
	// controller makes after the eviction: the pod counts on both nodes. Other names are ignored.
	Nominated map[types.NamespacedName]string
	// DaemonSets run on every node that they fit.
	DaemonSets []*appsv1.DaemonSet
	// Claims, Volumes, StorageClasses and CSINodes decide where pods with volumes may run, and how
	// many volumes a node takes. A pod with a claim that is missing here is not planned.
	Claims         []*corev1.PersistentVolumeClaim
	Volumes        []*corev1.PersistentVolume
	StorageClasses []*storagev1.StorageClass
	CSINodes       []*storagev1.CSINode
	// Namespaces carry the labels that namespaceSelectors of pod (anti-)affinity read. A namespace
	// that is missing here has only the label kubernetes.io/metadata.name.
	Namespaces []*corev1.Namespace
	// DefaultSpread are the constraints of pods that state no topology spread of
	// their own, as kube-scheduler's PodTopologySpread plugin is configured with
	// (defaultConstraints). Their selectors are deduced from Services and Owners.
	DefaultSpread []corev1.TopologySpreadConstraint
	// SpotPolicies bound how many pods of workloads may be on spot nodes.
	SpotPolicies []*SpotPolicy
	// Services and Owners determine, for DefaultSpread, which pods belong together.
	Services []*corev1.Service
	Owners   Owners
	// Scheduler is the configuration of the cluster's kube-scheduler beside DefaultSpread, for
	// PlacementFree; the zero value is its default profile.
	Scheduler SchedulerProfile
	// Unavailable records offerings that failed lately; nil is an empty record. It is read at the
	// time Now.
	Unavailable *offerings.Unavailable
	// Now is the time of the decision. Package provisioning reads Unavailable at it, and no clock;
	// package disruption uses it where its planner has no time of its own.
	Now time.Time
}

// Owners are the controllers whose selectors [Problem.DefaultSpread] uses. Pods are matched by
// their owner references.
type Owners struct {
	ReplicationControllers []*corev1.ReplicationController
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
}

// CatalogOf is the catalog that a pool launches from.
func (p *Problem) CatalogOf(pool string) *instancetypes.Catalog {
	if c, ok := p.PoolCatalogs[pool]; ok {
		return c
	}
	return p.Catalog
}
