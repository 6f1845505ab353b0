package oracle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// A launch becomes a node with all labels, taints and resources that the plan and the catalog state, and without
// startup taints.
func TestLaunchNode(t *testing.T) {
	kind := st.Type("m7.large", st.Capacity(st.Cores(2), st.GiB(8)), st.KubeReserved(st.MilliCPU(70), st.MiB(500)),
		st.Label("karpenter.k8s.aws/instance-family", "m7"), st.Reserved("zone-a", st.Cents(1), "cr-1", 2))
	w := newWorld(&scheduling.Problem{Catalog: st.MustCatalog(kind)})
	l := &scheduling.Launch{
		Name: "default-1", NodePool: "default",
		Labels:        map[string]string{scheduling.NodePoolLabel: "default", "example.com/team": "red"},
		Taints:        []corev1.Taint{{Key: "example.com/dedicated", Effect: corev1.TaintEffectNoSchedule}},
		StartupTaints: []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}},
		Requirements: []requirements.Selector{
			st.In(corev1.LabelTopologyRegion, "here"), st.In("example.com/team", "blue"), st.In(offerings.ZoneLabel, "zone-b"),
		},
	}
	o := &scheduling.LaunchOption{InstanceType: "m7.large", Zone: "zone-a", CapacityType: offerings.Reserved, ReservationID: "cr-1"}
	node, err := w.launchNode("default-1", l, o)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		scheduling.NodePoolLabel:            "default",
		scheduling.RegisteredLabel:          "true",
		scheduling.InitializedLabel:         "true",
		offerings.CapacityTypeLabel:         "reserved",
		offerings.ReservationIDLabel:        "cr-1",
		"example.com/team":                  "red",
		"karpenter.k8s.aws/instance-family": "m7",
		corev1.LabelHostname:                "default-1",
		corev1.LabelInstanceTypeStable:      "m7.large",
		corev1.LabelInstanceType:            "m7.large",
		corev1.LabelArchStable:              "amd64",
		"beta.kubernetes.io/arch":           "amd64",
		corev1.LabelOSStable:                "linux",
		"beta.kubernetes.io/os":             "linux",
		corev1.LabelTopologyZone:            "zone-a",
		corev1.LabelFailureDomainBetaZone:   "zone-a",
		"topology.ebs.csi.aws.com/zone":     "zone-a",
		"topology.disk.csi.azure.com/zone":  "zone-a",
		"topology.gke.io/zone":              "zone-a",
		corev1.LabelTopologyRegion:          "here",
		corev1.LabelFailureDomainBetaRegion: "here",
	}, node.Labels)
	require.Equal(t, l.Taints, node.Spec.Taints)
	require.Equal(t, "1930m", node.Status.Allocatable.Cpu().String())
	require.Equal(t, "2", node.Status.Capacity.Cpu().String())
	require.NotContains(t, l.Labels, corev1.LabelHostname, "the plan is left alone")
}

