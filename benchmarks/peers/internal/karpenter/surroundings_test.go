package karpenter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

func zones() scheduling.Problem {
	return scheduling.Problem{
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16)),
			st.OnDemand("z1", st.Cents(20)), st.OnDemand("z2", st.Cents(21)), st.OnDemand("z3", st.Cents(22)))),
		StorageClasses: []*storagev1.StorageClass{
			st.StorageClass("slow", st.Where(st.In(corev1.LabelTopologyZone, "z2"))),
			st.StorageClass("usual", st.DefaultClass(1), st.Where(st.In(corev1.LabelTopologyZone, "z3"))),
			st.StorageClass("now", st.Immediate()),
		},
	}
}

func TestVolumes(t *testing.T) {
	small := st.Requests(st.MilliCPU(100))
	for name, tc := range map[string]struct {
		claim  *corev1.PersistentVolumeClaim
		volume *corev1.PersistentVolume
		pod    st.PodOption
		want   []string
	}{
		"where the volume is": {
			st.Claim("data", st.BoundTo("disk")), st.Volume("disk", st.Where(st.In(corev1.LabelTopologyZone, "z2"))), st.UseClaim("data"),
			[]string{"default m z2 on-demand: a"},
		},
		"where its driver says that it is": {
			st.Claim("data", st.BoundTo("disk")), st.Volume("disk", st.Where(st.In("topology.ebs.csi.aws.com/zone", "z2"))), st.UseClaim("data"),
			[]string{"default m z2 on-demand: a"},
		},
		"where the class makes volumes": {st.Claim("data", st.OfClass("slow")), nil, st.UseClaim("data"), []string{"default m z2 on-demand: a"}},
		"of the usual class":            {nil, nil, st.Ephemeral("scratch"), []string{"default m z3 on-demand: a"}},
		"of the class named":            {nil, nil, st.Ephemeral("scratch", st.OfClass("slow")), []string{"default m z2 on-demand: a"}},
		"no such claim":                 {nil, nil, st.UseClaim("data"), nil},
		"a claim that goes":             {st.Claim("data", st.OfClass("slow"), st.Deleting()), nil, st.UseClaim("data"), nil},
		"a claim that has to be bound":  {st.Claim("data", st.OfClass("now")), nil, st.UseClaim("data"), nil},
		"no volume":                     {st.Claim("data", st.BoundTo("disk")), nil, st.UseClaim("data"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := zones()
			p.Pods = []*corev1.Pod{st.Pod("a", small, tc.pod)}
			if tc.claim != nil {
				p.Claims = append(p.Claims, tc.claim)
			}
			if tc.volume != nil {
				p.Volumes = append(p.Volumes, tc.volume)
			}
			assert.Equal(t, tc.want, solve(t, p))
		})
	}
}

// Label keys are part of the selectors by the time Karpenter sees a pod.
func TestLabelKeys(t *testing.T) {
	core := st.Requests(st.MilliCPU(100))
	p := zones()
	p.Pods = []*corev1.Pod{
		st.Pod("a", core, st.Label("app", "web"), st.Label("version", "v1"), st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.Same("version"))),
		st.Pod("b", core, st.Label("app", "web"), st.Label("version", "v2"), st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.Same("version"))),
	}
	assert.Equal(t, []string{"default m z1 on-demand: a b"}, solve(t, p))
	p.Pods = []*corev1.Pod{
		st.Pod("a", core, st.Label("app", "web"), st.Label("version", "v1"), st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.Other("version"))),
		st.Pod("b", core, st.Label("app", "web"), st.Label("version", "v2"), st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.Other("version"))),
	}
	assert.Len(t, solve(t, p), 2)
	assert.Empty(t, p.Pods[0].Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions)
}

// Namespaces have their labels. A namespace that the problem does not list has only the label of its name.
func TestNamespaces(t *testing.T) {
	core := st.Requests(st.MilliCPU(100))
	p := zones()
	p.Namespaces = []*corev1.Namespace{st.NamespaceObject("shop", map[string]string{"team": "red"})}
	p.Pods = []*corev1.Pod{
		st.Pod("a", core, st.Namespace("shop"), st.Label("app", "web")),
		st.Pod("b", core, st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.InNamespacesOf(st.In("team", "red")))),
		st.Pod("c", core, st.Apart(corev1.LabelHostname, st.Of("app", "web"), st.InNamespacesOf(st.In(corev1.LabelMetadataName, "default")))),
	}
	lines := solve(t, p)
	require.Len(t, lines, 2)
	for _, line := range lines {
		assert.NotContains(t, line, "a b", "b keeps away from a")
	}
}

func TestPreferences(t *testing.T) {
	p := zones()
	p.Pods = []*corev1.Pod{st.Pod("a", st.Requests(st.MilliCPU(100)), st.Prefer(1, st.In(corev1.LabelTopologyZone, "z3")))}
	assert.Equal(t, []string{"default m z3 on-demand: a"}, solve(t, p))
	run, err := Peer{IgnorePreferences: true}.Load(p)
	require.NoError(t, err)
	require.NoError(t, run.Solve(t.Context()))
	outcome, err := run.Outcome()
	require.NoError(t, err)
	assert.Equal(t, "z1", outcome.Machines[0].Offering.Zone)
}

// Only pods that wait for a node are Karpenter's to provision for.
func TestProvisionable(t *testing.T) {
	core := st.Requests(st.MilliCPU(100))
	p := zones()
	p.Pods = []*corev1.Pod{
		st.Pod("gone", core, st.Deleting()), st.Pod("done", core, st.PodPhase(corev1.PodSucceeded)),
		st.Pod("agent", core, st.OwnedByDaemonSet("agent")), st.Pod("waits", core),
	}
	assert.Equal(t, []string{"default m z1 on-demand: waits"}, solve(t, p))
}

func TestLabelsLeftOpen(t *testing.T) {
	p := zones()
	p.NodePools = []*scheduling.NodePool{st.NodePool("default", st.Where(st.In("example.com/team", "red", "blue"), st.In("karpenter.sh/capacity-type", "on-demand", "spot"), st.Exists("example.com/disk")))}
	p.Pods = []*corev1.Pod{st.Pod("a", st.Requests(st.MilliCPU(100)))}
	run, err := Peer{}.Load(p)
	require.NoError(t, err)
	require.NoError(t, run.Solve(t.Context()))
	outcome, err := run.Outcome()
	require.NoError(t, err)
	labels := outcome.Machines[0].Labels
	assert.Equal(t, "blue", labels["example.com/team"])
	assert.NotEmpty(t, labels["example.com/disk"])
	assert.NotContains(t, labels, "karpenter.sh/capacity-type", "the offering decides it")
}
