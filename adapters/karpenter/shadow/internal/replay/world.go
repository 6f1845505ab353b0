package replay

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// World is a cluster with a Karpenter that launches and removes the nodes that a test names.
type World struct {
	// Now is the time of what happens next.
	Now time.Time
	// Catalog has the instance types of its nodes.
	Catalog *instancetypes.Catalog
	// Nodes, Claims and Pods are the objects as they are now, by name.
	Nodes  map[string]*corev1.Node
	Claims map[string]*manifest.NodeClaim
	Pods   map[string]*corev1.Pod
	// Put and Remove are told of each change. The world does not change the objects any more.
	Put    func(metav1.Object)
	Remove func(metav1.Object)
	// Dress adds fields to a new pod that real ones have; nil adds none.
	Dress func(*corev1.Pod)

	version int
	serial  int
}

// NewWorld returns a world without objects.
func NewWorld(catalog *instancetypes.Catalog) *World {
	return &World{
		Now: time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC), Catalog: catalog,
		Nodes: map[string]*corev1.Node{}, Claims: map[string]*manifest.NodeClaim{}, Pods: map[string]*corev1.Pod{},
	}
}

// Machines has four instance types on demand in one zone, from 2 to 16 cores, at $0.10 a core and hour.
func Machines() *instancetypes.Catalog {
	var all []*instancetypes.InstanceType
	for i, name := range []string{"m.small", "m.medium", "m.large", "m.xlarge"} {
		cores := int64(2) << i
		all = append(all, st.Type(name, st.Capacity(st.Cores(cores), st.GiB(4*cores)), st.OnDemand("z-1", st.Cents(10*cores))))
	}
	return st.MustCatalog(all...)
}

// tell gives an object a new version and tells of it.
func (w *World) tell(o metav1.Object) {
	w.version++
	o.SetResourceVersion(fmt.Sprint(w.version))
	w.Put(o)
}

func (w *World) named(prefix string) metav1.ObjectMeta {
	w.serial++
	name := fmt.Sprintf("%s-%05d", prefix, w.serial)
	return metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(w.Now)}
}

// Pool is a NodePool for all machines.
func (w *World) Pool(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": name, "uid": name},
		"spec": map[string]any{
			"disruption": map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": []any{map[string]any{"nodes": "100%"}}},
			"template":   map[string]any{"spec": map[string]any{"nodeClassRef": map[string]any{"group": "example.com", "kind": "Class", "name": "default"}, "requirements": []any{}}},
		},
	}}
}

// Pending adds pods of a service that wait for a node.
func (w *World) Pending(service string, n int, milliCPU int64) []*corev1.Pod {
	var out []*corev1.Pod
	for range n {
		pod := st.Pod(service, st.Requests(st.MilliCPU(milliCPU), st.MiB(milliCPU)), st.OwnedBy("ReplicaSet", service))
		pod.Namespace = metav1.NamespaceDefault
		w.wait(pod)
		out = append(out, w.Pods[pod.Name])
	}
	return out
}

// wait adds a pod of a new name that has no node.
func (w *World) wait(pod *corev1.Pod) {
	meta := w.named(metav1.GetControllerOf(pod).Name)
	pod.Name, pod.UID, pod.CreationTimestamp, pod.Spec.NodeName = meta.Name, meta.UID, meta.CreationTimestamp, ""
	if w.Dress != nil {
		w.Dress(pod)
	}
	w.Pods[pod.Name] = pod
	w.tell(pod)
}

// Finish deletes the pods on a node.
func (w *World) Finish(node string) {
	for name, pod := range w.Pods {
		if pod.Spec.NodeName == node {
			delete(w.Pods, name)
			w.Remove(pod)
		}
	}
}

// Claim creates a NodeClaim, as Karpenter does for pods, or in place of others.
func (w *World) Claim(pool string) *manifest.NodeClaim {
	c := &manifest.NodeClaim{ObjectMeta: w.named("claim")}
	c.APIVersion, c.Kind = "karpenter.sh/v1", "NodeClaim"
	c.Labels = map[string]string{scheduling.NodePoolLabel: pool}
	w.Claims[c.Name] = c
	w.tell(c)
	return c
}

