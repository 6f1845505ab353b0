package verify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// stating is a CSINode whose driver has these topology keys.
func stating(driver string, keys ...string) *storagev1.CSINode {
	n := st.CSINode("n")
	n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driver, TopologyKeys: keys}}
	return n
}

// TestVolumesToBeMadeForSeveral: pods that share a claim without a volume must be in one zone, because the volume is
// made in one.
func TestVolumesToBeMadeForSeveral(t *testing.T) {
	apart := broken(verify.CodeVolumeApart)
	wait := st.Claim("x", st.OfClass("disk"))
	class := func(driver string) *storagev1.StorageClass { return st.StorageClass("disk", st.Driver(driver)) }
	inB, inAOrB := []string{"m/b/on-demand"}, []string{"m/a/on-demand", "m/b/on-demand"}
	for _, tc := range []struct {
		name    string
		objects []any
		node    string // who is on a node in zone a
		buys    []buy
		breaks  []verify.Code
	}{
		{"on one node", []any{class(ebs), wait}, "a-1 b-1", nil, nil},
		{"on one machine wherever", []any{class(ebs), wait}, "", []buy{{pool: "pool", pods: "a-1 b-1", options: inAOrB}}, nil},
		{"on a node and on a machine elsewhere", []any{class(ebs), wait}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inB}}, apart},
		{"on a node and on a machine perhaps elsewhere", []any{class(ebs), wait}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inAOrB}}, apart},
		{"on a node and on a machine nearby", []any{class(ebs), wait}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inAOrB[:1]}}, nil},
		{"on two machines wherever", []any{class(ebs), wait}, "", []buy{{pool: "pool", pods: "a-1", options: inAOrB}, {pool: "pool", pods: "b-1", options: inAOrB}}, apart},
		{"on two machines elsewhere", []any{class(ebs), wait}, "", []buy{{pool: "pool", pods: "a-1", options: inB}, {pool: "pool", pods: "b-1", options: inB}}, nil},
		{"a volume that is there", []any{st.Claim("x", st.BoundTo("v")), st.Volume("v")}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inB}}, nil},
		{"a disk of old", []any{class("kubernetes.io/gce-pd"), wait}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inB}}, apart},
		{"a file system", []any{class("efs.csi.aws.com"), wait}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inB}}, nil},
		{"a driver that speaks of zones", []any{class("example.com"), wait, stating("example.com", "topology.gke.io/zone")}, "a-1",
			[]buy{{pool: "pool", pods: "b-1", options: inB}}, apart},
		{"a driver that speaks of regions", []any{class(ebs), wait, stating(ebs, corev1.LabelTopologyRegion)}, "a-1", []buy{{pool: "pool", pods: "b-1", options: inB}}, nil},
		{"another driver that speaks of zones", []any{class("example.com"), wait, stating("example.org", corev1.LabelTopologyZone)}, "a-1",
			[]buy{{pool: "pool", pods: "b-1", options: inB}}, nil},
		{"a class that speaks of zones", []any{st.StorageClass("disk", st.Driver("example.com"), st.Where(st.In(zoneOf, "a", "b"))), wait}, "a-1",
			[]buy{{pool: "pool", pods: "b-1", options: inB}}, apart},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(tc.objects...)
			d.p.Pods = []*corev1.Pod{apps(1, "a", using("x"))[0], apps(1, "b", using("x"))[0]}
			d.nodes["n"], d.buys = tc.node, tc.buys
			assert.Equal(t, tc.breaks, codes(d.plan().violations(t)))
		})
	}
}

// TestRefusedForAVolumeElsewhere: a pod may be refused because its volume is made in another zone, but not if there is
// room for it in the zone of the volume.
func TestRefusedForAVolumeElsewhere(t *testing.T) {
	for _, tc := range []struct {
		name   string
		zone   string
		breaks []verify.Code
	}{
		{"where the volume is not", "b", nil},
		{"where the volume is", "a", broken(verify.CodeRefusedForNothing)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := storing(st.StorageClass("disk"), st.Claim("x", st.OfClass("disk")))
			d.p.Nodes = append(d.p.Nodes, zoned("n-b", "b"))
			d.p.Pods = []*corev1.Pod{apps(1, "a", using("x"))[0], apps(1, "b", using("x"))[0]}
			d.p.Pods[1].Spec.NodeSelector = map[string]string{zoneOf: tc.zone}
			d.nodes["n"] = "a-1"
			assert.Equal(t, tc.breaks, codes(d.plan().violations(t)))
		})
	}
}
