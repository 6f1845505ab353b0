package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// trial returns a trial of a pod in a cluster with one node and one NodePool, and notes the updates.
func trial(pod *corev1.Pod) (*Trial, *scheduling.Delta) {
	var updates scheduling.Delta
	p := &scheduling.Problem{
		Nodes:     []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "a"}, {Key: "b"}}}}},
		NodePools: []*scheduling.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "pool"}, Spec: scheduling.NodePoolSpec{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
	}
	return &Trial{
		Pod: pod, Problem: p, Policy: &scheduling.Policy{NoSpot: true}, PolicyChanged: func() {},
		Running: func(func(*corev1.Pod, string) bool) {},
		Update:  func(d scheduling.Delta) error { updates = d; return nil },
	}, &updates
}

func TestApply(t *testing.T) {
	t.Run("the pod", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}, SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}}}})
		assert.True(t, x.Apply(&scheduling.Change{
			Kind: scheduling.ChangeSelector, Key: "disk", Values: []string{"hdd"},
			And: []scheduling.Change{{Kind: scheduling.ChangeToleration, Key: "a", Effect: "NoSchedule"}, {Kind: scheduling.ChangeGate, Object: "g"}},
		}), "changes that belong together are made together")
		assert.Equal(t, map[string]string{"disk": "hdd"}, x.Pod.Spec.NodeSelector)
		assert.Len(t, x.Pod.Spec.Tolerations, 1)
		assert.Empty(t, x.Pod.Spec.SchedulingGates)
		assert.False(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeGate, Object: "g"}), "a gate that is not there cannot be removed")
	})
	t.Run("the cluster", func(t *testing.T) {
		x, updates := trial(&corev1.Pod{})
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/n", Key: "a"}))
		assert.Equal(t, []corev1.Taint{{Key: "b"}}, updates.Nodes[0].Spec.Taints)
		assert.Len(t, x.Problem.Nodes[0].Spec.Taints, 2, "objects are changed by copies")
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeLimit, Object: "NodePool/pool", Key: "cpu", To: "2"}))
		assert.Equal(t, resource.MustParse("2"), updates.NodePools[0].Spec.Limits["cpu"])
		assert.False(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeTaint, Object: "Node/gone", Key: "a"}))
	})
	t.Run("fewer volumes of a driver", func(t *testing.T) {
		of := func(class string) *string { return &class }
		claim := func(name, class string) *corev1.PersistentVolumeClaim {
			return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: of(class)}}
		}
		use := func(name string) corev1.Volume {
			return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
		}
		for _, c := range []struct {
			most string
			left []corev1.Volume
		}{
			{"1", []corev1.Volume{use("files"), use("data"), use("more-files")}},
			{"", []corev1.Volume{use("files"), use("more-files")}}, // a node that takes no further volume of the driver
		} {
			x, _ := trial(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{use("files"), use("data"), use("log"), use("more-files")}}})
			x.Problem.StorageClasses = []*storagev1.StorageClass{
				{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Provisioner: "ebs.csi.aws.com"}, {ObjectMeta: metav1.ObjectMeta{Name: "nfs"}, Provisioner: "efs.csi.aws.com"},
			}
			x.Problem.Claims = []*corev1.PersistentVolumeClaim{claim("files", "nfs"), claim("data", "disk"), claim("log", "disk"), claim("more-files", "nfs")}
			assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeVolume, Key: "ebs.csi.aws.com", To: c.most}))
			assert.Equal(t, c.left, x.Pod.Spec.Volumes, "volumes of other drivers stay")
		}
	})
	t.Run("the policy", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{})
		assert.True(t, x.Apply(&scheduling.Change{Kind: scheduling.ChangeSpot}))
		assert.False(t, x.Policy.NoSpot)
	})
	stated := []scheduling.ChangeKind{scheduling.ChangeNomination, scheduling.ChangeOrder, scheduling.ChangeHold}
	t.Run("changes that are stated and not tried", func(t *testing.T) {
		x, _ := trial(&corev1.Pod{})
		for _, kind := range append(stated, "unknown") {
			assert.False(t, x.Apply(&scheduling.Change{Kind: kind}), kind)
		}
	})
	t.Run("each other kind can be tried", func(t *testing.T) {
		kinds := changeKinds(t)
		assert.Len(t, appliers(), len(kinds)-len(stated))
		for _, kind := range kinds {
			assert.Equal(t, !slices.Contains(stated, kind), appliers()[kind] != nil, "a plan would never propose a change that it cannot try: %s", kind)
		}
	})
}

// changeKinds are the kinds of changes that package scheduling declares.
func changeKinds(t *testing.T) (out []scheduling.ChangeKind) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../fixes_change.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out = append(out, scheduling.ChangeKind(value))
		}
		return true
	})
	require.NotEmpty(t, out)
	return out
}
