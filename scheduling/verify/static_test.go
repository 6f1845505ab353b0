package verify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestStandingVolumes covers P140 and P142: a claim of a class without a provisioner gets one of the existing volumes.
func TestStandingVolumes(t *testing.T) {
	disk := func(name string, zones ...string) *corev1.PersistentVolume {
		opts := []st.VolumeOption{st.OfClass("shelf")}
		if len(zones) > 0 {
			opts = append(opts, st.Where(st.In(zoneOf, zones...)))
		}
		v := st.Volume(name, opts...)
		v.Status.Phase = corev1.VolumeAvailable
		return v
	}
	with := func(v *corev1.PersistentVolume, change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		change(v)
		return v
	}
	claim := func(name string) any { return st.Claim(name, st.OfClass("shelf")) }
	gone, held, away := broken(verify.CodeVolumeGone), broken(verify.CodePodHeld), broken(verify.CodeVolume, verify.CodeVolumeGone)
	for _, tc := range []struct {
		name          string
		node, machine string // claims of a pod on the node in zone a and of one on a machine in zone b
		objects       []any
		breaks        []verify.Code
	}{
		{"one volume each", "x", "y", []any{claim("x"), claim("y"), disk("1"), disk("2")}, nil},
		{"one volume for two claims", "x", "y", []any{claim("x"), claim("y"), disk("1")}, gone},
		{"one volume for one claim of two pods", "x", "x", []any{claim("x"), disk("1")}, nil},
		{"a volume for each pod, but one claim", "x", "x", []any{claim("x"), disk("1", "a"), disk("2", "b")}, gone},
		{"a volume that both reach", "x", "x", []any{claim("x"), disk("1", "a"), disk("2", "b", "a")}, nil},
		{"the first has to give way", "x", "y", []any{claim("x"), claim("y"), disk("1"), disk("2", "a")}, nil},
		{"none where the machine is", "x", "y", []any{claim("x"), claim("y"), disk("1", "a"), disk("2", "a")}, away},
		{"none at all", "x", "", []any{claim("x")}, held},
		{"none that is free", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased })}, held},
		{"none that is large enough", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) {
			v.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse("1Mi")
		})}, held},
		{"none of the class", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "other" })}, held},
		{"none with the access that is asked for", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) { v.Spec.AccessModes = nil })}, held},
		{"none but blocks", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) {
			block := corev1.PersistentVolumeBlock
			v.Spec.VolumeMode = &block
		})}, held},
		{"one that is kept for another", "x", "", []any{claim("x"), with(disk("1"), func(v *corev1.PersistentVolume) {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "y"}
		})}, held},
		{"one that is kept for it, elsewhere", "x", "", []any{claim("x"), disk("2", "a"), with(disk("1", "b"), func(v *corev1.PersistentVolume) {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "x"}
		})}, away},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(tc.objects...)
			d.store(st.StorageClass("shelf", st.Driver("kubernetes.io/no-provisioner")))
			d.p.Pods = apps(1, "web", using(tc.node))
			d.nodes["n"] = "web-1"
			if tc.machine != "" {
				d.p.Pods = append(d.p.Pods, apps(1, "db", using(tc.machine))...)
				d.buys = []buy{{pool: "pool", pods: "db-1", options: []string{"m/b/on-demand"}}}
			}
			f := d.plan()
			f.skip = true
			assert.Equal(t, tc.breaks, codes(f.violations(t)))
		})
	}
}

// TestStandingVolumeOnStartingNode: the CSI driver labels a node with its own key of the zone only once the node runs, so
// that a volume that needs the key is usable on a node in flight, for all checks of volumes alike.
func TestStandingVolumeOnStartingNode(t *testing.T) {
	disk := st.Volume("1", st.OfClass("shelf"), st.Where(st.In(ebsZone, "a")))
	disk.Status.Phase = corev1.VolumeAvailable
	for name, want := range map[string][]verify.Code{"in flight": nil, "initialized": broken(verify.CodeVolume, verify.CodeVolumeGone)} {
		t.Run(name, func(t *testing.T) {
			d := storing(st.Claim("x", st.OfClass("shelf")), disk, st.StorageClass("shelf", st.Driver("kubernetes.io/no-provisioner")))
			m, ok := d.p.Catalog.Get("m")
			assert.True(t, ok)
			opts := []st.NodeOption{st.OfType(m, m.Offerings[0]), st.OfPool("pool")}
			if want == nil {
				opts = append(opts, st.InFlight())
			}
			d.p.Nodes = []*corev1.Node{st.Node("n", opts...)}
			d.p.Pods = apps(1, "web", using("x"))
			d.nodes["n"] = "web-1"
			f := d.plan()
			f.skip = true
			assert.Equal(t, want, codes(f.violations(t)))
		})
	}
}

// TestNoVolumeIsLeft: a pod may be refused if other pods of the plan use all existing volumes for its claim.
func TestNoVolumeIsLeft(t *testing.T) {
	for name, volumes := range map[string]int{"none is left": 1, "one is left": 2} {
		t.Run(name, func(t *testing.T) {
			d := storing(st.Claim("x", st.OfClass("shelf")), st.Claim("y", st.OfClass("shelf")), st.StorageClass("shelf", st.Driver("kubernetes.io/no-provisioner")))
			for _, v := range []string{"1", "2"}[:volumes] {
				disk := st.Volume(v, st.OfClass("shelf"))
				disk.Status.Phase = corev1.VolumeAvailable
				d.store(disk)
			}
			d.p.NodePools = nil
			d.p.Pods = append(apps(1, "web", using("x")), apps(1, "db", using("y"))...)
			d.nodes["n"] = "web-1"
			f := d.plan()
			f.because("db-1", "no volume is free for default/y")
			want := broken(verify.CodeRefusedForNothing)
			if volumes == 1 {
				want = nil
			}
			assert.Equal(t, want, codes(f.violations(t)))
		})
	}
}
