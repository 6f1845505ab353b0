package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// service is pods that stay, more of them by day than by night.
type service struct {
	name        string
	pods        float64 // on average
	wave        float64 // how far the number swings, as a share of it
	cpu, memory string
	onDemand    bool // bears no interruption
	spread      bool // over the zones
	apart       bool // no two of them on a node
}

// services are what the cluster is there for.
func services() []service {
	return []service{
		{name: "web", pods: 60, wave: 0.5, cpu: "900m", memory: "1Gi", spread: true},
		{name: "api", pods: 50, wave: 0.5, cpu: "1400m", memory: "2Gi", spread: true},
		{name: "search", pods: 16, wave: 0.3, cpu: "3", memory: "12Gi"},
		{name: "cache", pods: 18, cpu: "500m", memory: "10Gi"},
		{name: "worker", pods: 40, wave: 0.2, cpu: "1", memory: "3Gi"},
		{name: "queue", pods: 5, cpu: "1500m", memory: "6Gi", onDemand: true, apart: true},
		{name: "payments", pods: 6, cpu: "700m", memory: "1Gi", onDemand: true, spread: true},
		{name: "small", pods: 60, wave: 0.1, cpu: "150m", memory: "400Mi"},
	}
}

// replicas is how many pods a service wants: most of them in the afternoon.
func (s *service) replicas(now time.Time, steady bool) int {
	if steady {
		return int(s.pods)
	}
	const busiest = 15 // o'clock
	hour := float64(now.Hour()) + float64(now.Minute())/60
	return int(math.Round(s.pods * (1 + s.wave*math.Cos((hour-busiest)/24*2*math.Pi))))
}

// job is pods that come together and end by themselves.
type job struct {
	name string
	pods int
	ends time.Time
}

// nextJob rolls whether a batch job comes in this tick: some eight a day.
func nextJob(dice *rand.Rand, now time.Time, number int) (job, bool) {
	if dice.Float64() > 8*tick.Hours()/24 {
		return job{}, false
	}
	length := time.Duration(20+dice.IntN(100)) * time.Minute
	return job{name: fmt.Sprintf("batch-%d", number), pods: 5 + dice.IntN(30), ends: now.Add(length)}, true
}

// pod returns the service's pod of a number.
func (s *service) pod(number int) *corev1.Pod {
	p := newPod(s.name, fmt.Sprintf("%s-%d", s.name, number), s.cpu, s.memory)
	match := &metav1.LabelSelector{MatchLabels: p.Labels}
	if s.onDemand {
		p.Spec.NodeSelector = map[string]string{scheduling.CapacityTypeLabel: "on-demand"}
	}
	if s.spread {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: match,
		}}
	}
	if s.apart {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: match},
		}}}
	}
	return p
}

// pod returns the job's pod of a number. It must not be stopped before it ends.
func (j *job) pod(number int) *corev1.Pod {
	p := newPod(j.name, fmt.Sprintf("%s-%d", j.name, number), "1800m", "4Gi")
	p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	return p
}

// newPod returns a pod of an app that waits for a node.
func newPod(app, name, cpu, memory string) *corev1.Pod {
	controller := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{"app": app},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, Controller: &controller}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: requests(cpu, memory)}}},
	}
}

// requests are the resources that a container asks for.
func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// agent runs on every node.
func agent() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}}
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Resources: requests("100m", "200Mi")}}
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return ds
}

// agentPod is the agent's pod on a node.
func agentPod(node string) *corev1.Pod {
	ds, controller := agent(), true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ds.Namespace, Name: "agent-" + node,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: ds.Name, Controller: &controller}},
		},
		Spec: ds.Spec.Template.Spec,
	}
}

// budgets let a tenth of each service's pods be away at a time.
func budgets() []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, s := range services() {
		tenth := intstr.FromString("10%")
		out = append(out, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: s.name},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: &tenth, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": s.name}},
			},
		})
	}
	return out
}
