package validate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// faultsOfPod validates a problem with one pod and returns the faults without the
// path of the pod's spec.
func faultsOfPod(t *testing.T, change func(*corev1.PodSpec)) []string {
	t.Helper()
	pod := shopPod("web-3", quantities("cpu", "100m", "memory", "1Gi"))
	change(&pod.Spec)
	before := pod.DeepCopy()
	faults := faultsOf(t, problemFaults((&scheduling.Problem{Pods: []*corev1.Pod{pod}})))
	assert.Equal(t, before, pod, "validation changes nothing")
	const path = "pods[shop/web-3].spec."
	for i, f := range faults {
		if assert.Greater(t, len(f), len(path)) && assert.Equal(t, path, f[:len(path)]) {
			faults[i] = f[len(path):]
		}
	}
	return faults
}

func TestValidatePodResources(t *testing.T) {
	first := func(requests, limits corev1.ResourceList) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
		}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.PodSpec)
		want   []string
	}{
		"ordinary":       {func(*corev1.PodSpec) {}, nil},
		"no requests":    {first(nil, nil), nil},
		"limits alone":   {first(nil, quantities("cpu", "1")), nil},
		"equal to limit": {first(quantities("cpu", "1", "memory", "1Gi"), quantities("cpu", "1000m", "memory", "1024Mi")), nil},
		"zero":           {first(quantities("cpu", "0", "example.com/x", "0"), quantities("cpu", "0")), nil},
		"negative": {first(quantities("cpu", "-1m", "memory", "1"), quantities("memory", "-1", "nvidia.com/gpu", "-2")), []string{
			`containers[0].resources.limits.memory: is negative: "-1"`, `containers[0].resources.limits[nvidia.com/gpu]: is negative: "-2"`,
			`containers[0].resources.requests.cpu: is negative: "-1m"`,
		}},
		"the largest amounts": {first(corev1.ResourceList{
			"cpu": *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI), "memory": *resource.NewQuantity(math.MaxInt64, resource.BinarySI),
		}, nil), nil},
		"beyond 64 bits": {first(quantities("cpu", "9223372036854775.808", "memory", "1e30", "example.com/x", "1e300"), quantities("memory", "100E")), nil},
		"beyond 64 bits, and above the limit": {first(quantities("cpu", "1e1999999998", "memory", "1e1999999998"), quantities("cpu", "1e2000000001", "memory", "1")), []string{
			`containers[0].resources.requests.memory: is more than the limit of 1: "1e1999999998"`,
		}},
		"above the limit": {first(quantities("cpu", "1001m", "memory", "1Gi", "example.com/x", "3"), quantities("cpu", "1", "memory", "1023Mi", "example.com/x", "2")), []string{
			`containers[0].resources.requests.cpu: is more than the limit of 1: "1001m"`,
			`containers[0].resources.requests.memory: is more than the limit of 1023Mi: "1Gi"`,
			`containers[0].resources.requests[example.com/x]: is more than the limit of 2: "3"`,
		}},
		"above the limit of a device": {first(quantities("cpu", "1", "example.com/x", "3"), quantities("cpu", "1", "example.com/x", "2", "example.com/y", "9")), []string{
			`containers[0].resources.requests[example.com/x]: is more than the limit of 2: "3"`,
		}},
		"a negative device": {first(quantities("cpu", "1", "example.com/x", "-3"), nil), []string{`containers[0].resources.requests[example.com/x]: is negative: "-3"`}},
		"above the limit by a hair": {first(quantities("cpu", "1000000000001n"), quantities("cpu", "1000")), []string{
			`containers[0].resources.requests.cpu: is more than the limit of 1k: "1000000000001n"`,
		}},
		"every kind of container": {func(s *corev1.PodSpec) {
			bad := corev1.ResourceRequirements{Requests: quantities("cpu", "-1")}
			s.Containers = append(s.Containers, corev1.Container{Resources: bad})
			s.InitContainers = []corev1.Container{{}, {}, {Resources: bad}}
			s.Resources = &bad
			s.Overhead = quantities("memory", "-5")
		}, []string{
			`containers[1].resources.requests.cpu: is negative: "-1"`, `initContainers[2].resources.requests.cpu: is negative: "-1"`,
			`overhead.memory: is negative: "-5"`, `resources.requests.cpu: is negative: "-1"`,
		}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, faultsOfPod(t, tc.change)) })
	}
}

// Amounts that 64 bits hold keep their value when they become an int64, and larger ones are the largest.
func TestAmountsBeyond64Bits(t *testing.T) {
	for _, s := range []string{"9223372036854775807", "9223372036854775806.5", "8Ei", "1e18", "7.9Ei", "9223372036854775.807", "9.3e15", "1e19", "100E", "0.1n", "20000000000000000000", "1e1999999998"} {
		q := resource.MustParse(s)
		for _, name := range []corev1.ResourceName{"cpu", "memory"} {
			n := podspec.Amount(name, q)
			if podspec.Beyond64Bits(name, &q) {
				assert.Equal(t, int64(math.MaxInt64), n, "%s %s", name, s)
				assert.Greater(t, q.AsApproximateFloat64(), 9e15, "%s %s", name, s)
				continue
			}
			whole := podspec.Quantity(name, n)
			assert.GreaterOrEqual(t, whole.Cmp(q), 0, "%s %s", name, s)
		}
	}
}