// Nodes in flight become ready as their type says; ready nodes are not changed.
func TestReadyNode(t *testing.T) {
	kind := st.Type("small", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("zone-a", st.Cents(5)),
		st.Offer(offerings.Offering{Zone: "zone-b", CapacityType: offerings.Spot, Capacity: st.Resources(st.Count("example.com/fpga", 1))}))
	p := &scheduling.Problem{
		Catalog: st.MustCatalog(kind),
		NodePools: []*scheduling.NodePool{
			st.NodePool("default", st.StartupTaint("example.com/starting", "", corev1.TaintEffectNoSchedule)),
		},
	}
	w := newWorld(p)
	taint := func(key string, effect corev1.TaintEffect) st.NodeOption { return st.Taint(key, "", effect) }
	starting := []st.NodeOption{
		taint("example.com/starting", corev1.TaintEffectNoSchedule),
		taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoSchedule),
		taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule),
		taint("node.cloudprovider.kubernetes.io/uninitialized", corev1.TaintEffectNoSchedule),
		taint("karpenter.sh/unregistered", corev1.TaintEffectNoExecute),
		taint("readiness.k8s.io/network", corev1.TaintEffectNoExecute),
	}
	staying := []st.NodeOption{
		taint("example.com/starting", corev1.TaintEffectNoExecute),
		taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		taint("example.com/dedicated", corev1.TaintEffectNoSchedule),
		taint("not.readiness.k8s.io/network", corev1.TaintEffectNoExecute),
	}
	node := func(opts ...st.NodeOption) *corev1.Node { return st.Node("node-0", opts...) }

	t.Run("in flight", func(t *testing.T) {
		opts := append([]st.NodeOption{st.OfType(kind, kind.Offerings[0]), st.OfPool("default")}, starting...)
		in := node(append(append(opts, staying...), st.InFlight())...)
		before := in.DeepCopy()
		out := w.readyNode(in)
		require.Equal(t, before, in, "the caller's node is left alone")
		require.Equal(t, "true", out.Labels[scheduling.InitializedLabel])
		require.Equal(t, "true", out.Labels[scheduling.RegisteredLabel])
		require.Equal(t, node(staying...).Spec.Taints, out.Spec.Taints)
		require.Equal(t, "2", out.Status.Allocatable.Cpu().String())
	})
	t.Run("reports something already", func(t *testing.T) {
		in := node(st.OfType(kind, kind.Offerings[0]), st.OfPool("default"), st.InFlight())
		in.Status.Allocatable = st.Resources(st.MilliCPU(1900), st.GiB(0))
		out := w.readyNode(in)
		require.Equal(t, "1900m", out.Status.Allocatable.Cpu().String())
		require.Equal(t, "8Gi", out.Status.Allocatable.Memory().String())
	})
	t.Run("overridden by its offering", func(t *testing.T) {
		out := w.readyNode(node(st.OfType(kind, kind.Offerings[1]), st.OfPool("default"), st.InFlight()))
		require.Equal(t, int64(1), out.Status.Allocatable.Name("example.com/fpga", "").Value())
	})
	t.Run("has not joined", func(t *testing.T) {
		w := newWorld(&scheduling.Problem{NodePools: []*scheduling.NodePool{
			st.NodePool("default", st.Taint("example.com/dedicated", "red", corev1.TaintEffectNoSchedule), st.Taint("k", "", corev1.TaintEffectNoExecute)),
		}})
		dedicated := st.Taint("example.com/dedicated", "blue", corev1.TaintEffectNoSchedule)
		want := node(dedicated, taint("k", corev1.TaintEffectNoExecute)).Spec.Taints
		require.Equal(t, want, w.readyNode(node(st.OfPool("default"), st.InFlight(), dedicated)).Spec.Taints)
		registered := node(st.OfPool("default"), st.InFlight(), dedicated, st.Label(scheduling.RegisteredLabel, "true"))
		require.Equal(t, want[:1], w.readyNode(registered).Spec.Taints)
	})
	t.Run("unknown type", func(t *testing.T) {
		out := w.readyNode(node(st.OfPool("default"), st.InFlight()))
		require.Empty(t, out.Status.Allocatable)
	})
	t.Run("initialized", func(t *testing.T) {
		in := node(append([]st.NodeOption{st.OfPool("default")}, starting...)...)
		require.Equal(t, in, w.readyNode(in))
	})
	t.Run("of no pool", func(t *testing.T) {
		in := node(starting...)
		require.Equal(t, in, w.readyNode(in))
	})
}

