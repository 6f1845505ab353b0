package karpenter_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/go-logr/logr/testr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	kdisruption "sigs.k8s.io/karpenter/pkg/controllers/disruption"
	kprovisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/awslabs/operatorpkg/controller"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// world is an API server in memory with Karpenter's controllers on the KWOK provider. Time passes in steps.
type world struct {
	t     *testing.T
	ctx   context.Context //nolint:containedctx // of one test, with the flags of Karpenter
	clock *clocktesting.FakeClock
	kube  client.Client
	cloud cloudprovider.CloudProvider
	// cluster, own and queue are Karpenter's state, provisioner and queue of disruption commands.
	cluster *state.Cluster
	own     *kprovisioning.Provisioner
	queue   *kdisruption.Queue
	// provisioner and disrupter are the controllers under test.
	provisioner *karpenter.Provisioner
	disrupter   *kdisruption.Controller
	published   *recorder
	plans       []*scheduling.Plan
	steps       []*disruption.ConsolidationPlan
}

// recorder keeps events.
type recorder struct{ events []events.Event }

func (r *recorder) Publish(es ...events.Event) { r.events = append(r.events, es...) }

// newWorld starts a world with some objects.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	ctx := log.IntoContext(t.Context(), testr.NewWithOptions(t, testr.Options{Verbosity: 1}))
	ctx = kwokoptions.ToContext(ctx, &kwokoptions.Options{})
	ctx = options.ToContext(ctx, &options.Options{
		CPURequests: 1000, PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true,
		BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second, DisableClusterStateObservability: true,
		FeatureGates: options.FeatureGates{ReservedCapacity: true},
	})
	w := &world{t: t, ctx: ctx, clock: clocktesting.NewFakeClock(time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)), published: &recorder{}}
	objects = append(objects, &kwokv1alpha1.KWOKNodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	w.kube = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithStatusSubresource(&karpv1.NodeClaim{}, &karpv1.NodePool{}, &v1alpha1.NodeOverlay{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&karpv1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*karpv1.NodeClaim).Status.ProviderID} }).
		Build()
	instanceTypes, err := kwok.ConstructInstanceTypes(ctx)
	require.NoError(t, err)
	w.cloud = kwok.NewCloudProvider(ctx, w.kube, instanceTypes)
	w.cluster = state.NewCluster(w.clock, w.kube, w.cloud)
	w.exchange(karpenter.Settings{ValidateAfter: -1})
	return w
}

// exchange has the controllers under test plan with settings. Each plan must pass package verify.
func (w *world) exchange(s karpenter.Settings) {
	s.Planned = func(p scheduling.Problem, plan *scheduling.Plan) error {
		w.plans = append(w.plans, plan)
		policy := s.Policy
		policy.Placement = scheduling.PlacementFree
		return verify.Checker{Policy: policy}.Plan(p, plan)
	}
	s.Consolidating = func(planner disruption.Planner, c disruption.Cluster, plan *disruption.ConsolidationPlan) error {
		w.steps = append(w.steps, plan)
		return verify.StepsChecker{Planner: planner}.Steps(c, plan)
	}
	list := s.NewControllers(w.ctx, nil, w.clock, w.kube, w.published, w.cloud, w.cloud, w.cluster, nil)
	w.provisioner, w.disrupter, w.queue = one[*karpenter.Provisioner](w.t, list), one[*kdisruption.Controller](w.t, list), one[*kdisruption.Queue](w.t, list)
	w.own = kprovisioning.NewProvisioner(w.kube, w.published, w.cloud, w.cluster, w.clock, nil, nil)
}

