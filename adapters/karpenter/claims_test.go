package karpenter_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	kscheduler "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
)

// written are the NodeClaims of scheduling results without errors.
func (w *world) written(r kscheduler.Results, err error) (out []*karpv1.NodeClaim) {
	w.t.Helper()
	require.NoError(w.t, err)
	require.Empty(w.t, r.PodErrors)
	for _, c := range r.NewNodeClaims {
		out = append(out, c.ToNodeClaim())
	}
	return out
}

// both are the NodeClaims that Karpenter's own provisioner and the one under test write for the same pods.
func both(w *world) (karpenters, ours []*karpv1.NodeClaim) {
	w.t.Helper()
	w.observe()
	require.True(w.t, w.cluster.Synced(w.ctx))
	return w.written(w.own.Schedule(w.ctx)), w.written(w.provisioner.Schedule(w.ctx))
}

// daemon is a DaemonSet of pods with a request for CPU.
func daemon(cpu string) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "kube-system"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}}, Spec: corev1.PodSpec{
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:  []corev1.Container{{Name: "agent", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}},
			}},
		},
	}
}

// sorted brings requirements and their values into one order, because Karpenter lists requirements in the order of a map,
// and types of one price in any order; and quantities into one form.
func sorted(claims ...*karpv1.NodeClaim) {
	for _, n := range claims {
		slices.SortFunc(n.Spec.Requirements, func(a, b karpv1.NodeSelectorRequirementWithMinValues) int { return cmp.Compare(a.Key, b.Key) })
		for i := range n.Spec.Requirements {
			slices.Sort(n.Spec.Requirements[i].Values)
		}
		for name, q := range n.Spec.Resources.Requests {
			n.Spec.Resources.Requests[name] = resource.MustParse(q.String())
		}
	}
}

