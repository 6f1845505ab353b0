package verify_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

const (
	ebs     = "ebs.csi.aws.com"
	ebsZone = "topology.ebs.csi.aws.com/zone"
)

// TestVolumes: a pod with a volume is on a node in zone a, or on a machine that is launched in zone a or b.
func TestVolumes(t *testing.T) {
	wrong := broken(verify.CodeVolume)
	in := func(key string, zones ...string) st.WhereOption { return st.Where(st.In(key, zones...)) }
	zonal := func(v *corev1.PersistentVolume, key, value string) *corev1.PersistentVolume {
		v.Labels = map[string]string{key: value}
		return v
	}
	bound := st.Claim("data", st.BoundTo("vol"))
	waiting := st.Claim("data", st.OfClass("disk"))
	for _, tc := range []struct {
		name    string
		objects []any
		node    []verify.Code // on the node
		a, b    []verify.Code // on a machine in zone a or b
	}{
		{"a volume that is anywhere (P139)", []any{bound, st.Volume("vol")}, nil, nil, nil},
		{"a volume in the zone (P139)", []any{bound, st.Volume("vol", in(zoneOf, "a"))}, nil, nil, wrong},
		{"a volume in another zone (P139)", []any{bound, st.Volume("vol", in(zoneOf, "b"))}, wrong, wrong, nil},
		{"a volume in several zones (P137)", []any{bound, st.Volume("vol", in(zoneOf, "b", "a"))}, nil, nil, nil},
		{"a volume with alternatives (P137)", []any{bound, st.Volume("vol", in(zoneOf, "b"), in(zoneOf, "a"))}, nil, nil, nil},
		{"a volume whose driver has a key of its own", []any{bound, st.Volume("vol", in(ebsZone, "a"))}, wrong, nil, wrong},
		{"a local volume on the node (P140)", []any{bound, st.Volume("vol", in(hostOf, "n"))}, nil, wrong, wrong},
		{"a local volume on another node (P140)", []any{bound, st.Volume("vol", in(hostOf, "m"))}, wrong, wrong, wrong},
		{"a volume that says by labels where it is", []any{bound, zonal(st.Volume("vol"), zoneOf, "a")}, nil, nil, wrong},
		{"a volume that is in two zones by its labels", []any{bound, zonal(st.Volume("vol"), zoneOf, "a__c")}, nil, nil, wrong},
		{"a volume that says so in the old way", []any{bound, zonal(st.Volume("vol"), corev1.LabelFailureDomainBetaZone, "b")}, wrong, wrong, nil},
		{"a volume in a region, which the provider knows", []any{bound, zonal(st.Volume("vol"), corev1.LabelTopologyRegion, "r")}, wrong, nil, nil},
		{"a volume to be made anywhere", []any{waiting, st.StorageClass("disk")}, nil, nil, nil},
		{"a volume to be made in the zone (P139)", []any{waiting, st.StorageClass("disk", in(zoneOf, "a"))}, nil, nil, wrong},
		{"a volume to be made in one of two topologies (P137)", []any{waiting, st.StorageClass("disk", in(zoneOf, "c"), in(zoneOf, "b"))}, wrong, wrong, nil},
		{"a volume to be made where two things hold", []any{waiting, st.StorageClass("disk", st.Where(st.In(zoneOf, "a"), st.In("rack", "1")))}, wrong, wrong, wrong},
		{"a volume to be made by a driver with a key of its own", []any{waiting, st.StorageClass("disk", in(ebsZone, "b"))}, wrong, wrong, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for place, want := range map[string][]verify.Code{"n": tc.node, "a": tc.a, "b": tc.b} {
				d := storing(tc.objects...)
				d.p.Pods = apps(1, "web", using("data"))
				if place == "n" {
					d.nodes["n"] = "web-1"
				} else {
					d.buys = []buy{{pool: "pool", pods: "web-1", options: []string{"m/" + place + "/on-demand"}}}
				}
				assert.Equal(t, want, codes(d.plan().violations(t)), "on %s", place)
			}
		})
	}
}

// TestVolumesAndSpread covers P141: the zone of a volume limits where its pod may be, and not which domains its spread
// counts.
func TestVolumesAndSpread(t *testing.T) {
	d := storing(st.Claim("data", st.BoundTo("vol")), st.Volume("vol", st.Where(st.In(zoneOf, "a"))))
	d.p.Nodes = append(d.p.Nodes, zoned("m", "b"))
	d.p.Pods = apps(1, "web", using("data"), spread(zoneOf, 1, of("web"), minDomains(2)))
	d.nodes["n"] = "web-1"
	assert.Empty(t, d.plan().violations(t))
	d.p.Running = []*corev1.Pod{app("r", "web", "n")}
	assert.Equal(t, broken(verify.CodeTopologySpread), codes(d.plan().violations(t)), "zone b has none, although the pod cannot go there")
}