// The DaemonSet pods of a node are those that the DaemonSet controller would start there and that do not run yet, as
// large as the newest pod of the DaemonSet.
func TestDaemonsOf(t *testing.T) {
	w := newWorld(&scheduling.Problem{
		DaemonSets: []*daemonSet{
			st.DaemonSet("everywhere", st.Requests(st.MilliCPU(100))),
			st.DaemonSet("tolerant", st.Limits(st.MilliCPU(200)), st.TolerateAll()),
			st.DaemonSet("picky", st.Select("example.com/disk", "ssd")),
			st.DaemonSet("present", st.Requests(st.MilliCPU(300)), st.TolerateAll()),
		},
		Nodes: []*corev1.Node{
			st.Node("plain"), st.Node("tainted", st.Taint("k", "", corev1.TaintEffectNoSchedule)),
			st.Node("ssd", st.Label("example.com/disk", "ssd")), st.Node("cordoned", st.Cordoned()),
		},
		Running: []*corev1.Pod{
			aged(st.Pod("present-1", st.OnNode("plain"), st.OwnedByDaemonSet("present"), st.Requests(st.MilliCPU(350))), 2),
			aged(st.Pod("present-0", st.OnNode("gone"), st.OwnedByDaemonSet("present"), st.Requests(st.MilliCPU(400))), 1),
		},
	})
	got := map[string][]string{}
	requests := map[string]string{}
	for _, node := range w.nodes {
		for _, pod := range w.daemonsOf(node) {
			require.Equal(t, node.Name, pod.Spec.NodeName)
			got[node.Name] = append(got[node.Name], pod.Name)
			requests[pod.Name] = pod.Spec.Containers[0].Resources.Requests.Cpu().String()
		}
	}
	require.Equal(t, map[string][]string{
		"plain":    {"everywhere-on-plain", "tolerant-on-plain"},
		"tainted":  {"tolerant-on-tainted", "present-on-tainted"},
		"ssd":      {"everywhere-on-ssd", "tolerant-on-ssd", "picky-on-ssd", "present-on-ssd"},
		"cordoned": {"everywhere-on-cordoned", "tolerant-on-cordoned", "present-on-cordoned"},
	}, got)
	require.Equal(t, "200m", requests["tolerant-on-plain"], "limits are requests, too")
	require.Equal(t, "350m", requests["present-on-ssd"], "the newest that runs")
}

// aged makes a pod that many days younger than the others.
func aged(pod *corev1.Pod, days int) *corev1.Pod {
	pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, days, 0, 0, 0, 0, time.UTC))
	return pod
}

// A DaemonSet that selects a label which the provider may put on nodes may run there.
func TestDaemonsOn(t *testing.T) {
	catalog := st.MustCatalog(st.Type("small", st.Capacity(st.Cores(2), st.GiB(4)), st.Spot("zone-a", st.Cents(1))))
	w := newWorld(&scheduling.Problem{
		Catalog: catalog,
		DaemonSets: []*daemonSet{
			st.DaemonSet("region", st.Select(corev1.LabelTopologyRegion, "there")),
			st.DaemonSet("no-region", st.Where(st.DoesNotExist(corev1.LabelTopologyRegion))),
			st.DaemonSet("zone", st.Select(corev1.LabelTopologyZone, "zone-b")),
			st.DaemonSet("own", st.Select("example.com/disk", "ssd")),
			st.DaemonSet("both", st.Select(corev1.LabelTopologyRegion, "there"), st.Select(corev1.LabelTopologyZone, "zone-b")),
		},
	})
	names := func(labels map[string]string) (out []string) {
		node, err := w.launchNode("m", &scheduling.Launch{Labels: labels}, &scheduling.LaunchOption{InstanceType: "small", Zone: "zone-a", CapacityType: offerings.Spot})
		require.NoError(t, err)
		for _, pod := range w.daemonsOn(node, catalog) {
			out = append(out, pod.Name)
		}
		return out
	}
	require.Equal(t, []string{"region-on-m", "no-region-on-m"}, names(map[string]string{}))
	require.Empty(t, names(map[string]string{corev1.LabelTopologyRegion: "here"}))
	require.Equal(t, []string{"region-on-m"}, names(map[string]string{corev1.LabelTopologyRegion: "there"}))
}
