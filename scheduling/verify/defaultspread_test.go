package verify_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestDefaultSpread: two pods are in one of two zones, and the cluster has a default topology spread over zones.
func TestDefaultSpread(t *testing.T) {
	service := func(namespace string, selector map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace}, Spec: corev1.ServiceSpec{Selector: selector}}
	}
	owned := func(apiVersion, kind, name string) change {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}}
		}
	}
	meta := metav1.ObjectMeta{Name: "o"}
	sets := func(s *metav1.LabelSelector) scheduling.Owners {
		return scheduling.Owners{
			ReplicaSets:  []*appsv1.ReplicaSet{{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: s}}},
			StatefulSets: []*appsv1.StatefulSet{{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: s}}},
		}
	}
	web := map[string]string{"app": "web"}
	hard := corev1.TopologySpreadConstraint{TopologyKey: zoneOf, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}
	soft := hard
	soft.WhenUnsatisfiable = corev1.ScheduleAnyway
	atLeast := hard
	atLeast.MinDomains = new(int32(3))
	for _, tc := range []struct {
		name     string
		defaults []corev1.TopologySpreadConstraint
		pods     []*corev1.Pod
		services []*corev1.Service
		owners   scheduling.Owners
		spread   bool
	}{
		{"no defaults", nil, apps(2, "web"), []*corev1.Service{service("default", web)}, scheduling.Owners{}, false},
		{"nobody knows who belongs together (P132)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), nil, scheduling.Owners{}, false},
		{"a Service (P133)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("default", web)}, scheduling.Owners{}, true},
		{"a Service of no namespace in particular", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("", web)}, scheduling.Owners{}, true},
		{"a Service of another namespace (P133)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("other", web)}, scheduling.Owners{}, false},
		{"a Service for others", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("default", map[string]string{"app": "db"})}, scheduling.Owners{}, false},
		{"a Service without a selector (P133)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("default", nil)}, scheduling.Owners{}, false},
		{"a Service with an empty selector (P133)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web"), []*corev1.Service{service("default", map[string]string{})}, scheduling.Owners{}, false},
		{"what is wished for (P135)", []corev1.TopologySpreadConstraint{soft}, apps(2, "web"), []*corev1.Service{service("default", web)}, scheduling.Owners{}, false},
		{"too few domains (P135)", []corev1.TopologySpreadConstraint{soft, atLeast}, apps(2, "web"), []*corev1.Service{service("default", web)}, scheduling.Owners{}, true},
		{"pods with constraints of their own (P132)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", spread(zoneOf, 1, of("web"), anyway)), []*corev1.Service{service("default", web)}, scheduling.Owners{}, false},
		{"a ReplicaSet (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "ReplicaSet", "o")), nil, sets(of("web")), true},
		{"a StatefulSet (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "StatefulSet", "o")), nil, sets(of("web")), true},
		{"another ReplicaSet", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "ReplicaSet", "p")), nil, sets(of("web")), false},
		{"another kind of owner (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("batch/v1", "Job", "o")), nil, sets(of("web")), false},
		{"an owner that does not control (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "ReplicaSet", "o"), func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), nil, sets(of("web")), false},
		{"a ReplicaSet without a selector", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "ReplicaSet", "o")), nil, sets(nil), false},
		{"a ReplicaSet whose selector contradicts the Service (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("apps/v1", "ReplicaSet", "o")),
			[]*corev1.Service{service("default", web)}, sets(of("db")), false},
		{"a ReplicaSet that narrows the Service (P134)", []corev1.TopologySpreadConstraint{hard},
			[]*corev1.Pod{apps(1, "web", labelled("rev", "1"), owned("apps/v1", "ReplicaSet", "o"))[0], apps(2, "web", labelled("rev", "2"))[1]},
			[]*corev1.Service{service("default", map[string]string{"rev": "1"})}, sets(of("web")), false},
		{"a ReplicationController (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("v1", "ReplicationController", "o")), nil,
			scheduling.Owners{ReplicationControllers: []*corev1.ReplicationController{{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: web}}}}, true},
		{"a ReplicationController that overrides the Service (P134)", []corev1.TopologySpreadConstraint{hard}, apps(2, "web", owned("v1", "ReplicationController", "o")),
			[]*corev1.Service{service("default", web)},
			scheduling.Owners{ReplicationControllers: []*corev1.ReplicationController{{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "db"}}}}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &draft{p: scheduling.Problem{
				Pods: tc.pods, Nodes: zones("a b"), DefaultSpread: tc.defaults, Services: tc.services, Owners: tc.owners,
			}, nodes: map[string]string{"n-a": "web-1 web-2"}}
			var want []verify.Code
			if tc.spread {
				want = broken(verify.CodeTopologySpread)
			}
			assert.Equal(t, want, codes(d.plan().violations(t)))
		})
	}
	t.Run("the default counts pods that run (P135)", func(t *testing.T) {
		d := &draft{p: scheduling.Problem{
			Pods: apps(1, "web"), Running: []*corev1.Pod{app("r", "web", "n-a")}, Nodes: zones("a b"),
			DefaultSpread: []corev1.TopologySpreadConstraint{hard}, Services: []*corev1.Service{service("default", web)},
		}, nodes: map[string]string{"n-a": "web-1"}}
		assert.Equal(t, broken(verify.CodeTopologySpread), codes(d.plan().violations(t)))
		d.move("web-1", "n-b")
		assert.Empty(t, d.plan().violations(t))
	})
}
