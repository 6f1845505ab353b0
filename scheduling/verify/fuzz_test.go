package verify_test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/untrusted"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// FuzzPlan judges plans of any content: the checker does not panic, finds the same violations twice, and accepts no
// plan without all pods.
func FuzzPlan(f *testing.F) {
	good, err := json.Marshal(handmade().plan)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for _, text := range []string{
		`{}`, `{"launches":[{}]}`, `{"launches":[{"nodePool":"default"},{"nodePool":"default","options":[{}]}]}`,
		`{"launches":[{"nodePool":"team","options":[{"instanceType":"small","zone":"a","capacityType":"spot"}],"requests":{"cpu":"1e9999"},"labels":{"":""}}]}`,
		`{"launches":[{"nodePool":"team","requirements":[{"key":"topology.kubernetes.io/region","operator":"Gt","values":["9223372036854775807"]}],"options":[{"instanceType":"small","zone":"a","capacityType":"spot"}]}]}`,
		`{"existing":[{"node":"n3","pods":["x","/","shop/web-1"]}],"unschedulable":[{"reasons":[{}]}]}`,
		`{"summary":{"certificate":{"kind":"resource","values":{"cpu":"99999999999999999999","":"1"},"scale":1024},"lowerBoundPerHour":1}}`,
	} {
		f.Add([]byte(text))
	}
	judgeAnything(f, handmade().p)
}

// FuzzPlanWithTerms does as FuzzPlan for pods with topology terms and volumes.
func FuzzPlanWithTerms(f *testing.F) {
	good := withEveryTerm().plan().plan
	for _, change := range []func(){
		func() {},
		func() { good.Launches[0].Pods, good.Launches[1].Pods = good.Launches[1].Pods, good.Launches[0].Pods },
		func() { good.Launches[0].Options = append(good.Launches[0].Options, good.Launches[3].Options...) },
		func() { good.Existing[0].Node = "n-gone" },
		func() {
			good.Unschedulable = append(good.Unschedulable, scheduling.Unschedulable{Pod: good.Existing[0].Pods[0]})
			good.Existing[0].Pods = good.Existing[0].Pods[1:]
		},
	} {
		change()
		text, err := json.Marshal(good)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	judgeAnything(f, withEveryTerm().p)
}

func judgeAnything(f *testing.F, p scheduling.Problem) {
	f.Helper()
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, absurd := untrusted.Quantity(text); absurd {
			return // Kubernetes' own types would not come back from reading it
		}
		var plan scheduling.Plan
		if json.Unmarshal(text, &plan) != nil {
			return
		}
		err := verify.Plan(p, &plan)
		require.Equal(t, err, verify.Plan(p, &plan))
		if err == nil {
			require.Equal(t, len(p.Pods), plan.Summary.Pods)
			return
		}
		var report *verify.Report
		require.ErrorAs(t, err, &report)
		require.NotEmpty(t, err.Error())
	})
}

// TestBrokenProblems: the checker does not panic for invalid problems.
func TestBrokenProblems(t *testing.T) {
	for name, p := range map[string]scheduling.Problem{
		"nothing":     {},
		"nil objects": {Pods: handmade().p.Pods, NodePools: []*scheduling.NodePool{nil}, DaemonSets: handmade().p.DaemonSets[:0:0], PoolCatalogs: nil},
		"nil catalog": {Pods: handmade().p.Pods, NodePools: handmade().p.NodePools, Nodes: handmade().p.Nodes},
		"unknown operators": {Pods: handmade().p.Pods, Catalog: handmade().p.Catalog, NodePools: []*scheduling.NodePool{
			st.NodePool("default", st.Where(st.In("", "x"), st.In(typeOf))), st.NodePool("team"), st.NodePool("gpu"), st.NodePool("reserved")}},
		"storage that makes no sense": {Pods: apps(2, "web", using("x"), using(""), func(p *corev1.Pod) {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		}), Claims: []*corev1.PersistentVolumeClaim{nil, st.Claim("x", st.BoundTo("v")), {}}, Volumes: []*corev1.PersistentVolume{nil, {}, st.Volume("v", st.Where())},
			StorageClasses: []*storagev1.StorageClass{nil, {}}, CSINodes: []*storagev1.CSINode{nil, {}}},
		"rules that make no sense": {Pods: apps(2, "web", spread("", -1, nil), near("", nil), apart("", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{}}})),
			Nodes: zones("a b"), Namespaces: []*corev1.Namespace{nil, {}}, Services: []*corev1.Service{nil, {}},
			DefaultSpread: []corev1.TopologySpreadConstraint{{}}, Owners: scheduling.Owners{ReplicaSets: []*appsv1.ReplicaSet{nil, {}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Nodes = append(p.Nodes, nil)
			p.DaemonSets = append(p.DaemonSets, nil)
			p.Running = append(p.Running, nil)
			require.Error(t, verify.Plan(p, handmade().plan))
			plan := &scheduling.Plan{Existing: []scheduling.Assignment{{Node: "n-a", Pods: []string{"default/web-1"}}}, Unschedulable: []scheduling.Unschedulable{{Pod: "default/web-2"}}}
			require.Error(t, verify.Plan(p, plan))
		})
	}
}
