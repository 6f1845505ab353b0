package hosts

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// random is a cluster of nodes n0 to n5 with running pods that changes.
type random struct {
	*rand.Rand
	nodes []*corev1.Node
	pods  []*corev1.Pod
	on    []string // node by pod: where it runs, against its spec
	made  int
}

func newRandom(seed uint64) *random {
	r := &random{Rand: rand.New(rand.NewPCG(seed, 7))}
	for i := range 5 {
		r.nodes = append(r.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i)}})
	}
	for range 12 {
		r.add()
	}
	return r
}

// add adds a pod: one in four has a required anti-affinity term, one in four belongs to a DaemonSet, one in five has a
// claim, and one in six nodes has no Node object.
func (r *random) add() (*corev1.Pod, string) {
	node := fmt.Sprint("n", r.IntN(6))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprint("p", r.made), CreationTimestamp: metav1.NewTime(time.Unix(int64(r.IntN(5)), 0)),
	}}
	r.made++
	pod.Spec.NodeName = node
	name := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "example.com/gpu"}[r.IntN(3)]
	pod.Spec.Containers = []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{name: *resource.NewQuantity(int64(r.IntN(9)), resource.DecimalSI)}},
		Ports:     []corev1.ContainerPort{{HostPort: int32(r.IntN(3))}},
	}}
	if r.IntN(4) == 0 {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: fmt.Sprint("d", r.IntN(2))}}
	}
	if r.IntN(4) == 0 {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: []string{corev1.LabelHostname, corev1.LabelTopologyZone}[r.IntN(2)], LabelSelector: &metav1.LabelSelector{}},
		}}}
	}
	if r.IntN(5) == 0 {
		pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}
	}
	r.pods, r.on = append(r.pods, pod), append(r.on, node)
	return pod, node
}

// cluster reads the present state from nothing: pods name the nodes where they run.
func (r *random) cluster() *Cluster {
	p := &scheduling.Problem{Nodes: r.nodes}
	for i, pod := range r.pods {
		x := pod.DeepCopy()
		x.Spec.NodeName = r.on[i]
		p.Running = append(p.Running, x)
	}
	return NewCluster(p)
}

// summary lists the contents of a cluster, without the numbers of its table.
func summary(k *Cluster) (out []string) {
	for _, h := range k.Hosts {
		line := fmt.Sprintf("%s node %t:", h.Name, h.Node != nil)
		var parts []string
		for _, pod := range h.Pods {
			parts = append(parts, "pod "+pod.Name)
		}
		for d, n := range h.Used {
			if n != 0 {
				parts = append(parts, fmt.Sprintf("%s=%d", k.Table.Names[d], n))
			}
		}
		for _, port := range h.Ports {
			parts = append(parts, fmt.Sprint("port ", port.Port))
		}
		for _, owner := range h.DaemonOwners {
			parts = append(parts, "daemon "+owner.Name)
		}
		for _, pod := range h.Claims {
			parts = append(parts, "claims of "+pod.Name)
		}
		slices.Sort(parts)
		out = append(out, line+fmt.Sprint(parts))
	}
	var more []string
	for _, h := range k.Special {
		more = append(more, "special "+h.Name)
	}
	for key, pod := range k.Newest {
		more = append(more, "newest of "+key.Name+" "+pod.Name)
	}
	slices.Sort(more)
	out = append(out, more...)
	for _, g := range k.Guards {
		out = append(out, fmt.Sprintf("%s on %s excludes by %s", g.Pod, g.Node, g.Key))
	}
	return out
}

// Changes lead to the cluster that is read from the changed objects, and leave the old one as it is.
func TestChangesLeadWhereReadingLeads(t *testing.T) {
	for seed := range uint64(300) {
		r := newRandom(seed)
		k := NewCluster(&scheduling.Problem{Nodes: r.nodes, Running: r.pods})
		for range 4 {
			before, change := summary(k), NewChange(k)
			for range r.IntN(4) {
				i := r.IntN(len(r.pods))
				switch r.IntN(3) {
				case 0:
					pod, _ := r.add()
					change.Start(pod)
				case 1:
					to := fmt.Sprint("n", r.IntN(6))
					r.pods[i] = change.Move(r.pods[i], r.on[i], to)
					r.on[i] = to
				default:
					change.End(r.pods[i], r.on[i])
					r.pods, r.on = slices.Delete(r.pods, i, i+1), slices.Delete(r.on, i, i+1)
				}
			}
			after := change.Cluster(func(yield func(*corev1.Pod, string) bool) {
				for i, pod := range r.pods {
					if !yield(pod, r.on[i]) {
						return
					}
				}
			})
			require.Equal(t, before, summary(k), "seed %d: the old cluster", seed)
			require.Equal(t, summary(r.cluster()), summary(after), "seed %d", seed)
			k = after
		}
	}
}

// A pod that is being resized in place holds more than its spec requests; its successor elsewhere does not.
func TestMovedPodLosesWhatItWasAllocated(t *testing.T) {
	quantity := func(n int64) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(n, resource.BinarySI)}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pod.Spec.NodeName = "a"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: quantity(1)}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: quantity(4), Resources: &corev1.ResourceRequirements{Requests: quantity(4)}}}
	k := NewCluster(&scheduling.Problem{Running: []*corev1.Pod{pod}})
	used := func(k *Cluster, host string) int64 { return k.Host(host).Used[k.Table.Index[corev1.ResourceMemory]] }
	require.EqualValues(t, 4, used(k, "a"))
	change := NewChange(k)
	moved := change.Move(pod, "a", "b")
	k = change.Cluster(func(func(*corev1.Pod, string) bool) {})
	require.EqualValues(t, 1, used(k, "b"))
	require.Nil(t, k.Host("a"), "a host without a node and without pods is gone")
	require.True(t, podspec.Resized(pod))
	require.False(t, podspec.Resized(moved))
}
