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

// Delta is the change of a [Session]'s problem from one plan to the next. Its objects replace the
// objects of the same kind and name, or are added; all other objects stay. The zero Delta changes
// nothing.
//
// The session keeps the objects, so that a caller must not change them afterwards: hand in a
// changed copy instead.
type Delta struct {
	// Pods are new or changed pods. Pods with a node (spec.nodeName) run there, all others are to
	// be placed: hand in a pod with its node once it is bound.
	Pods []*corev1.Pod
	// Moved are pods that run on another node now. It has the effect of copies in Pods with the new
	// node, without the copies.
	Moved []Move
	// Nominated are nodes that pods are promised from now on, as in [Problem]; "" takes back a
	// promise, made here or in the pod's status. The session forgets a promise when the pod gets a
	// node, has moved or is removed.
	Nominated map[types.NamespacedName]string
	// The objects below are as in [Problem].
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
	SpotPolicies   []*SpotPolicy
	// Removed names the objects that are gone.
	Removed Removed
	// Catalog replaces the catalog, e.g. for other prices; nil keeps it.
	Catalog *instancetypes.Catalog
	// PoolCatalogs replace the catalogs of these pools; with nil, a pool launches from Catalog again. A
	// pool that is removed loses its catalog, too.
	PoolCatalogs map[string]*instancetypes.Catalog
	// Offerings change single offerings in every catalog that has the type: price, availability, or
	// the number left of a reservation.
	Offerings []instancetypes.OfferingChange
	// Unavailable replaces the record of failed offerings; nil keeps it. Marks that the caller adds
	// to a record that the session has count in the next plan without a Delta.
	Unavailable *offerings.Unavailable
	// Now is the time of the next plans; zero keeps it.
	Now time.Time
	// DefaultSpread replaces the default constraints; nil keeps them, and an empty list that is not
	// nil removes them.
	DefaultSpread []corev1.TopologySpreadConstraint
}

// Move is a pod that runs on another node now.
type Move struct {
	// Pod is the pod's name; an empty namespace is "default".
	Pod types.NamespacedName
	// Node is the node on which it runs from now on.
	Node string
}

// Removed names objects that are gone, objects without a namespace by their name alone. An empty
// namespace is "default".
type Removed struct {
	// Pods are pending and running pods; the lists below are as in [Problem].
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
	SpotPolicies   []string
	// ReplicationControllers, ReplicaSets and StatefulSets are objects of [Owners].
	ReplicationControllers []types.NamespacedName
	ReplicaSets            []types.NamespacedName
	StatefulSets           []types.NamespacedName
}
