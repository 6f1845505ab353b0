package informers

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// patience is how long anything may take; a busy machine is slow.
const patience = 2 * time.Minute

// cloud starts the machines that it is asked for, and joins them at once.
type cloud struct {
	mu     sync.Mutex
	orders []controller.Order
	join   func(controller.Order)
}

func (c *cloud) Launch(_ context.Context, o controller.Order) (string, error) {
	c.mu.Lock()
	c.orders = append(c.orders, o)
	c.mu.Unlock()
	c.join(o)
	return o.ID, nil
}

func (c *cloud) Terminate(context.Context, controller.Machine) error { return nil }

func (c *cloud) Machines(context.Context) ([]controller.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []controller.Machine
	for _, o := range c.orders {
		out = append(out, controller.Machine{Name: o.ID, Order: o})
	}
	return out, nil
}

// From an API server with a NodePool and pending pods, Watch and Run order machines for them and no more: pods that are bound
// later are seen, and so is a pod that is deleted.
func TestWatchAndRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	catalog, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	pods := st.Pods(3, "web", st.Requests(st.MilliCPU(900)), st.OwnedBy("ReplicaSet", "web"))
	client := fake.NewClientset()
	for _, p := range pods {
		p.Namespace = "default"
		_, err := client.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "general"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
			"requirements": []any{map[string]any{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"on-demand"}}},
		}}},
	}}
	pools := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{NodePools(): "NodePoolList"}, pool)
	cloud := &cloud{}
	cloud.join = func(o controller.Order) {
		node, err := o.Launch.Node(o.ID, &o.Option, catalog)
		require.NoError(t, err)
		_, err = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	c, err := controller.New(controller.Options{BatchIdle: -1, DisruptEvery: -1, Log: slog.New(slog.DiscardHandler)}, cloud, Evictor{client}, scheduling.Problem{Catalog: catalog})
	require.NoError(t, err)
	require.NoError(t, Watch(ctx, client, pools, c, func(err error) { t.Error(err) }))
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	pending := func(n int) func() bool { return func() bool { return c.Stats().PendingPods == n } }
	launched := func() bool { return c.Stats().Launched > 0 }
	require.Eventually(t, launched, patience, 10*time.Millisecond)
	for _, p := range pods[:2] {
		p = p.DeepCopy()
		p.Spec.NodeName = cloud.orders[0].ID
		_, err := client.CoreV1().Pods("default").Update(ctx, p, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	require.Eventually(t, pending(1), patience, 10*time.Millisecond)
	require.NoError(t, client.CoreV1().Pods("default").Delete(ctx, pods[2].Name, metav1.DeleteOptions{}))
	require.Eventually(t, pending(0), patience, 10*time.Millisecond)
	var ordered []string
	for _, o := range cloud.orders {
		ordered = append(ordered, o.Launch.Pods...)
	}
	require.ElementsMatch(t, []string{"default/web-1", "default/web-2", "default/web-3"}, ordered, "each pod has one machine")
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// The eviction API's answers are those that the controller expects, and taints of others stay.
func TestEvictor(t *testing.T) {
	ctx := t.Context()
	other := corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{other}}})
	e := Evictor{client}
	taints := func() []corev1.Taint {
		n, err := client.CoreV1().Nodes().Get(ctx, "n", metav1.GetOptions{})
		require.NoError(t, err)
		return n.Spec.Taints
	}
	require.NoError(t, e.SetTaint(ctx, "n", controller.Taint(), true))
	require.NoError(t, e.SetTaint(ctx, "n", controller.Taint(), true))
	require.Equal(t, []corev1.Taint{other, controller.Taint()}, taints())
	require.NoError(t, e.SetTaint(ctx, "n", controller.Taint(), false))
	require.Equal(t, []corev1.Taint{other}, taints())
	require.NoError(t, e.SetTaint(ctx, "gone", controller.Taint(), true))

	var answer error
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		eviction := a.(clienttesting.CreateAction).GetObject().(*policyv1.Eviction)
		require.Equal(t, "uid", string(*eviction.DeleteOptions.Preconditions.UID))
		return true, nil, answer
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid"}}
	require.NoError(t, e.Evict(ctx, pod))
	pods := schema.GroupResource{Resource: "pods"}
	forbidden := apierrors.NewForbidden(pods, "p", nil)
	for _, x := range []struct{ answer, want error }{
		{apierrors.NewTooManyRequests("budget", 1), controller.ErrEvictionBlocked},
		{apierrors.NewNotFound(pods, "p"), nil},
		{apierrors.NewConflict(pods, "p", nil), nil},
		{forbidden, forbidden},
	} {
		answer = x.answer
		require.ErrorIs(t, e.Evict(ctx, pod), x.want)
	}
}

// A nomination stands in the status or in the annotations, and is taken back there; other fields stay.
func TestNominate(t *testing.T) {
	ctx := t.Context()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "uid", Annotations: map[string]string{"a": "b"}}}
	client := fake.NewClientset(pod)
	read := func() *corev1.Pod {
		p, err := client.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		require.NoError(t, err)
		return p
	}
	n := Nominator{client}
	require.NoError(t, n.Nominate(ctx, pod, "node-1"))
	require.Equal(t, "node-1", read().Status.NominatedNodeName)
	require.NoError(t, n.Nominate(ctx, pod, ""))
	require.Empty(t, read().Status.NominatedNodeName)

	now := time.Date(2026, time.November, 16, 1, 2, 3, 0, time.FixedZone("", 3600))
	a := Annotator{Client: client, Clock: func() time.Time { return now }}
	require.NoError(t, a.Nominate(ctx, pod, "node-1"))
	require.Equal(t, map[string]string{"a": "b", controller.PlannedNodeAnnotation: "node-1", controller.PlannedAtAnnotation: "2026-11-16T00:02:03Z"}, read().Annotations)
	require.NoError(t, a.Nominate(ctx, pod, ""))
	require.Equal(t, map[string]string{"a": "b"}, read().Annotations)
	pod.Name = "gone"
	require.NoError(t, n.Nominate(ctx, pod, "node-1"))
	require.NoError(t, Annotator{Client: client}.Nominate(ctx, pod, "node-1"))

	var patched []byte
	var answer error
	client.PrependReactor("patch", "pods", func(x clienttesting.Action) (bool, runtime.Object, error) {
		patched = x.(clienttesting.PatchAction).GetPatch()
		return true, pod, answer
	})
	pods := schema.GroupResource{Resource: "pods"}
	require.NoError(t, n.Nominate(ctx, pod, "node-1"))
	require.JSONEq(t, `{"metadata": {"uid": "uid"}, "status": {"nominatedNodeName": "node-1"}}`, string(patched), "no other pod of this name")
	answer = apierrors.NewConflict(pods, "p", nil)
	require.NoError(t, n.Nominate(ctx, pod, "node-1"))
	status := field.NewPath("status", "nominatedNodeName")
	answer = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Forbidden(status, "may not be set on pods that are already bound to a node")})
	require.NoError(t, n.Nominate(ctx, pod, "node-1"))
	answer = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(status, "node_1", "no name of a node")})
	require.ErrorIs(t, n.Nominate(ctx, pod, "node_1"), answer)
	answer = apierrors.NewForbidden(pods, "p", nil)
	require.ErrorIs(t, n.Nominate(ctx, pod, "node-1"), answer)
}