func TestNodeClaimIsKarpenters(t *testing.T) {
	tolerates := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
	}
	full := func(p *karpv1.NodePool) {
		template := &p.Spec.Template
		template.Labels = map[string]string{"team": "shop"}
		template.Annotations = map[string]string{"example.com/note": "a"}
		template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "shop", Effect: corev1.TaintEffectNoSchedule}}
		template.Spec.StartupTaints = []corev1.Taint{{Key: "example.com/network", Effect: corev1.TaintEffectNoExecute}}
		template.Spec.ExpireAfter = karpv1.MustParseNillableDuration("480h")
		template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: 30 * time.Minute}
		p.Spec.Weight = new(int32(10))
	}
	inZone := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "test-zone-b"} }
	colour := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"example.com/colour": "red"} }
	for name, c := range map[string]struct {
		pool []func(*karpv1.NodePool)
		pods []client.Object
		rest []client.Object
	}{
		"one type":            {pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux")}, pods: pods("web", 3, "1", "1Gi")},
		"fields of NodePools": {pool: []func(*karpv1.NodePool){full, requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux")}, pods: pods("web", 3, "1", "1Gi", tolerates)},
		"daemons":             {pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux")}, pods: pods("web", 2, "1", "1Gi"), rest: []client.Object{daemon("200m")}},
		"zone of a pod":       {pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux")}, pods: pods("web", 1, "1", "1Gi", inZone)},
		"zone of a NodePool": {
			pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux"), requires(corev1.LabelTopologyZone, nil, "test-zone-a", "test-zone-b")},
			pods: pods("web", 1, "1", "1Gi"),
		},
		"several capacity types": {
			pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux"), requires(karpv1.CapacityTypeLabelKey, nil, "spot", "on-demand")},
			pods: pods("web", 1, "1", "1Gi"),
		},
		"minValues": {
			pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, new(2), "s-4x-amd64-linux", "m-4x-amd64-linux", "c-4x-amd64-linux")},
			pods: pods("web", 1, "3", "1Gi"),
		},
		"label of a pod": {
			pool: []func(*karpv1.NodePool){requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux"), requires("example.com/colour", nil, "red", "green")},
			pods: pods("web", 1, "1", "1Gi", colour),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pool("default", c.pool...))
			w.add(c.rest...)
			w.add(c.pods...)
			karpenters, ours := both(w)
			require.Len(t, karpenters, 1)
			require.Len(t, ours, 1)
			sorted(karpenters[0], ours[0])
			require.Equal(t, karpenters[0], ours[0])
		})
	}
}

// A NodeClaim allows no offering that Karpenter's would not, and its pods fit all of its types.
func TestNodeClaimAllowsNoMoreThanKarpenters(t *testing.T) {
	w := newWorld(t, pool("default"))
	w.add(pods("web", 1, "3", "5Gi")...)
	karpenters, ours := both(w)
	wide, narrow := kscheduling.NewNodeSelectorRequirementsWithMinValues(karpenters[0].Spec.Requirements...), kscheduling.NewNodeSelectorRequirementsWithMinValues(ours[0].Spec.Requirements...)
	for _, key := range []string{corev1.LabelInstanceTypeStable, karpv1.CapacityTypeLabelKey} {
		require.Subset(t, wide.Get(key).Values(), narrow.Get(key).Values(), key)
	}
	require.NotEmpty(t, narrow.Get(corev1.LabelInstanceTypeStable).Values())
}

// reserving is a world whose provider has a reservation of two nodes, under a label of its own.
func reserving(t *testing.T) *world {
	t.Helper()
	const label = "example.com/reservation-id"
	before := cloudprovider.ReservationIDLabel
	cloudprovider.ReservationIDLabel = label
	karpv1.WellKnownLabels.Insert(label)
	t.Cleanup(func() { cloudprovider.ReservationIDLabel = before; karpv1.WellKnownLabels.Delete(label) })
	reserved := offering("test-zone-a", karpv1.CapacityTypeReserved, 0.0001)
	reserved.Requirements.Add(kscheduling.NewRequirement(label, corev1.NodeSelectorOpIn, "cr-1"))
	reserved.ReservationCapacity = 2
	paid := offering("test-zone-a", karpv1.CapacityTypeOnDemand, 1)
	paid.Requirements.Add(kscheduling.NewRequirement(label, corev1.NodeSelectorOpDoesNotExist))
	w := newWorld(t, pool("default", requires(karpv1.CapacityTypeLabelKey, nil, "reserved", "on-demand")))
	sold := instanceType("s-4x", reserved, paid)
	for _, r := range []*kscheduling.Requirement{
		kscheduling.NewRequirement(corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64"),
		kscheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "test-zone-a"),
		kscheduling.NewRequirement(karpv1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, "reserved", "on-demand"),
		kscheduling.NewRequirement(label, corev1.NodeSelectorOpIn, "cr-1"),
	} {
		sold.Requirements[r.Key] = r
	}
	w.cloud = kwok.NewCloudProvider(w.ctx, w.kube, []*cloudprovider.InstanceType{sold})
	w.cluster = state.NewCluster(w.clock, w.kube, w.cloud)
	w.exchange(karpenter.Settings{ValidateAfter: -1})
	return w
}

func TestReservationsAreUsedUp(t *testing.T) {
	w := reserving(t)
	w.add(pods("web", 1, "3", "1Gi")...)
	karpenters, ours := both(w)
	require.Len(t, ours, 1)
	sorted(karpenters[0], ours[0])
	require.Equal(t, karpenters[0], ours[0])

	w.add(pods("more", 2, "3", "1Gi")...)
	ours = w.written(w.provisioner.Schedule(w.ctx))
	require.Len(t, ours, 3)
	reserved := 0
	for _, c := range ours {
		if kscheduling.NewNodeSelectorRequirementsWithMinValues(c.Spec.Requirements...).Get(karpv1.CapacityTypeLabelKey).Has(karpv1.CapacityTypeReserved) {
			reserved++
		}
	}
	require.Equal(t, 2, reserved)
}

// NodeOverlays change prices and capacities through the provider that Karpenter decorates.
func TestNodeOverlaysCount(t *testing.T) {
	w := newWorld(t, pool("default", requires(corev1.LabelInstanceTypeStable, nil, "s-4x-amd64-linux", "m-4x-amd64-linux")), &v1alpha1.NodeOverlay{
		ObjectMeta: metav1.ObjectMeta{Name: "discount"},
		Spec: v1alpha1.NodeOverlaySpec{Price: new("0.001"), Requirements: []v1alpha1.NodeSelectorRequirement{
			{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m-4x-amd64-linux"}},
		}},
	})
	flags := *options.FromContext(w.ctx)
	flags.FeatureGates.NodeOverlay = true
	w.ctx = options.ToContext(w.ctx, &flags)
	store := nodeoverlay.NewInstanceTypeStore()
	_, err := nodeoverlay.NewController(w.clock, w.kube, w.cloud, store, w.cluster).Reconcile(w.ctx, reconcile.Request{})
	require.NoError(t, err)
	w.cloud = overlay.Decorate(w.cloud, w.kube, store)
	w.exchange(karpenter.Settings{ValidateAfter: -1})
	w.add(pods("web", 1, "3", "1Gi")...)
	_, ours := both(w)
	require.Len(t, ours, 1)
	require.Equal(t, "true", ours[0].Annotations[v1alpha1.PriceOverlayAppliedAnnotationKey])
	require.Equal(t, "0.001", w.plans[0].Launches[0].Price.String())
}