func TestValidatePodLevel(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	ctr := func(requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	sidecar := ctr(quantities("cpu", "200m"), nil)
	sidecar.RestartPolicy = &always
	for name, tc := range map[string]struct {
		whole corev1.ResourceRequirements
		want  []string
	}{
		"as much":      {corev1.ResourceRequirements{Requests: quantities("cpu", "1700m", "memory", "3Gi")}, nil},
		"limits alone": {corev1.ResourceRequirements{Limits: quantities("cpu", "1700m", "memory", "3Gi")}, nil},
		"not for pods": {corev1.ResourceRequirements{Requests: quantities("nvidia.com/gpu", "0")}, nil},
		"beyond":       {corev1.ResourceRequirements{Requests: quantities("cpu", "1e1999999998")}, nil},
		"less": {corev1.ResourceRequirements{Requests: quantities("cpu", "1699m", "memory", "2Gi"), Limits: quantities("cpu", "2")}, []string{
			`resources.requests.cpu: is less than the 1700m that the containers request together: "1699m"`,
			`resources.requests.memory: is less than the 3Gi that the containers request together: "2Gi"`,
		}},
		"limits below what is requested": {corev1.ResourceRequirements{Limits: quantities("cpu", "1", "memory", "1Gi")}, []string{
			`resources.limits.cpu: is less than the 1700m that the containers request together: "1"`,
			`resources.limits.memory: is less than the 3Gi that the containers request together: "1Gi"`,
		}},
		"limits below a container's": {corev1.ResourceRequirements{Requests: quantities("memory", "3Gi"), Limits: quantities("memory", "3Gi")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, faultsOfPod(t, func(s *corev1.PodSpec) {
				s.Containers = []corev1.Container{ctr(quantities("cpu", "500m"), quantities("memory", "3Gi")), ctr(quantities("cpu", "1"), nil)}
				s.InitContainers = []corev1.Container{ctr(quantities("cpu", "1700m"), nil), sidecar, ctr(quantities("cpu", "1500m"), nil)}
				s.Resources = &tc.whole
			}))
		})
	}
	assert.Equal(t, []string{`resources.limits.memory: is less than the limit of 4Gi of containers[1]: "3Gi"`}, faultsOfPod(t, func(s *corev1.PodSpec) {
		s.Containers = []corev1.Container{{}, ctr(quantities("memory", "1Gi"), quantities("memory", "4Gi"))}
		s.Resources = &corev1.ResourceRequirements{Requests: quantities("memory", "2Gi"), Limits: quantities("memory", "3Gi")}
	}))
}

func TestValidatePodPorts(t *testing.T) {
	assert.Equal(t, []string{
		`containers[0].ports[1].hostPort: must lie between 0 and 65535: "-1"`,
		`containers[0].ports[3].hostPort: must lie between 0 and 65535: "65536"`,
		`initContainers[0].ports[0].hostPort: must lie between 0 and 65535: "70000"`,
	}, faultsOfPod(t, func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 0}, {HostPort: -1}, {HostPort: 65535}, {HostPort: 65536}}
		s.InitContainers = []corev1.Container{{Ports: []corev1.ContainerPort{{HostPort: 70000}}}}
	}))
}

func TestValidatePodNodeSelector(t *testing.T) {
	assert.Equal(t, []string{
		"nodeSelector: " + NotALabelKey + `: "/zone"`,
		"nodeSelector.disk: " + NotALabelValue + `: "very fast"`,
		"nodeSelector[a.b/c]: " + NotALabelValue + `: "-x"`,
	}, faultsOfPod(t, func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"disk": "very fast", "/zone": "a", "a.b/c": "-x", "kubernetes.io/arch": "arm64", "empty": ""}
	}))
}