// one is the only controller of a type.
func one[T controller.Controller](t *testing.T, list []controller.Controller) T {
	t.Helper()
	var found []T
	for _, c := range list {
		if c, ok := c.(T); ok {
			found = append(found, c)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// add creates objects.
func (w *world) add(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		require.NoError(w.t, w.kube.Create(w.ctx, o))
	}
}

// patience is how long anything may take; a busy machine is slow.
const patience = 2 * time.Minute

// provision has the pending pods planned, as the provisioner does after a batch.
func (w *world) provision() {
	w.t.Helper()
	w.observe()
	require.True(w.t, w.cluster.Synced(w.ctx))
	done := make(chan error, 1)
	w.provisioner.Trigger(types.UID("any"))
	go func() {
		_, err := w.provisioner.Reconcile(w.ctx)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			require.NoError(w.t, err)
			return
		case <-time.After(time.Millisecond):
			if w.clock.Waiters() > 1 { // the two timers of a batch: while a plan is made, however slowly, no time passes
				w.clock.Step(time.Second)
			}
		}
	}
}

// disrupt has the disruption controller look at the cluster once.
func (w *world) disrupt() {
	w.t.Helper()
	w.observe()
	done := make(chan error, 1)
	go func() {
		_, err := w.disrupter.Reconcile(w.ctx)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			require.NoError(w.t, err)
			return
		case <-time.After(time.Millisecond):
			if w.clock.HasWaiters() { // Karpenter's own method for empty nodes waits before it validates
				w.clock.Step(15 * time.Second)
			}
		}
	}
}

// observe brings Karpenter's state up to date, as its informers do.
func (w *world) observe() {
	w.t.Helper()
	for _, c := range w.claims() {
		w.cluster.UpdateNodeClaim(c)
	}
	for _, n := range w.nodes() {
		require.NoError(w.t, w.cluster.UpdateNode(w.ctx, n))
	}
	for _, p := range w.pods() {
		if p.Spec.NodeName != "" {
			require.NoError(w.t, w.cluster.UpdatePod(w.ctx, p))
		}
	}
}

// launch has the provider launch the NodeClaims that it has not yet launched, and their nodes become ready unless late.
func (w *world) launch(late bool) {
	w.t.Helper()
	for _, claim := range w.claims() {
		if claim.Status.ProviderID == "" {
			launched, err := w.cloud.Create(w.ctx, claim)
			require.NoError(w.t, err)
			claim.Labels = launched.Labels
			require.NoError(w.t, w.kube.Update(w.ctx, claim))
			claim.Status.ProviderID, claim.Status.Capacity, claim.Status.Allocatable = launched.Status.ProviderID, launched.Status.Capacity, launched.Status.Allocatable
			claim.StatusConditions(status.WithClock(w.clock)).SetTrue(karpv1.ConditionTypeLaunched)
			require.NoError(w.t, w.kube.Status().Update(w.ctx, claim))
		}
		if !late && !claim.StatusConditions().Get(karpv1.ConditionTypeInitialized).IsTrue() {
			w.join(claim)
		}
	}
	w.observe()
}

// join makes the node of a NodeClaim ready.
func (w *world) join(claim *karpv1.NodeClaim) {
	w.t.Helper()
	var node *corev1.Node
	require.Eventually(w.t, func() bool { // the provider creates it in a goroutine
		i := slices.IndexFunc(w.nodes(), func(n *corev1.Node) bool { return n.Spec.ProviderID == claim.Status.ProviderID })
		if i >= 0 {
			node = w.nodes()[i]
		}
		return node != nil
	}, patience, time.Millisecond)
	node.Labels[karpv1.NodeRegisteredLabelKey], node.Labels[karpv1.NodeInitializedLabelKey] = "true", "true"
	node.CreationTimestamp = metav1.NewTime(w.clock.Now())
	node.Spec.Taints = slices.Clone(claim.Spec.Taints)
	require.NoError(w.t, w.kube.Update(w.ctx, node))
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	require.NoError(w.t, w.kube.Status().Update(w.ctx, node))
	claim.Status.NodeName = node.Name
	for _, is := range []string{karpv1.ConditionTypeRegistered, karpv1.ConditionTypeInitialized, karpv1.ConditionTypeConsolidatable} {
		claim.StatusConditions(status.WithClock(w.clock)).SetTrue(is)
	}
	require.NoError(w.t, w.kube.Status().Update(w.ctx, claim))
}

