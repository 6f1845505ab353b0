package schedulingtest

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Node is a ready node that belongs to no NodePool and has no allocatable unless an option adds
// them.
func Node(name string, opts ...NodeOption) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name),
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	return with(n, opts)
}

// OfPool makes the node an initialized one of the pool.
func OfPool(pool string) NodeOption {
	return on(func(n *corev1.Node) {
		labels := poolLabels(pool)
		maps.Copy(labels, n.Labels)
		n.Labels = labels
	})
}

// OfType makes the node one of the type, launched at the offering: it gets
// their labels, capacity and allocatable.
func OfType(t *instancetypes.InstanceType, o offerings.Offering) NodeOption {
	return on(func(n *corev1.Node) {
		maps.Copy(n.Labels, t.NodeLabels(o))
		n.Labels[corev1.LabelInstanceTypeStable] = t.Name
		n.Status.Capacity = t.CapacityOf(o)
		n.Status.Allocatable = t.AllocatableOf(o)
	})
}

// Allocatable is the allocatable and capacity of the node. A node holds 110 pods unless the amounts
// state another number.
func Allocatable(amounts ...ResourceAmount) NodeOption {
	return on(func(n *corev1.Node) {
		list := merge(Resources(Count(corev1.ResourcePods, 110)), amounts)
		n.Status.Allocatable = list
		n.Status.Capacity = list.DeepCopy()
	})
}

// InFlight makes a node of a pool one in flight: it is not initialized, and reports no capacity.
func InFlight() NodeOption {
	return on(func(n *corev1.Node) {
		delete(n.Labels, scheduling.InitializedLabel)
		delete(n.Labels, scheduling.RegisteredLabel)
		n.Status = corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}},
		}
	})
}

// Disrupted adds the taint that Karpenter adds to nodes before it removes them.
func Disrupted() NodeOption {
	return Taint(scheduling.DisruptedTaint, "", corev1.TaintEffectNoSchedule)
}

// Cordoned makes the node unschedulable, as kubectl cordon does.
func Cordoned() NodeOption {
	return on(func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule,
		})
	})
}

// NodePool returns a pool that may launch every offering of the catalog unless an option restricts it.
func NodePool(name string, opts ...NodePoolOption) *scheduling.NodePool {
	p := &scheduling.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	return with(p, opts)
}

// Limit bounds the sum of the capacity of the pool's nodes; see [MaxNodes] for
// their number.
func Limit(amounts ...ResourceAmount) NodePoolOption {
	return on(func(p *scheduling.NodePool) {
		p.Spec.Limits = merge(p.Spec.Limits, amounts)
	})
}

// MaxNodes bounds the number of the pool's nodes.
func MaxNodes(n int64) NodePoolOption { return Limit(Count(scheduling.NodesResource, n)) }

// LimitPrice bounds the sum of the prices of the pool's nodes.
func LimitPrice(p offerings.Price) NodePoolOption {
	return Limit(ResourceAmount{scheduling.PriceResource, *resource.NewScaledQuantity(int64(p), resource.Nano)})
}

// Replicas makes the pool static: it has n nodes and launches none for pods.
func Replicas(n int64) NodePoolOption {
	return on(func(p *scheduling.NodePool) { p.Spec.Replicas = &n })
}

// poolLabels are the labels that the node of a pool carries because it is one.
func poolLabels(pool string) map[string]string {
	return map[string]string{
		scheduling.NodePoolLabel:    pool,
		scheduling.RegisteredLabel:  "true",
		scheduling.InitializedLabel: "true",
		corev1.LabelOSStable:        "linux",
		corev1.LabelArchStable:      "amd64",
	}
}

// DaemonSet runs a pod on every node that the pod fits. The options are options of its pods.
func DaemonSet(name string, opts ...PodOption) *appsv1.DaemonSet {
	pod := Pod(name, opts...)
	labels := put(pod.Labels, "app", name)
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pod.Namespace, UID: daemonSetUID(pod.Namespace, name)},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
	ds.Spec.Template.Labels = labels
	ds.Spec.Template.Spec = pod.Spec
	return ds
}

func daemonSetUID(namespace, name string) types.UID {
	return types.UID("daemonset/" + namespace + "/" + name)
}
