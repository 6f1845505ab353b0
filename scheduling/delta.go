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

// Delta is what changes in a [Session] from one plan to the next. Objects that are
// named take the place of those of the same kind and name, or come in addition;
// everything else stays as it is. The zero Delta changes nothing.
//
// Objects belong to the session from then on: whoever wants to change one hands in a
// changed copy.
type Delta struct {
	// Pods are pods that are new or have changed. Those with a node (spec.nodeName) run
	// there, the others are to be placed: a pod that was bound is handed in with its node.
	Pods []*corev1.Pod
	// Moved are pods that run on other nodes now. That is what handing in copies of them
	// with other nodes would do, without the copies.
	Moved []Move
	// Nominated are nodes that pods are promised from now on, as in [Problem]; "" takes back
	// what was promised, here or in the pod's status. The session forgets it when the pod gets a
	// node, has moved or goes.
	Nominated map[types.NamespacedName]string
	// The others are as in [Problem].
	Nodes          []*corev1.Node
	NodePools      []*NodePool
	DaemonSets     []*appsv1.DaemonSet
	Claims         []*corev1.PersistentVolumeClaim
	Volumes        []*corev1.PersistentVolume
	StorageClasses []*storagev1.StorageClass
	CSINodes       []*storagev1.CSINode
	Namespaces     []*corev1.Namespace
	Services       []*corev1.Service
	Owners         Owners
	// Removed names what is there no more.
	Removed Removed
	// Catalog takes the place of the catalog, for other types or prices; nil keeps it.
	Catalog *instancetypes.Catalog
	// PoolCatalogs take the place of the catalogs of these pools; with nil, a pool buys
	// from the catalog of all again. A pool that is removed takes its catalog along.
	PoolCatalogs map[string]*instancetypes.Catalog
	// Offerings change single offerings, of every catalog that has the type: their price,
	// whether they are on sale, how many of a reservation are left.
	Offerings []instancetypes.OfferingChange
	// Unavailable takes the place of the record of offerings that failed; nil keeps it.
	// Marks that the caller makes in a record that is here already count in the next
	// plan without any Delta.
	Unavailable *offerings.Unavailable
	// Now is the time of the next plans; zero keeps it.
	Now time.Time
	// DefaultSpread takes the place of the default constraints; nil keeps them, and an
	// empty list that is not nil leaves none.
	DefaultSpread []corev1.TopologySpreadConstraint
}

// Move is a pod that runs on another node now.
type Move struct {
	// Pod is the pod's name; an empty namespace is "default".
	Pod types.NamespacedName
	// Node is where it runs from now on.
	Node string
}

// Removed names objects that are gone, those without a namespace by their name alone. An
// empty namespace is "default".
type Removed struct {
	// Pods are those to be placed and those that run; the others are as in [Problem].
	Pods           []types.NamespacedName
	Nodes          []string
	NodePools      []string
	DaemonSets     []types.NamespacedName
	Claims         []types.NamespacedName
	Volumes        []string
	StorageClasses []string
	CSINodes       []string
	Namespaces     []string
	Services       []types.NamespacedName
	// ReplicationControllers, ReplicaSets and StatefulSets are those of [Owners].
	ReplicationControllers []types.NamespacedName
	ReplicaSets            []types.NamespacedName
	StatefulSets           []types.NamespacedName
}
