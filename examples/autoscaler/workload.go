package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
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

// services are the workloads that always run, with their requests and daily waves.
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

// replicas is the desired number of pods of a service: highest in the afternoon.
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

// namespace is where the users' pods are.
const namespace = "shop"

// pod returns the service's pod of a number.
func (s *service) pod(number int) *corev1.Pod {
	opts := podOf(s.name, s.cpu, s.memory)
	if s.onDemand {
		opts = append(opts, st.Select(offerings.CapacityTypeLabel, "on-demand"))
	}
	if s.spread {
		opts = append(opts, st.Spread(corev1.LabelTopologyZone, st.Skew(2)))
	}
	if s.apart {
		opts = append(opts, st.Apart(corev1.LabelHostname))
	}
	return st.Pod(fmt.Sprintf("%s-%d", s.name, number), opts...)
}

// pod returns the job's pod of a number. It must not be stopped before it ends.
func (j *job) pod(number int) *corev1.Pod {
	p := st.Pod(fmt.Sprintf("%s-%d", j.name, number), podOf(j.name, "1800m", "4Gi")...)
	p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	return p
}

// podOf are the options of an app's pods.
func podOf(app, cpu, memory string) []st.PodOption {
	return []st.PodOption{st.Namespace(namespace), st.Label("app", app), st.OwnedBy("ReplicaSet", app), st.Requests(
		st.ResourceAmount{Name: corev1.ResourceCPU, Quantity: resource.MustParse(cpu)}, st.ResourceAmount{Name: corev1.ResourceMemory, Quantity: resource.MustParse(memory)})}
}

// agent runs on every node.
func agent() *appsv1.DaemonSet {
	return st.DaemonSet("agent", st.Namespace("kube-system"), st.Requests(st.MilliCPU(100), st.MiB(200)), st.TolerateAll())
}

// agentPod is the agent's pod on a node.
func agentPod(node string) *corev1.Pod {
	ds := agent()
	p := st.Pod("agent-"+node, st.Namespace(ds.Namespace), st.OwnedByDaemonSet(ds.Name))
	p.Spec = ds.Spec.Template.Spec
	return p
}

// budgets let a tenth of each service's pods be away at a time.
func budgets() []*policyv1.PodDisruptionBudget {
	return lo.Map(services(), func(s service, _ int) *policyv1.PodDisruptionBudget {
		b := st.DisruptionBudget(s.name, map[string]string{"app": s.name}, intstr.FromString("10%"))
		b.Namespace = namespace
		return b
	})
}