// Change tells of a changed copy of a NodeClaim.
func (w *World) Change(c *manifest.NodeClaim, f func(*manifest.NodeClaim)) {
	out := *w.Claims[c.Name]
	out.Labels = maps.Clone(out.Labels)
	out.Status.Conditions = slices.Clone(out.Status.Conditions)
	f(&out)
	w.Claims[c.Name] = &out
	w.tell(&out)
}

func condition(c *manifest.NodeClaim, kind, reason string, at time.Time) {
	c.Status.Conditions = slices.DeleteFunc(c.Status.Conditions, func(x metav1.Condition) bool { return x.Type == kind })
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(at)})
}

// Join starts a node for a NodeClaim, on demand, and registers it at once. An instance type that the catalog does not have
// gets a node of 4 cores.
func (w *World) Join(c *manifest.NodeClaim, instanceType string) *corev1.Node {
	labels := map[string]string{corev1.LabelInstanceTypeStable: instanceType, offerings.CapacityTypeLabel: string(offerings.OnDemand)}
	t, known := w.Catalog.Get(instanceType)
	if known {
		first := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool { return o.CapacityType == offerings.OnDemand })
		labels = t.NodeLabels(t.Offerings[first])
	}
	w.Change(c, func(c *manifest.NodeClaim) {
		maps.Copy(c.Labels, labels)
		c.Status.ProviderID = "test:///" + c.Name
		condition(c, "Launched", "Launched", w.Now)
	})
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + c.Name, UID: types.UID("node-" + c.Name), CreationTimestamp: metav1.NewTime(w.Now)}}
	node.Labels = map[string]string{
		scheduling.NodePoolLabel: c.Labels[scheduling.NodePoolLabel], corev1.LabelHostname: node.Name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		scheduling.RegisteredLabel: "true", scheduling.InitializedLabel: "true",
	}
	maps.Copy(node.Labels, labels)
	node.Spec.ProviderID = "test:///" + c.Name
	if known {
		node.Status.Capacity, node.Status.Allocatable = t.Capacity, t.Allocatable()
	} else {
		node.Status.Capacity = st.Resources(st.Cores(4), st.GiB(16), st.Count(corev1.ResourcePods, 110))
		node.Status.Allocatable = node.Status.Capacity
	}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.Now)}}
	w.Nodes[node.Name] = node
	w.tell(node)
	w.Change(c, func(c *manifest.NodeClaim) {
		maps.Copy(c.Labels, node.Labels)
		c.Status.NodeName = node.Name
		condition(c, "Registered", "Registered", w.Now)
		condition(c, "Initialized", "Initialized", w.Now)
	})
	return node
}

// Bind binds pods to a node.
func (w *World) Bind(node *corev1.Node, pods ...*corev1.Pod) {
	for _, pod := range pods {
		bound := pod.DeepCopy()
		bound.Spec.NodeName, bound.Status.Phase = node.Name, corev1.PodRunning
		w.Pods[pod.Name] = bound
		w.tell(bound)
	}
}

// Mark taints a node and marks its NodeClaim, as Karpenter does first.
func (w *World) Mark(c *manifest.NodeClaim, reason string) {
	if node := w.Nodes["node-"+c.Name]; node != nil {
		tainted := node.DeepCopy()
		tainted.Spec.Taints = append(tainted.Spec.Taints, corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		w.Nodes[node.Name] = tainted
		w.tell(tainted)
	}
	w.Change(c, func(c *manifest.NodeClaim) { condition(c, "DisruptionReason", reason, w.Now) })
}

// End deletes a NodeClaim and its node, and binds its pods to another node; nil leaves them pending.
func (w *World) End(c *manifest.NodeClaim, to *corev1.Node) {
	w.Change(c, func(c *manifest.NodeClaim) { at := metav1.NewTime(w.Now); c.DeletionTimestamp = &at })
	for _, name := range slices.Sorted(maps.Keys(w.Pods)) {
		pod := w.Pods[name]
		if pod.Spec.NodeName != "node-"+c.Name {
			continue
		}
		delete(w.Pods, name)
		w.Remove(pod)
		again := pod.DeepCopy()
		w.wait(again)
		if to != nil {
			w.Bind(to, again)
		}
	}
	if node := w.Nodes["node-"+c.Name]; node != nil {
		delete(w.Nodes, node.Name)
		w.Remove(node)
	}
	w.Remove(w.Claims[c.Name])
	delete(w.Claims, c.Name)
}
