package karpenter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/pkg/apis"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"
	nodepoolutils "sigs.k8s.io/karpenter/pkg/utils/nodepool"
	"sigs.k8s.io/karpenter/pkg/utils/pdb"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// apiVersion is that of the NodePools and NodeClaims that are read.
const apiVersion = apis.Group + "/v1"

// Reader reads the cluster as Karpenter knows it. All fields are required.
type Reader struct {
	// Client reads objects; the one of Karpenter's operator has the field index spec.nodeName of pods, and a cache.
	Client client.Client
	// Cluster is Karpenter's state of nodes and NodeClaims.
	Cluster *state.Cluster
	// CloudProvider lists the instance types of NodePools. Decorate it with package overlay for NodeOverlays.
	CloudProvider cloudprovider.CloudProvider
	// Clock is the time.
	Clock clock.Clock
	// Recorder is told pods whose annotations Karpenter cannot read.
	Recorder events.Recorder
}

// Snapshot is a cluster at one time, as the planner and as Karpenter have it.
type Snapshot struct {
	// Cluster is the planner's input. Nodes that Karpenter deletes or has marked for deletion are being deleted in it,
	// and their pods that Karpenter reschedules are pending.
	Cluster disruption.Cluster
	// Warnings name objects and fields that were left out, and why.
	Warnings []scheduling.Warning

	pools map[string]*karpv1.NodePool
	types map[string][]*cloudprovider.InstanceType // by NodePool
	nodes map[string]*state.StateNode              // by the name of the node in Cluster
	pods  map[string]*corev1.Pod                   // by namespace/name, as the API server has them
}

// Read reads the cluster with these pending pods, e.g. those of Karpenter's Provisioner.GetPendingPods. NodePools that are
// not ready, are being deleted or have no instance types launch no nodes, as in Karpenter. The error says which objects
// could not be listed; objects that the planner refuses are left out with a warning.
func (r Reader) Read(ctx context.Context, pending []*corev1.Pod) (*Snapshot, error) {
	// The nodes are read before the pods: a pod that is bound meanwhile counts twice rather than never.
	nodes := r.Cluster.DeepCopyNodes()
	s := &Snapshot{
		pools: map[string]*karpv1.NodePool{}, types: map[string][]*cloudprovider.InstanceType{}, nodes: map[string]*state.StateNode{}, pods: map[string]*corev1.Pod{},
	}
	if err := r.readPools(ctx, s); err != nil {
		return nil, err
	}
	if err := r.readNodes(s, nodes); err != nil {
		return nil, err
	}
	if err := r.readPods(ctx, s, pending); err != nil {
		return nil, err
	}
	if err := r.readSurroundings(ctx, &s.Cluster); err != nil {
		return nil, err
	}
	s.Cluster.Now = r.Clock.Now()
	if err := s.leaveOut(); err != nil {
		return nil, err
	}
	return s, nil
}

// warn notes a warning about an object.
func (s *Snapshot) warn(object, message string) {
	s.Warnings = append(s.Warnings, scheduling.Warning{Object: object, Message: message})
}

// readPools reads the NodePools that may launch nodes, with their catalogs.
func (r Reader) readPools(ctx context.Context, s *Snapshot) error {
	pools, err := nodepoolutils.ListManaged(ctx, r.Client, r.CloudProvider)
	if err != nil {
		return fmt.Errorf("listing NodePools: %w", err)
	}
	s.Cluster.PoolCatalogs = map[string]*instancetypes.Catalog{}
	for _, pool := range pools {
		object := "NodePool/" + pool.Name
		switch {
		case !pool.DeletionTimestamp.IsZero():
			continue
		case !pool.StatusConditions().Root().IsTrue():
			s.warn(object, "status.conditions[Ready]: is not True, so that the NodePool launches no nodes")
			continue
		}
		offered, err := r.CloudProvider.GetInstanceTypes(ctx, pool)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s: listing its instance types: %w", object, err)
		case err != nil:
			s.warn(object, "its instance types cannot be listed, so that it launches no nodes: "+err.Error())
			continue
		case len(offered) == 0:
			s.warn(object, "has no instance types")
			continue
		}
		catalog, warnings := Catalog(offered, kscheduling.NewNodeSelectorRequirementsWithMinValues(pool.Spec.Template.Spec.Requirements...))
		s.Warnings = append(s.Warnings, warnings...)
		s.pools[pool.Name], s.types[pool.Name], s.Cluster.PoolCatalogs[pool.Name] = pool, offered, catalog
	}
	return nil
}

