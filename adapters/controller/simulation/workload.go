package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Service is pods that stay, more of them by day than by night.
type Service struct {
	Name string
	// Pods is their number on average, Wave how far it swings, as a share of it.
	Pods, Wave float64
	// CPU and Memory are the requests of a pod.
	CPU, Memory string
	// OnDemand keeps the pods off spot nodes, Spread spreads them over zones, and Apart lets no two of them share a node.
	OnDemand, Spread, Apart bool
}

// Services are some 250 pods of eight services, which request some 240 cores and 710 GiB.
func Services() []Service {
	return []Service{
		{Name: "web", Pods: 60, Wave: 0.5, CPU: "900m", Memory: "1Gi", Spread: true},
		{Name: "api", Pods: 50, Wave: 0.5, CPU: "1400m", Memory: "2Gi", Spread: true},
		{Name: "search", Pods: 16, Wave: 0.3, CPU: "3", Memory: "12Gi"},
		{Name: "cache", Pods: 18, CPU: "500m", Memory: "10Gi"},
		{Name: "worker", Pods: 40, Wave: 0.2, CPU: "1", Memory: "3Gi"},
		{Name: "queue", Pods: 5, CPU: "1500m", Memory: "6Gi", OnDemand: true, Apart: true},
		{Name: "payments", Pods: 6, CPU: "700m", Memory: "1Gi", OnDemand: true, Spread: true},
		{Name: "small", Pods: 60, Wave: 0.1, CPU: "150m", Memory: "400Mi"},
	}
}

// replicas is the desired number of pods of a service: highest in the afternoon.
func (s *Service) replicas(now time.Time, flat bool) int {
	if flat {
		return int(s.Pods)
	}
	const busiest = 15 // o'clock
	hour := float64(now.Hour()) + float64(now.Minute())/60
	return int(math.Round(s.Pods * (1 + s.Wave*math.Cos((hour-busiest)/24*2*math.Pi))))
}

// job is pods that come together and end by themselves.
type job struct {
	name string
	pods int
	ends time.Time
}

// newJob is 5 to 34 pods that run for 20 minutes to two hours.
func newJob(dice *rand.Rand, now time.Time, number int) job {
	length := time.Duration(20+dice.IntN(100)) * time.Minute
	return job{name: fmt.Sprintf("batch-%d", number), pods: 5 + dice.IntN(30), ends: now.Add(length)}
}

// AppLabel is the label of pods with the name of their service or job. The pods of the DaemonSet have none.
const AppLabel = "app"

// namespace is where the pods of services and jobs are.
const namespace = "shop"

// pod returns the service's pod of a number.
func (s *Service) pod(number int) *corev1.Pod {
	opts := podOf(s.Name, s.CPU, s.Memory)
	if s.OnDemand {
		opts = append(opts, st.Select(offerings.CapacityTypeLabel, "on-demand"))
	}
	if s.Spread {
		opts = append(opts, st.Spread(corev1.LabelTopologyZone, st.Skew(2)))
	}
	if s.Apart {
		opts = append(opts, st.Apart(corev1.LabelHostname))
	}
	return st.Pod(fmt.Sprintf("%s-%d", s.Name, number), opts...)
}

// podName is the name of the service's pod of a number, with its namespace.
func (s *Service) podName(number int) string {
	return fmt.Sprintf("%s/%s-%d", namespace, s.Name, number)
}

// pod returns the job's pod of a number. It must not be stopped before it ends, which Karpenter and Cluster Autoscaler
// read from annotations.
func (j *job) pod(number int) *corev1.Pod {
	p := st.Pod(fmt.Sprintf("%s-%d", j.name, number), podOf(j.name, "1800m", "4Gi")...)
	p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true", SafeToEvict: "false"}
	return p
}

// SafeToEvict is the annotation with which Cluster Autoscaler lets a pod be evicted or not.
const SafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// podOf are the options of an app's pods.
func podOf(app, cpu, memory string) []st.PodOption {
	return []st.PodOption{st.Namespace(namespace), st.Label(AppLabel, app), st.OwnedBy("ReplicaSet", app), st.Requests(
		st.ResourceAmount{Name: corev1.ResourceCPU, Quantity: resource.MustParse(cpu)}, st.ResourceAmount{Name: corev1.ResourceMemory, Quantity: resource.MustParse(memory)})}
}

// Agent is the DaemonSet of the cluster: it runs on every node.
func Agent() *appsv1.DaemonSet {
	return st.DaemonSet("agent", st.Namespace("kube-system"), st.Requests(st.MilliCPU(100), st.MiB(200)), st.TolerateAll())
}

// agentPod is the agent's pod on a node.
func agentPod(node string) *corev1.Pod {
	ds := Agent()
	p := st.Pod("agent-"+node, st.Namespace(ds.Namespace), st.OwnedByDaemonSet(ds.Name))
	p.Spec = ds.Spec.Template.Spec
	return p
}

// isAgent reports whether a pod is the agent's.
func isAgent(p *corev1.Pod) bool { return p.Labels[AppLabel] == "" }

// newBudget lets a tenth of a service's pods be away at a time.
func newBudget(service string) *policyv1.PodDisruptionBudget {
	b := st.DisruptionBudget(service, map[string]string{AppLabel: service}, intstr.FromString("10%"))
	b.Namespace = namespace
	return b
}
