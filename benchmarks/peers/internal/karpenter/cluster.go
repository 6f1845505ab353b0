package karpenter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// estate is a running cluster: Karpenter's state of it, and the offering of each machine.
type estate struct {
	problem  scheduling.Problem
	memory   *memory
	kube     client.Client
	cloud    owner
	shelves  map[string]shelf
	cluster  *state.Cluster
	clock    *clocktesting.FakeClock
	machines map[string]peer.Machine // by node, without pods
	bought   int
}

// owner is a cloud whose classes of nodes there are, so that its pools count.
type owner struct{ provider }

func (owner) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&kwok.KWOKNodeClass{}}
}

// settle translates a cluster. Every node is initialized and may be consolidated, and no
// pod waits.
func settle(ctx context.Context, c *disruption.Cluster) (*estate, error) {
	pools, err := nodePools(c.NodePools)
	if err != nil {
		return nil, err
	}
	keys := keysOf(c.Catalog)
	register(keys)
	e := &estate{
		problem:  c.Problem,
		memory:   &memory{pools: pools, nodes: map[string]*corev1.Node{}, pods: map[string][]*corev1.Pod{}, daemons: c.DaemonSets, budgets: c.PodDisruptionBudgets},
		cloud:    owner{provider{}},
		shelves:  map[string]shelf{},
		clock:    clocktesting.NewFakeClock(c.Now),
		machines: map[string]peer.Machine{},
	}
	common := translate(c.Catalog, keys, c.Unavailable, c.Now)
	for _, pool := range pools {
		if pool.Spec.Disruption.ConsolidateAfter.Duration == nil && pool.Spec.Disruption.ConsolidateAfter.Raw == nil {
			pool.Spec.Disruption.ConsolidateAfter = karpv1.MustParseNillableDuration("0s") // as the API server does
		}
		pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
		pool.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
		pool.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
		pool.StatusConditions().SetTrue(karpv1.ConditionTypeNodeRegistrationHealthy)
		e.shelves[pool.Name], e.cloud.provider[pool.Name] = common, common.types
	}
	e.kube = e.memory.client(surroundings(&scheduling.Problem{
		Pods: c.Running, Claims: c.Claims, Volumes: c.Volumes, StorageClasses: c.StorageClasses, CSINodes: c.CSINodes, Namespaces: c.Namespaces,
	}))
	e.cluster = state.NewCluster(e.clock, e.kube, e.cloud)
	if err := e.populate(ctx, c); err != nil {
		return nil, err
	}
	return e, nil
}

// populate adds the nodes with their pods.
func (e *estate) populate(ctx context.Context, c *disruption.Cluster) error {
	for i, pod := range c.Running {
		admitted := schedulingtest.Admitted(pod)
		admitted.Namespace = cmp.Or(admitted.Namespace, corev1.NamespaceDefault)
		admitted.UID = types.UID(fmt.Sprintf("pod-%08d", i))
		e.memory.pods[pod.Spec.NodeName] = append(e.memory.pods[pod.Spec.NodeName], admitted)
	}
	for _, node := range c.Nodes {
		m := peer.Machine{NodePool: node.Labels[scheduling.NodePoolLabel], InstanceType: node.Labels[corev1.LabelInstanceTypeStable], Labels: node.Labels}
		of, ok := c.Catalog.Lookup(offerings.Key{
			InstanceType: m.InstanceType, Zone: node.Labels[corev1.LabelTopologyZone], CapacityType: offerings.CapacityType(node.Labels[offerings.CapacityTypeLabel]),
		})
		if !ok || of.ReservationID != "" {
			return fmt.Errorf("node %s: the catalog does not sell %s there", node.Name, m.InstanceType)
		}
		m.Offering = of
		if err := e.join(ctx, node.DeepCopy(), m); err != nil {
			return err
		}
	}
	return nil
}

// join adds a node that is ready, with its node claim; its pods are in memory.
func (e *estate) join(ctx context.Context, node *corev1.Node, m peer.Machine) error {
	node.Spec.ProviderID = "catalog://" + node.Name
	if node.CreationTimestamp.IsZero() {
		node.CreationTimestamp = metav1.NewTime(e.clock.Now())
	}
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: types.UID("claim-" + node.Name), Labels: maps.Clone(node.Labels), CreationTimestamp: node.CreationTimestamp},
		Spec:       karpv1.NodeClaimSpec{Taints: slices.Clone(node.Spec.Taints)},
		Status:     karpv1.NodeClaimStatus{NodeName: node.Name, ProviderID: node.Spec.ProviderID, Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable},
	}
	for _, is := range []string{karpv1.ConditionTypeLaunched, karpv1.ConditionTypeRegistered, karpv1.ConditionTypeInitialized, karpv1.ConditionTypeConsolidatable} {
		claim.StatusConditions(status.WithClock(e.clock)).SetTrue(is)
	}
	e.memory.nodes[node.Name], e.machines[node.Name] = node, m
	e.cluster.UpdateNodeClaim(claim)
	return e.cluster.UpdateNode(ctx, node)
}

// leave removes a node, which only daemons are still on.
func (e *estate) leave(name string) error {
	for _, pod := range e.memory.pods[name] {
		if podutils.IsReschedulable(pod) {
			return fmt.Errorf("node %s goes with pod %s/%s on it", name, pod.Namespace, pod.Name)
		}
		e.cluster.DeletePod(client.ObjectKeyFromObject(pod))
	}
	delete(e.memory.pods, name)
	delete(e.memory.nodes, name)
	delete(e.machines, name)
	e.cluster.DeleteNode(name)
	e.cluster.DeleteNodeClaim(name)
	return nil
}

// move binds a pod to another node.
func (e *estate) move(ctx context.Context, pod *corev1.Pod, to string) error {
	from := e.memory.pods[pod.Spec.NodeName]
	i := slices.IndexFunc(from, func(p *corev1.Pod) bool { return p.UID == pod.UID })
	if i < 0 {
		return fmt.Errorf("pod %s/%s is not on node %s", pod.Namespace, pod.Name, pod.Spec.NodeName)
	}
	moved := from[i].DeepCopy()
	moved.Spec.NodeName = to
	e.memory.pods[pod.Spec.NodeName] = slices.Delete(from, i, i+1)
	e.memory.pods[to] = append(e.memory.pods[to], moved)
	return e.cluster.UpdatePod(ctx, moved)
}