// bind binds the pending pods where they were nominated.
func (w *world) bind() {
	w.t.Helper()
	for _, pod := range w.pods() {
		if pod.Spec.NodeName != "" {
			continue
		}
		name := w.cluster.PodNodeClaimMapping(client.ObjectKeyFromObject(pod))
		claim := &karpv1.NodeClaim{}
		require.NoError(w.t, w.kube.Get(w.ctx, types.NamespacedName{Name: name}, claim), "pod %s is nominated to %q", pod.Name, name)
		w.place(pod, claim.Status.NodeName)
	}
	w.observe()
}

// place binds a pod to a node.
func (w *world) place(pod *corev1.Pod, node string) {
	w.t.Helper()
	pod.Spec.NodeName = node
	require.NoError(w.t, w.kube.Update(w.ctx, pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	require.NoError(w.t, w.kube.Status().Update(w.ctx, pod))
}

func (w *world) claims() []*karpv1.NodeClaim {
	list := &karpv1.NodeClaimList{}
	require.NoError(w.t, w.kube.List(w.ctx, list))
	return pointers(list.Items)
}

func (w *world) nodes() []*corev1.Node {
	list := &corev1.NodeList{}
	require.NoError(w.t, w.kube.List(w.ctx, list))
	return pointers(list.Items)
}

func (w *world) pods() []*corev1.Pod {
	list := &corev1.PodList{}
	require.NoError(w.t, w.kube.List(w.ctx, list))
	return pointers(list.Items)
}

func pointers[T any](items []T) []*T {
	out := make([]*T, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

// pool is a NodePool of Linux nodes that is ready, and may be consolidated at once.
func pool(name string, change ...func(*karpv1.NodePool)) *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("pool-" + name)}}
	p.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
	p.Spec.Template.Spec.Requirements = []karpv1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}},
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: karpv1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{karpv1.CapacityTypeOnDemand}},
	}
	p.Spec.Template.Spec.ExpireAfter = karpv1.MustParseNillableDuration("Never")
	p.Spec.Disruption = karpv1.Disruption{
		ConsolidationPolicy: karpv1.ConsolidationPolicyWhenEmptyOrUnderutilized, ConsolidateAfter: karpv1.MustParseNillableDuration("0s"),
		Budgets: []karpv1.Budget{{Nodes: "100%"}},
	}
	for _, c := range change {
		c(p)
	}
	p.StatusConditions().SetTrue(karpv1.ConditionTypeValidationSucceeded)
	p.StatusConditions().SetTrue(karpv1.ConditionTypeNodeClassReady)
	p.StatusConditions().SetTrue(karpv1.ConditionTypeNodeRegistrationHealthy)
	return p
}

// requires adds a requirement to a NodePool.
func requires(key string, minValues *int, values ...string) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) {
		reqs := &p.Spec.Template.Spec.Requirements
		*reqs = slices.DeleteFunc(*reqs, func(r karpv1.NodeSelectorRequirementWithMinValues) bool { return r.Key == key })
		*reqs = append(*reqs, karpv1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values, MinValues: minValues})
	}
}

// pods are n pods of a ReplicaSet that kube-scheduler found no node for.
func pods(name string, n int, cpu, memory string, change ...func(*corev1.Pod)) []client.Object {
	out := make([]client.Object, n)
	for i := range out {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("%s-%d", name, i), Namespace: "default", UID: types.UID(fmt.Sprintf("%s-%d", name, i)), Labels: map[string]string{"app": name},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID(name), Controller: new(true)}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}},
		}
		for _, c := range change {
			c(pod)
		}
		out[i] = pod
	}
	return out
}

// keyOf is the key of an object by its name or, with two, by namespace and name.
func keyOf(names ...string) types.NamespacedName {
	if len(names) == 1 {
		return types.NamespacedName{Name: names[0]}
	}
	return types.NamespacedName{Namespace: names[0], Name: names[1]}
}