func TestValidatePodTolerations(t *testing.T) {
	for name, tc := range map[string]struct {
		toleration corev1.Toleration
		want       string
	}{
		"everything":         {corev1.Toleration{Operator: corev1.TolerationOpExists}, ""},
		"equal by default":   {corev1.Toleration{Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule}, ""},
		"equal":              {corev1.Toleration{Key: "a", Operator: corev1.TolerationOpEqual, Effect: corev1.TaintEffectPreferNoSchedule}, ""},
		"greater":            {corev1.Toleration{Key: "a", Operator: corev1.TolerationOpGt, Value: "-5", Effect: corev1.TaintEffectNoExecute}, ""},
		"operator":           {corev1.Toleration{Key: "a", Operator: "In"}, `operator: must be one of Equal, Exists, Lt, Gt: "In"`},
		"effect":             {corev1.Toleration{Key: "a", Effect: "Never"}, `effect: must be one of NoSchedule, PreferNoSchedule, NoExecute: "Never"`},
		"equal without key":  {corev1.Toleration{Value: "b"}, `key: is missing, which only operator Exists allows`},
		"exists with value":  {corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"}, `value: operator Exists takes no value: "b"`},
		"value is no label":  {corev1.Toleration{Key: "a", Value: "b c"}, `value: ` + NotALabelValue + `: "b c"`},
		"less than what":     {corev1.Toleration{Key: "a", Operator: corev1.TolerationOpLt, Value: "many"}, `value: operator Lt needs an integer of 64 bits in plain digits: "many"`},
		"leading zero":       {corev1.Toleration{Key: "a", Operator: corev1.TolerationOpLt, Value: "05"}, `value: operator Lt needs an integer of 64 bits in plain digits: "05"`},
		"number without key": {corev1.Toleration{Operator: corev1.TolerationOpLt, Value: "5"}, `key: is missing, which only operator Exists allows`},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if tc.want != "" {
				want = []string{"tolerations[1]." + tc.want}
			}
			assert.Equal(t, want, faultsOfPod(t, func(s *corev1.PodSpec) {
				s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}, tc.toleration}
			}))
		})
	}
}

func TestValidatePodSpread(t *testing.T) {
	honor, wrong := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicy("Perhaps")
	good := corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: "kubernetes.io/hostname", WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: ptr(int32(3)), NodeTaintsPolicy: &honor,
		LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"b"}}, {Key: "a", Operator: metav1.LabelSelectorOpExists},
		}},
	}
	assert.Equal(t, []string{
		`topologySpreadConstraints[1].maxSkew: must be at least 1: "0"`,
		`topologySpreadConstraints[1].topologyKey: is missing`,
		`topologySpreadConstraints[1].whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway`,
		`topologySpreadConstraints[2].labelSelector.matchExpressions[0].operator: must be one of In, NotIn, Exists, DoesNotExist: "Gt"`,
		`topologySpreadConstraints[2].labelSelector.matchExpressions[1].values: operator NotIn needs at least one value`,
		`topologySpreadConstraints[2].labelSelector.matchExpressions[2].values: operator Exists takes no values: "x"`,
		`topologySpreadConstraints[2].labelSelector.matchExpressions[3].key: ` + NotALabelKey,
		`topologySpreadConstraints[2].labelSelector.matchExpressions[4].values[1]: ` + NotALabelValue + `: "b "`,
		`topologySpreadConstraints[2].labelSelector.matchLabels.app: ` + NotALabelValue + `: "a b"`,
		`topologySpreadConstraints[2].minDomains: is allowed with whenUnsatisfiable DoNotSchedule only: "2"`,
		`topologySpreadConstraints[2].nodeAffinityPolicy: must be Honor or Ignore: "Perhaps"`,
		`topologySpreadConstraints[3].minDomains: must be at least 1: "0"`,
		`topologySpreadConstraints[3].topologyKey: ` + NotALabelKey + `: "a b"`,
	}, faultsOfPod(t, func(s *corev1.PodSpec) {
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			good, {},
			{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, MinDomains: ptr(int32(2)), NodeAffinityPolicy: &wrong,
				LabelSelector: &metav1.LabelSelector{
					MatchLabels: map[string]string{"app": "a b"},
					MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: "a", Operator: "Gt", Values: []string{"5"}}, {Key: "a", Operator: metav1.LabelSelectorOpNotIn},
						{Key: "a", Operator: metav1.LabelSelectorOpExists, Values: []string{"x"}}, {Operator: metav1.LabelSelectorOpExists},
						{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b "}},
					},
				}},
			{MaxSkew: 1, TopologyKey: "a b", WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: ptr(int32(0))},
		}
	}))
}

// Several goroutines that read many pods find the same faults as one.
func TestValidateManyPods(t *testing.T) {
	p := &scheduling.Problem{Pods: busyPods(3*PodsPerWorker + 17), Running: []*corev1.Pod{onNode(shopPod("r", quantities("cpu", "-1")))}}
	bad := []int{0, PodsPerWorker - 1, PodsPerWorker, 2*PodsPerWorker + 1, len(p.Pods) - 1}
	for _, i := range bad {
		p.Pods[i].Spec.Overhead = quantities("cpu", "-1")
	}
	p.Pods[7] = nil
	faults := faultsOf(t, problemFaults(p))
	assert.Len(t, faults, len(bad)+2)
	assert.Contains(t, faults, "pods[7]: is nil")
	assert.Contains(t, faults, `running[shop/r].spec.containers[0].resources.requests.cpu: is negative: "-1"`)
	assert.Contains(t, faults, `pods[`+podspec.PodName(p.Pods[len(p.Pods)-1])+`].spec.overhead.cpu: is negative: "-1"`)
}
