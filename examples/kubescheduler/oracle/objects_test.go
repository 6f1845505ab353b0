package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Pods that depend on one another need nothing but the pods themselves.
func TestDependentPods(t *testing.T) {
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	term := []corev1.PodAffinityTerm{{TopologyKey: offerings.ZoneLabel, LabelSelector: web}}
	spread := st.Pod("p", st.Label("app", "web"))
	spread.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: offerings.ZoneLabel, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: web,
	}}
	near, apart := st.Pod("p"), st.Pod("p")
	near.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
	apart.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}

	tests := []struct {
		pod    *corev1.Pod
		a, b   bool // whether zones a, with a web pod, and b take it
		plugin string
	}{
		{pod: spread, a: false, b: true, plugin: "PodTopologySpread"},
		{pod: near, a: true, b: false, plugin: "InterPodAffinity"},
		{pod: apart, a: false, b: true, plugin: "InterPodAffinity"},
	}
	s := newScheduler(t)
	require.NoError(t, s.AddNode(zoneNode("a")))
	require.NoError(t, s.AddNode(zoneNode("b")))
	require.NoError(t, s.Bind(st.Pod("old", st.Label("app", "web")), "a"))
	for _, tt := range tests {
		for node, takes := range map[string]bool{"a": tt.a, "b": tt.b} {
			refusal := mustAdmit(t, s, tt.pod, node)
			if takes {
				require.Nil(t, refusal, "%s on %s", tt.plugin, node)
				continue
			}
			require.NotNil(t, refusal, "%s on %s", tt.plugin, node)
			require.Equal(t, tt.plugin, refusal.Plugin)
		}
	}
}

// zoneNode is a node with room in the zone of its name.
func zoneNode(zone string) *corev1.Node {
	return st.Node(zone, st.Allocatable(st.Cores(4), st.GiB(8)), st.Label(offerings.ZoneLabel, zone))
}

// Claims and volumes come from the fake API server: a bound volume keeps its pod in the zone of the volume, and a
// volume that is bound with its pod is made where its class allows.
func TestVolumes(t *testing.T) {
	inZoneA := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
		Key: offerings.ZoneLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"a"},
	}}}}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	objects := []runtime.Object{
		&corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "disk"},
			Spec: corev1.PersistentVolumeSpec{
				ClaimRef:     &corev1.ObjectReference{Namespace: "default", Name: "bound"},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: inZoneA}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		},
		&corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "spare"},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName: "none", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity: st.Resources(st.ResourceAmount{Name: corev1.ResourceStorage, Quantity: quantity("1Gi")}),
			},
		},
		&storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "regional"}, Provisioner: "csi.example.com", VolumeBindingMode: &wait,
			AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{
				Key: offerings.ZoneLabel, Values: []string{"b"},
			}}}},
		},
		claim("bound", "", "disk"),
		claim("waiting", "regional", ""),
		claim("lost", "unknown-class", ""),
	}
	s, err := oracle.NewScheduler(t.Context(), objects...)
	require.NoError(t, err)
	require.NoError(t, s.AddNode(zoneNode("a")))
	require.NoError(t, s.AddNode(zoneNode("b")))

	require.Nil(t, mustAdmit(t, s, using("bound"), "a"))
	require.Equal(t, "VolumeBinding", mustAdmit(t, s, using("bound"), "b").Plugin)
	require.Nil(t, mustAdmit(t, s, using("waiting"), "b"))
	require.Equal(t, "VolumeBinding", mustAdmit(t, s, using("waiting"), "a").Plugin)
	require.Equal(t, "VolumeBinding", mustAdmit(t, s, using("lost"), "a").Plugin, "there is no such class")
	require.NotNil(t, mustAdmit(t, s, using("nowhere"), "a"))
}

// claim is a claim on a volume, or on one of a class.
func claim(name, class, volume string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: volume, StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: st.Resources(st.ResourceAmount{Name: corev1.ResourceStorage, Quantity: quantity("1Gi")}),
			},
		},
	}
	if volume != "" {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		c.Status.Phase = corev1.ClaimBound
	}
	return c
}

// using is a pod with a claim.
func using(name string) *corev1.Pod {
	pod := st.Pod("p", st.Requests(st.Cores(1)))
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}}
	return pod
}
