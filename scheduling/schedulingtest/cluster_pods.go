package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

type podBudget = policyv1.PodDisruptionBudget

// workloads are the pods of Deployments of two to forty replicas, of the sizes of
// [MixedSizes], with the ties and budgets that the options ask for.
func (b *clusterBuilder) workloads() []*corev1.Pod {
	n := b.options.Nodes * b.options.PodsPerNode
	pods := make([]*corev1.Pod, 0, n)
	for i := 0; len(pods) < n; i++ {
		name := fmt.Sprintf("app-%05d", i)
		replicas := min(b.between(2, 40), n-len(pods))
		kind := "ReplicaSet"
		if b.options.Various && b.oneIn(10) {
			kind, replicas = "StatefulSet", min(replicas, 5)
		}
		opts := []PodOption{
			Label("app", name), OwnedBy(kind, name),
			Requests(MilliCPU(pick[int64](b.dice, 100, 250, 500, 1000, 1500)), MiB(pick[int64](b.dice, 100, 256, 512, 1024, 2048, 4096))),
		}
		if b.options.Spread && b.oneIn(3) {
			opts = append(opts, b.spread())
		}
		if b.options.Apart && b.oneIn(8) {
			// One pod a host is for workloads that have hosts enough.
			replicas = min(replicas, max(b.options.Nodes/4, 2))
			opts = append(opts, Apart(corev1.LabelHostname))
		}
		if b.options.Spot && b.oneIn(2) {
			opts = append(opts, Select(scheduling.CapacityTypeLabel, string(offerings.OnDemand)))
		}
		if b.options.PDBs && b.oneIn(2) {
			b.cluster.PodDisruptionBudgets = append(b.cluster.PodDisruptionBudgets, b.budget(name))
		}
		pods = append(pods, Pods(replicas, name, opts...)...)
	}
	return pods
}

// budget is a PodDisruptionBudget for a workload.
func (b *clusterBuilder) budget(app string) *podBudget {
	most := pick(b.dice, intstr.FromInt32(1), intstr.FromString("10%"), intstr.FromString("25%"), intstr.FromInt32(5))
	if b.oneIn(20) {
		most = intstr.FromInt32(0)
	}
	out := DisruptionBudget(app, map[string]string{"app": app}, most)
	if b.options.Various && b.oneIn(2) {
		least := pick(b.dice, intstr.FromString("75%"), intstr.FromString("90%"), intstr.FromInt32(1))
		out.Spec.MaxUnavailable, out.Spec.MinAvailable = nil, &least
	}
	return out
}

// spread is one over zones.
func (b *clusterBuilder) spread() PodOption {
	if b.options.Various && b.oneIn(2) {
		return Spread(corev1.LabelTopologyZone, Soft())
	}
	return Spread(corev1.LabelTopologyZone)
}

// volume gives a pod of a StatefulSet a volume in the zone of its node.
func (b *clusterBuilder) volume(pod *corev1.Pod, node *corev1.Node) {
	if pod.OwnerReferences[0].Kind != "StatefulSet" {
		return
	}
	name := "data-" + pod.Name
	UseClaim(name).applyPod(pod)
	b.cluster.Claims = append(b.cluster.Claims, Claim(name, BoundTo(name)))
	b.cluster.Volumes = append(b.cluster.Volumes, Volume(name, Where(In(corev1.LabelTopologyZone, node.Labels[corev1.LabelTopologyZone]))))
}

// DisruptionBudget is a PodDisruptionBudget of the namespace "default" that lets so many of
// the pods with the labels be away. No controller has seen it yet.
func DisruptionBudget(name string, labels map[string]string, maxUnavailable intstr.IntOrString) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Generation: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			MaxUnavailable: &maxUnavailable,
		},
	}
}