// storing is a draft with a node in zone a, machines in zones a and b, and the objects.
func storing(objects ...any) *draft {
	m := st.Type("m", st.Capacity(st.Cores(8), st.GiB(16), st.Count("attachable-volumes-csi-"+ebs, 2)), st.OnDemand("a", 10), st.OnDemand("b", 10))
	free := st.Type("free", st.Capacity(st.Cores(8), st.GiB(16)), st.OnDemand("a", 20))
	d := &draft{nodes: map[string]string{}, p: scheduling.Problem{
		Catalog: st.MustCatalog(m, free), NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Nodes: []*corev1.Node{zoned("n", "a")},
	}}
	d.store(objects...)
	return d
}

// TestBrokenClaims covers P142: no pod can use such a claim, and a refused pod must have a reason that names it.
func TestBrokenClaims(t *testing.T) {
	gone := func(o metav1.Object) { o.SetDeletionTimestamp(&metav1.Time{}) }
	deleted, deletedVolume := st.Claim("data", st.BoundTo("vol")), st.Volume("vol")
	gone(deleted)
	gone(deletedVolume)
	ephemeral := func(opts ...st.ClaimOption) []corev1.Volume {
		return st.Pod("x", st.Ephemeral("data", opts...)).Spec.Volumes
	}
	claimed := st.Pod("x", st.UseClaim("data")).Spec.Volumes
	own := "web-1-data"
	for _, tc := range []struct {
		name    string
		volumes []corev1.Volume
		objects []any
		held    string // the claim
	}{
		{"no such claim", claimed, nil, "default/data"},
		{"claim of another namespace", claimed, []any{func() *corev1.PersistentVolumeClaim {
			c := st.Claim("data", st.OfClass("disk"))
			c.Namespace = "other"
			return c
		}()}, "default/data"},
		{"claim that is being deleted", claimed, []any{deleted, st.Volume("vol")}, "default/data"},
		{"claim that has lost its volume", claimed, []any{st.Claim("data", st.BoundTo("vol"), st.Lost()), st.Volume("vol")}, "default/data"},
		{"no such volume", claimed, []any{st.Claim("data", st.BoundTo("vol"))}, "default/data"},
		{"volume that is being deleted", claimed, []any{st.Claim("data", st.BoundTo("vol")), deletedVolume}, "default/data"},
		{"claim that is not bound to its volume yet", claimed, []any{st.Claim("data", st.HalfBoundTo("vol")), st.Volume("vol")}, "default/data"},
		{"claim without a class", claimed, []any{st.Claim("data")}, "default/data"},
		{"claim without a class, which was made before there was a default", claimed, []any{st.Claim("data"), st.StorageClass("disk", st.DefaultClass(1))}, "default/data"},
		{"no such class", claimed, []any{st.Claim("data", st.OfClass("tape"))}, "default/data"},
		{"claim that waits for its volume", claimed, []any{st.Claim("data", st.OfClass("now")), st.StorageClass("now", st.Immediate())}, "default/data"},
		{"claim with its volume", claimed, []any{st.Claim("data", st.BoundTo("vol")), st.Volume("vol")}, ""},
		{"claim with its volume, of a class that is gone (P139)", claimed, []any{st.Claim("data", st.BoundTo("vol"), st.OfClass("tape")), st.Volume("vol")}, ""},
		{"claim with its volume, of a class that makes them at once", claimed, []any{st.Claim("data", st.BoundTo("vol"), st.OfClass("now")), st.Volume("vol"), st.StorageClass("now", st.Immediate())}, ""},
		{"volume of the pod's own that is not claimed yet (P143)", ephemeral(st.OfClass("disk")), nil, ""},
		{"volume of the pod's own, of no class (P143)", ephemeral(), nil, "default/" + own},
		{"volume of the pod's own, of the default class (P143)", ephemeral(), []any{st.StorageClass("old", st.DefaultClass(1), st.Immediate()), st.StorageClass("new", st.DefaultClass(2))}, ""},
		{"volume of the pod's own, of the newest default class (P143)", ephemeral(), []any{st.StorageClass("old", st.DefaultClass(1)), st.StorageClass("new", st.DefaultClass(2), st.Immediate())}, "default/" + own},
		{"volume of the pod's own, claimed (P143)", ephemeral(st.OfClass("none")), []any{st.Claim(own, st.OfClass("disk"), st.OwnedByPod("web-1"))}, ""},
		{"volume of the pod's own, claimed by another (P143)", ephemeral(st.OfClass("disk")), []any{st.Claim(own, st.OfClass("disk"), st.OwnedByPod("web-2"))}, "default/" + own},
		{"volume of the pod's own, claimed by nobody (P143)", ephemeral(st.OfClass("disk")), []any{st.Claim(own, st.OfClass("disk"))}, "default/" + own},
		{"volumes that need no claim (P144)", []corev1.Volume{{VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}}}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(append([]any{st.StorageClass("disk")}, tc.objects...)...)
			d.p.NodePools = nil
			d.p.Pods = apps(1, "web", func(p *corev1.Pod) { p.Spec.Volumes = tc.volumes })
			d.nodes["n"] = "web-1"
			placed := codes(d.plan().violations(t))
			d.move("web-1", "")
			f := d.plan()
			f.skip = true
			silent := codes(f.violations(t))
			f.because("web-1", "persistent volume claim "+tc.held+" is no good")
			assert.Empty(t, f.violations(t))
			if tc.held == "" {
				assert.Empty(t, placed)
				assert.Empty(t, silent)
			} else {
				assert.Equal(t, broken(verify.CodePodHeld), placed)
				assert.Equal(t, broken(verify.CodeNoReason), silent)
			}
		})
	}
}

