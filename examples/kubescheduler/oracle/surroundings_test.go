package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// The API server of a problem has the problem's objects, a namespace for every pod, and the claims of ephemeral volumes
// that do not exist yet.
func TestObjects(t *testing.T) {
	p := scheduling.Problem{
		Pods: []*corev1.Pod{
			st.Pod("a", st.Ephemeral("tmp", st.OfClass("fast"))), st.Pod("b", st.Ephemeral("tmp")),
			st.Pod("c", st.Namespace("shop"), st.Ephemeral("tmp")),
		},
		Running:        []*corev1.Pod{st.Pod("r", st.Namespace("blog"), st.OnNode("n"))},
		Claims:         []*corev1.PersistentVolumeClaim{st.Claim("c-tmp", st.Namespace("shop"))},
		StorageClasses: []*storagev1.StorageClass{st.StorageClass("old", st.DefaultClass(1)), st.StorageClass("new", st.DefaultClass(2)), st.StorageClass("fast")},
		Namespaces:     []*corev1.Namespace{{}, st.NamespaceObject("shop", map[string]string{"team": "red"})},
	}
	p.Namespaces[0].Name = "bare"
	claims := map[string]string{}
	namespaces := map[string]map[string]string{}
	for _, o := range oracle.Objects(&p) {
		switch x := o.(type) {
		case *corev1.PersistentVolumeClaim:
			claims[x.Namespace+"/"+x.Name] = ""
			if x.Spec.StorageClassName != nil {
				claims[x.Namespace+"/"+x.Name] = *x.Spec.StorageClassName
			}
		case *corev1.Namespace:
			namespaces[x.Name] = x.Labels
		}
	}
	require.Equal(t, map[string]string{"default/a-tmp": "fast", "default/b-tmp": "new", "shop/c-tmp": ""}, claims)
	require.Len(t, namespaces, 4)
	require.Equal(t, "red", namespaces["shop"]["team"])
	for name, labels := range namespaces {
		require.Equal(t, name, labels[corev1.LabelMetadataName])
	}
	require.Nil(t, p.Namespaces[0].Labels, "the problem stays as it is")
}

// Each rule that depends on objects beside nodes and pods reaches kube-scheduler.
func TestSchedulerForProblem(t *testing.T) {
	zone := offerings.ZoneLabel
	p := scheduling.Problem{
		Nodes: []*corev1.Node{zoneNode("a"), zoneNode("b")},
		Running: []*corev1.Pod{
			st.Pod("web-0", st.OnNode("a"), st.Label("app", "web"), st.Label("version", "v1")),
			st.Pod("red", st.Namespace("shop"), st.OnNode("b"), st.Label("app", "red"), st.UseClaim("only")),
		},
		Pods: []*corev1.Pod{
			st.Pod("spread", st.Label("app", "web")),
			st.Pod("lone", st.Label("app", "lone")),
			st.Pod("near", st.Near(zone, st.Of("app", "red"), st.InNamespacesOf(st.In("team", "red")))),
			st.Pod("again", st.Label("version", "v1"), st.Apart(zone, st.Of("app", "web"), st.Same("version"))),
			st.Pod("another", st.Label("version", "v2"), st.Apart(zone, st.Of("app", "web"), st.Same("version")), st.Apart("x", st.Of("y", "z"), st.Weight(1))),
			st.Pod("other", st.Label("version", "v2"), st.Near(zone, st.Of("app", "web"), st.Other("version"))),
			st.Pod("disk", st.UseClaim("data")),
			st.Pod("tmp", st.Ephemeral("tmp", st.OfClass("in-b"))),
			st.Pod("only", st.Namespace("shop"), st.UseClaim("only")),
		},
		Claims: []*corev1.PersistentVolumeClaim{
			st.Claim("data", st.BoundTo("disk")), st.Claim("only", st.Namespace("shop"), st.OfClass("any"), st.Access(corev1.ReadWriteOncePod)),
		},
		Volumes:        []*corev1.PersistentVolume{st.Volume("disk", st.Where(st.In(zone, "b")))},
		StorageClasses: []*storagev1.StorageClass{st.StorageClass("in-b", st.Where(st.In(zone, "b"))), st.StorageClass("any")},
		Namespaces:     []*corev1.Namespace{st.NamespaceObject("shop", map[string]string{"team": "red"})},
		Services:       []*corev1.Service{st.Service("default", "web", map[string]string{"app": "web"})},
		DefaultSpread:  []corev1.TopologySpreadConstraint{st.DefaultSpread(zone)},
	}
	takes := map[string][2]bool{ // nodes a and b
		"spread": {false, true}, "lone": {true, true}, "near": {false, true}, "again": {false, true}, "another": {true, true},
		"other": {true, false}, "disk": {false, true}, "tmp": {false, true}, "only": {false, false},
	}
	for name, want := range takes {
		for i, node := range []string{"a", "b"} {
			for _, pod := range p.Pods {
				if pod.Name != name {
					continue
				}
				plan := &scheduling.Plan{Existing: []scheduling.Assignment{{Node: node, Pods: []string{pod.Namespace + "/" + pod.Name}}}}
				s, err := oracle.NewSchedulerFor(t.Context(), &p)
				require.NoError(t, err)
				found, err := oracle.Check(t.Context(), s, &p, plan, oracle.Config{})
				require.NoError(t, err)
				require.Equal(t, want[i], len(found) == 0, "%s on %s: %v", name, node, found)
			}
		}
	}
}

// Placements are in the order in which a scheduler takes pods.
func TestPlacementsAreInOrder(t *testing.T) {
	p := scheduling.Problem{
		Nodes: []*corev1.Node{zoneNode("a")},
		Pods:  []*corev1.Pod{st.Pod("b"), st.Pod("c", st.Priority(5)), st.Pod("a"), st.Pod("a", st.Namespace("before")), st.Pod("z", st.Priority(-1))},
	}
	plan := &scheduling.Plan{Existing: []scheduling.Assignment{{Node: "a", Pods: []string{"default/z", "default/b", "default/c", "before/a", "default/a"}}}}
	c, err := oracle.CarryOut(&p, plan, nil)
	require.NoError(t, err)
	var order []string
	for _, x := range c.Placements {
		order = append(order, x.Pod.Namespace+"/"+x.Pod.Name)
	}
	require.Equal(t, []string{"default/c", "before/a", "default/a", "default/b", "default/z"}, order)
}
