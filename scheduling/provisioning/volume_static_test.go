package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// builtIn is a problem with three nodes, the first two with disks of the class "local":
// one in n1 and two in n2.
func builtIn() scheduling.Problem {
	p := threeZones()
	p.StorageClasses = []*storagev1.StorageClass{st.StorageClass("local", st.Driver("kubernetes.io/no-provisioner"))}
	for i, disks := range []int{1, 2, 0} {
		name := fmt.Sprintf("n%d", i+1)
		p.Nodes = append(p.Nodes, st.Node(name, st.Allocatable(st.Cores(8), st.GiB(32)), st.Label(zoneKey, "a")))
		for d := range disks {
			p.Volumes = append(p.Volumes, freeDisk(fmt.Sprintf("disk-%s-%d", name, d), st.Where(st.In(hostKey, name))))
		}
	}
	return p
}

func freeDisk(name string, opts ...st.VolumeOption) *corev1.PersistentVolume {
	v := st.Volume(name, append([]st.VolumeOption{st.Driver("kubernetes.io/local-volume"), st.OfClass("local")}, opts...)...)
	v.Status.Phase = corev1.VolumeAvailable
	return v
}

func addLocal(p *scheduling.Problem, name string) *corev1.PersistentVolumeClaim {
	claim := st.Claim(name, st.OfClass("local"))
	p.Claims = append(p.Claims, claim)
	p.Pods = append(p.Pods, small(name, st.UseClaim(name)))
	return claim
}

// Claims of a class without a provisioner are bound to existing free volumes, each to one.
func TestDisksBuiltIntoNodes(t *testing.T) {
	p := builtIn()
	for i := range 4 {
		addLocal(&p, fmt.Sprintf("db-%d", i))
	}
	plan := planned(t, p)
	assert.Empty(t, plan.Launches)
	require.Len(t, plan.Unschedulable, 1)
	assert.Contains(t, plan.Unschedulable[0].Message, "volumes of storage class local")
	counts := map[string]int{}
	for _, a := range plan.Existing {
		counts[a.Node] = len(a.Pods)
	}
	assert.Equal(t, map[string]int{"n1": 1, "n2": 2}, counts)
}

func TestWhichFreeDisksSuit(t *testing.T) {
	block := corev1.PersistentVolumeBlock
	for _, tt := range []struct {
		name   string
		change func(*scheduling.Problem, *corev1.PersistentVolumeClaim)
		want   string // "": refused
	}{
		{"one that is bound is not free", func(p *scheduling.Problem, _ *corev1.PersistentVolumeClaim) {
			p.Volumes[0].Status.Phase = corev1.VolumeBound
			p.Volumes = p.Volumes[:2]
		}, "n2"},
		{"one set aside for another claim is not free", func(p *scheduling.Problem, _ *corev1.PersistentVolumeClaim) {
			p.Volumes[0].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "other"}
			p.Volumes = p.Volumes[:2]
		}, "n2"},
		{"one set aside for this claim", func(p *scheduling.Problem, _ *corev1.PersistentVolumeClaim) {
			p.Volumes[2].Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "db"}
			p.Volumes[1].Spec.NodeAffinity = p.Volumes[0].Spec.NodeAffinity
		}, "n2"},
		{"one that is being deleted is not free", func(p *scheduling.Problem, _ *corev1.PersistentVolumeClaim) {
			p.Volumes[0].DeletionTimestamp = &metav1.Time{}
			p.Volumes = p.Volumes[:2]
		}, "n2"},
		{"large enough", func(p *scheduling.Problem, c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
			p.Volumes[2].Spec.Capacity[corev1.ResourceStorage] = resource.MustParse("5Gi")
		}, "n2"},
		{"of the mode", func(p *scheduling.Problem, c *corev1.PersistentVolumeClaim) {
			c.Spec.VolumeMode = &block
			p.Volumes[1].Spec.VolumeMode = &block
		}, "n2"},
		{"with the access modes", func(p *scheduling.Problem, c *corev1.PersistentVolumeClaim) {
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
			p.Volumes[1].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
		}, "n2"},
		{"with the labels", func(p *scheduling.Problem, c *corev1.PersistentVolumeClaim) {
			c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "nvme"}}
			p.Volumes[1].Labels = map[string]string{"disk": "nvme"}
		}, "n2"},
		{"of the class, in the old way, too", func(p *scheduling.Problem, _ *corev1.PersistentVolumeClaim) {
			p.Volumes[1].Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "local"}
			p.Volumes[1].Spec.StorageClassName = "other"
			p.Volumes[0].Spec.StorageClassName, p.Volumes[2].Spec.StorageClassName = "other", "other"
		}, "n2"},
		{"none at all", func(_ *scheduling.Problem, c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := builtIn()
			tt.change(&p, addLocal(&p, "db"))
			plan := planned(t, p)
			assert.Empty(t, plan.Launches)
			assert.Equal(t, tt.want, placementOf(plan, "db").Node)
			if tt.want == "" {
				assert.Equal(t, "no volume of storage class local is free for persistent volume claim default/db", refused(plan)["db"].Detail)
			}
		})
	}
}

// Free volumes that a zone can reach may make a new machine worth buying.
func TestFreeVolumesOfAZone(t *testing.T) {
	p := builtIn()
	p.Volumes = []*corev1.PersistentVolume{freeDisk("san-1", st.Where(st.In(zoneKey, "c"))), freeDisk("san-2", st.Where(st.In(zoneKey, "b")))}
	addLocal(&p, "db")
	assert.Equal(t, []string{"b", "c"}, zonesOf(planned(t, p), "db"))
	p.Volumes[1].Spec.NodeAffinity = nil // can be reached from everywhere
	assert.NotEmpty(t, placementOf(planned(t, p), "db").Node)
}
