package autoscaler

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
)

// Sample is a request with groups of EC2 nodes in five teams, and pods of 40 workloads, each of which may run in the groups
// of one team. The node count of an option is the least that CPU and memory allow. Names of pods differ by seed.
func Sample(seed uint64, groups, pods int) expander.Request {
	const teams, workloads = 5, 40
	rng := rand.New(rand.NewPCG(seed, 0))
	var sold []*instancetypes.InstanceType
	for t := range ec2.MustCatalog("us-east-1").All() {
		category, cores := t.Labels["karpenter.k8s.aws/instance-category"], t.Capacity.Cpu().Value()
		if t.Labels[corev1.LabelArchStable] == "amd64" && len(t.Offerings) > 0 && cores >= 4 && cores <= 32 &&
			(category == "c" || category == "m" || category == "r") {
			sold = append(sold, t)
		}
	}
	r := expander.Request{Templates: map[string]*corev1.Node{}}
	for g := range groups {
		t := sold[rng.IntN(len(sold))]
		id := fmt.Sprintf("asg-%02d", g)
		r.Options = append(r.Options, expander.Option{NodeGroup: id})
		r.Templates[id] = Template(t)
	}
	for w := range workloads {
		cores := []int64{100, 250, 500, 1000, 2000}[rng.IntN(5)] + 10*rng.Int64N(50)
		memory := cores * (1 + rng.Int64N(6)) << 20
		for i := range (pods - w + workloads - 1) / workloads {
			pod := Pod(fmt.Sprintf("w%d-%d-%d", w, seed, i), cores, memory)
			for g := w % teams; g < groups; g += teams {
				r.Options[g].Pods = append(r.Options[g].Pods, pod)
			}
		}
	}
	for g := range r.Options {
		o := &r.Options[g]
		room := r.Templates[o.NodeGroup].Status.Allocatable
		var cores, memory int64
		for _, p := range o.Pods {
			requests := p.Spec.Containers[0].Resources.Requests
			cores += requests.Cpu().MilliValue()
			memory += requests.Memory().Value()
		}
		o.NodeCount = int(1 + max(cores/room.Cpu().MilliValue(), memory/room.Memory().Value()))
	}
	return r
}

// Template is a node of a type at its first offering.
func Template(t *instancetypes.InstanceType) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "template", Labels: t.NodeLabels(t.Offerings[0])}}
	node.Status.Capacity, node.Status.Allocatable = t.Capacity, t.AllocatableOf(t.Offerings[0])
	return node
}

// Pod is a pending pod of a Deployment as the API server returns it, with some of the fields that no choice reads. It
// requests CPU in millicores and memory in bytes.
func Pod(name string, cores, memory int64) *corev1.Pod {
	token := "kube-api-access-" + name
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web", "pod-template-hash": "5d9c7b"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d9c7b", UID: "uid-web"}},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/team/web:1.2.3",
				Env: []corev1.EnvVar{{Name: "MODE", Value: "production"}, {Name: "LEVEL", Value: "info"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: *resource.NewMilliQuantity(cores, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
				}},
				VolumeMounts: []corev1.VolumeMount{{Name: token, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
			}},
			Volumes:       []corev1.Volume{{Name: token, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			SchedulerName: "default-scheduler", ServiceAccountName: "default",
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient cpu.",
		}}},
	}
}