// readNodes reads NodePools, nodes and NodeClaims the way manifests are read.
func (r Reader) readNodes(s *Snapshot, nodes state.StateNodes) error {
	var text bytes.Buffer
	write := json.NewEncoder(&text)
	var failed error
	add := func(o any) {
		if err := write.Encode(o); err != nil && failed == nil {
			failed = err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.pools)) {
		pool := s.pools[name].DeepCopy()
		pool.TypeMeta, pool.ManagedFields = metav1.TypeMeta{APIVersion: apiVersion, Kind: "NodePool"}, nil
		add(pool)
	}
	for _, n := range nodes {
		going := n.MarkedForDeletion()
		if claim := n.NodeClaim; claim != nil {
			claim.TypeMeta, claim.ManagedFields = metav1.TypeMeta{APIVersion: apiVersion, Kind: "NodeClaim"}, nil
			claim.DeletionTimestamp = r.deletion(claim.DeletionTimestamp, going)
			add(claim)
		}
		if node := n.Node; node != nil {
			node.TypeMeta, node.ManagedFields, node.Status.Images = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, nil, nil
			node.DeletionTimestamp = r.deletion(node.DeletionTimestamp, going)
			add(node)
		}
		s.nodes[nodeName(n)] = n
	}
	if failed != nil {
		return fmt.Errorf("writing objects of the cluster: %w", failed)
	}
	read, err := manifest.Loader{IgnoreUnknown: true, SkipInvalid: true}.Read("cluster", &text)
	if err != nil {
		return fmt.Errorf("reading objects of the cluster: %w", err)
	}
	for _, fault := range read.Skipped {
		s.warn(fault.Object, "is left out: "+fault.Error())
	}
	catalogs := s.Cluster.PoolCatalogs
	s.Cluster = read.Cluster()
	s.Cluster.PoolCatalogs = catalogs
	for i := range s.Cluster.Machines {
		m := &s.Cluster.Machines[i]
		if n := s.nodes[m.Node]; n != nil && n.Nominated(r.Clock) {
			m.NominatedUntil = r.Clock.Now().Add(time.Minute)
		}
	}
	return nil
}

// nodeName is the name of a node in the problem: that of its NodeClaim before it has joined.
func nodeName(n *state.StateNode) string {
	if n.Node != nil {
		return n.Node.Name
	}
	return cmp.Or(n.NodeClaim.Status.NodeName, n.NodeClaim.Name)
}

// deletion is the time of deletion of a node that goes: now where it has none.
func (r Reader) deletion(at *metav1.Time, going bool) *metav1.Time {
	if at != nil || !going {
		return at
	}
	now := metav1.NewTime(r.Clock.Now())
	return &now
}

// readPods reads the pods on nodes, and those that wait for one. A pod that Karpenter nominated to a node that is there
// keeps it.
func (r Reader) readPods(ctx context.Context, s *Snapshot, pending []*corev1.Pod) error {
	list := &corev1.PodList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil { // pods are only read
		return fmt.Errorf("listing pods: %w", err)
	}
	budgets, err := pdb.NewLimits(ctx, r.Client)
	if err != nil {
		return fmt.Errorf("listing PodDisruptionBudgets: %w", err)
	}
	p := &s.Cluster.Problem
	p.Nominated = map[types.NamespacedName]string{}
	byClaim := map[string]string{}
	for name, n := range s.nodes {
		if n.NodeClaim != nil && !n.MarkedForDeletion() {
			byClaim[n.NodeClaim.Name] = name
		}
	}
	wait := func(pod *corev1.Pod) {
		s.pods[scheduling.PodName(pod)] = pod
		if node := byClaim[r.Cluster.PodNodeClaimMapping(client.ObjectKeyFromObject(pod))]; node != "" {
			p.Nominated[client.ObjectKeyFromObject(pod)] = node
		}
	}
	bound := map[types.UID]bool{}
	for i := range list.Items {
		bound[list.Items[i].UID] = list.Items[i].Spec.NodeName != ""
	}
	for _, pod := range pending {
		if !bound[pod.UID] { // it may have been bound since it was listed
			wait(pod)
			p.Pods = append(p.Pods, pod)
		}
	}
	for i := range list.Items {
		pod := &list.Items[i]
		n := s.nodes[pod.Spec.NodeName]
		switch {
		case n == nil, podutils.IsTerminal(pod):
		case n.MarkedForDeletion() && budgets.IsCurrentlyReschedulable(pod, r.Clock, r.Recorder):
			wait(pod)
			p.Pods = append(p.Pods, scheduling.Successor(pod, ""))
		default:
			s.pods[scheduling.PodName(pod)] = pod
			p.Running = append(p.Running, pod)
		}
	}
	return nil
}

// readSurroundings reads the objects that decide where pods may run, and how many may be away.
func (r Reader) readSurroundings(ctx context.Context, c *disruption.Cluster) error {
	var (
		daemons appsv1.DaemonSetList
		claims  corev1.PersistentVolumeClaimList
		volumes corev1.PersistentVolumeList
		classes storagev1.StorageClassList
		csi     storagev1.CSINodeList
		spaces  corev1.NamespaceList
		budgets policyv1.PodDisruptionBudgetList
	)
	for kind, list := range map[string]client.ObjectList{
		"DaemonSets": &daemons, "PersistentVolumeClaims": &claims, "PersistentVolumes": &volumes, "StorageClasses": &classes, "CSINodes": &csi,
		"Namespaces": &spaces, "PodDisruptionBudgets": &budgets,
	} {
		if err := r.Client.List(ctx, list); err != nil {
			return fmt.Errorf("listing %s: %w", kind, err)
		}
	}
	c.DaemonSets, c.Claims, c.Volumes = pointers(daemons.Items), pointers(claims.Items), pointers(volumes.Items)
	c.StorageClasses, c.CSINodes, c.Namespaces = pointers(classes.Items), pointers(csi.Items), pointers(spaces.Items)
	c.PodDisruptionBudgets = pointers(budgets.Items)
	return nil
}

// pointers are pointers to the items of a list.
func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}