// TestAttachLimits covers P144–P146: how many volumes of a driver a node or machine can attach.
func TestAttachLimits(t *testing.T) {
	tooMany := broken(verify.CodeAttachLimit)
	volumes := func(driver string, names ...string) []any {
		var out []any
		for _, name := range names {
			out = append(out, st.Claim(name, st.BoundTo("vol-"+name)), st.Volume("vol-"+name, st.Driver(driver)))
		}
		return out
	}
	three := []*corev1.Pod{apps(1, "a", using("x"))[0], apps(1, "b", using("y"))[0], apps(1, "c", using("z"))[0]}
	shared := []*corev1.Pod{apps(1, "a", using("x"))[0], apps(1, "b", using("x"))[0], apps(1, "c", using("z"), using("x"))[0]}
	for _, tc := range []struct {
		name    string
		pods    []*corev1.Pod
		running []*corev1.Pod
		objects []any
		option  string // or the node
		breaks  []verify.Code
	}{
		{"as many as the node takes", three[:2], nil, append(volumes(ebs, "x", "y"), st.CSINode("n", st.Count(ebs, 2))), "", nil},
		{"more than the node takes", three, nil, append(volumes(ebs, "x", "y", "z"), st.CSINode("n", st.Count(ebs, 2))), "", tooMany},
		{"a node that says nothing", three, nil, volumes(ebs, "x", "y", "z"), "", nil},
		{"a node without a limit", three, nil, append(volumes(ebs, "x", "y", "z"), st.CSINode("n", st.Count(ebs, -1))), "", nil},
		{"a limit of another driver", three, nil, append(volumes("efs", "x", "y", "z"), st.CSINode("n", st.Count(ebs, 2))), "", nil},
		{"running pods count", three[:1], three[1:], append(volumes(ebs, "x", "y", "z"), st.CSINode("n", st.Count(ebs, 2))), "", tooMany},
		{"running pods count although their claims are being deleted", three[:1], three[1:2], append(volumes(ebs, "x"), st.CSINode("n", st.Count(ebs, 1)),
			func() any {
				c := st.Claim("y", st.BoundTo("vol-y"))
				c.DeletionTimestamp = &metav1.Time{}
				return c
			}(), st.Volume("vol-y")), "", tooMany},
		{"a volume of several pods counts once", shared, nil, append(volumes(ebs, "x", "z"), st.CSINode("n", st.Count(ebs, 2))), "", nil},
		{"a volume that is there already counts once", shared[:2], shared[2:], append(volumes(ebs, "x", "z"), st.CSINode("n", st.Count(ebs, 2))), "", nil},
		{"a full node takes what needs nothing more", shared[:1], shared[2:], append(volumes(ebs, "x", "z"), st.CSINode("n", st.Count(ebs, 1))), "", nil},
		{"volumes that were built in once", three, nil, append(volumes("kubernetes.io/aws-ebs", "x", "y", "z"), st.CSINode("n", st.Count(ebs, 2))), "", tooMany},
		{"volumes of Google's that were built in once", three, nil, append(volumes("kubernetes.io/gce-pd", "x", "y", "z"), st.CSINode("n", st.Count("pd.csi.storage.gke.io", 2))), "", tooMany},
		{"volumes of Azure's that were built in once", three, nil, append(volumes("kubernetes.io/azure-disk", "x", "y", "z"), st.CSINode("n", st.Count("disk.csi.azure.com", 2))), "", tooMany},
		{"local volumes are not attached", three, nil, append(volumes("kubernetes.io/local-volume", "x", "y", "z"), st.CSINode("n", st.Count(ebs, 0))), "", nil},
		{"volumes to be made", three, nil, []any{st.StorageClass("disk", st.Driver("kubernetes.io/aws-ebs")), st.CSINode("n", st.Count(ebs, 2)),
			st.Claim("x", st.OfClass("disk")), st.Claim("y", st.OfClass("disk")), st.Claim("z", st.OfClass("disk"))}, "", tooMany},
		{"as many as the machine takes", three[:2], nil, volumes(ebs, "x", "y"), "m/a/on-demand", nil},
		{"more than the machine takes", three, nil, volumes(ebs, "x", "y", "z"), "m/a/on-demand", tooMany},
		{"a volume of several pods on a machine", shared, nil, volumes(ebs, "x", "z"), "m/a/on-demand", nil},
		{"a machine of which nothing is known", three, nil, volumes(ebs, "x", "y", "z"), "free/a/on-demand", nil},
		{"a machine that takes few of another driver", three, nil, volumes("efs", "x", "y", "z"), "m/a/on-demand", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(tc.objects...)
			for _, p := range tc.running {
				p = p.DeepCopy()
				p.Spec.NodeName = "n"
				d.p.Running = append(d.p.Running, p)
			}
			d.p.Pods = tc.pods
			names := ""
			for _, p := range tc.pods {
				names += " " + p.Name
			}
			if tc.option == "" {
				d.nodes["n"] = names
			} else {
				d.buys = []buy{{pool: "pool", pods: names, options: []string{tc.option}}}
			}
			assert.Equal(t, tc.breaks, codes(d.plan().violations(t)))
		})
	}
	t.Run("a node that starts takes what its type does", func(t *testing.T) {
		d := storing(volumes(ebs, "x", "y", "z")...)
		kind, _ := d.p.Catalog.Get("m")
		d.p.Nodes = []*corev1.Node{st.Node("n", st.OfType(kind, kind.Offerings[0]), st.OfPool("pool"), st.InFlight())}
		d.p.Pods, d.nodes["n"] = three, "a-1 b-1 c-1"
		assert.Equal(t, tooMany, codes(d.plan().violations(t)))
		d.store(st.CSINode("n", st.Count(ebs, 3)))
		assert.Empty(t, d.plan().violations(t), "unless it says otherwise")
	})
}

// TestReadWriteOncePod: a claim with ReadWriteOncePod has one pod.
func TestReadWriteOncePod(t *testing.T) {
	once := st.Access(corev1.ReadWriteOncePod)
	pods := []*corev1.Pod{apps(1, "a", using("x"))[0], apps(1, "b", using("x"))[0]}
	user := app("user", "u", "elsewhere", using("x"))
	for _, tc := range []struct {
		name    string
		access  []st.ClaimOption
		running []*corev1.Pod
		places  string
		breaks  []verify.Code
	}{
		{"one pod", []st.ClaimOption{once}, nil, "a-1", nil},
		{"two pods", []st.ClaimOption{once}, nil, "a-1 b-1", broken(verify.CodeVolumeInUse)},
		{"two pods, and any number may", nil, nil, "a-1 b-1", nil},
		{"one that runs, wherever", []st.ClaimOption{once}, []*corev1.Pod{user}, "b-1", broken(verify.CodeVolumeInUse)},
		{"one that runs, and any number may", nil, []*corev1.Pod{user}, "b-1", nil},
		{"one that has ended", []st.ClaimOption{once}, []*corev1.Pod{with(user.DeepCopy(), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}, "b-1", nil},
		{"one of another namespace", []st.ClaimOption{once}, []*corev1.Pod{with(user.DeepCopy(), inSpace("other"))}, "b-1", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(st.Claim("x", slices.Concat([]st.ClaimOption{st.BoundTo("vol")}, tc.access)...), st.Volume("vol"))
			d.p.Pods, d.p.Running, d.nodes["n"] = pods, tc.running, tc.places
			f := d.plan()
			f.skip = true
			assert.Equal(t, tc.breaks, codes(f.violations(t)))
		})
	}
}
