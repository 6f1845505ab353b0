package manifest_test

import (
	"strings"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// buffer is a CapacityBuffer with a specification.
func buffer(spec string) string {
	return object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "spare", spec)
}

// A CapacityBuffer comes to the larger of replicas and percentage, as far as its limits hold the pods, and to as many as the
// limits hold where it states neither.
func TestCapacityBuffers(t *testing.T) {
	const workload = "scalableRef: {kind: Deployment, name: web}"
	const ref = "podTemplateRef: {name: piece}"
	input := object("apps/v1", "Deployment", "web", "{replicas: 7, "+template+"}") +
		strings.Replace(object("v1", "PodTemplate", "piece", ""), "spec: ", template, 1) +
		object("batch/v1", "Job", "import", "{parallelism: 10, "+jobSpec+"}")
	for spec, want := range map[string]int{
		"{" + ref + ", replicas: 3}":                                                             3,
		"{" + ref + ", limits: {cpu: 450m}}":                                                     4,
		"{" + ref + ", replicas: 3, limits: {cpu: 250m, memory: 1}}":                             2,
		"{" + ref + ", replicas: 3, limits: {cpu: 250m, memory: 20Pi}}":                          2,
		"{" + workload + ", percentage: 20}":                                                     2,
		"{" + workload + ", percentage: 0}":                                                      0,
		"{" + workload + ", percentage: 20, replicas: 5}":                                        5,
		"{" + workload + ", percentage: 100, replicas: 5, limits: {cpu: 600m}}":                  6,
		"{" + ref + ", replicas: 0, limits: {cpu: 1m}}":                                          0,
		"{scalableRef: {apiGroup: batch, kind: Job, name: import}, percentage: 15}":              2,
		"{" + workload + ", replicas: 2, provisioningStrategy: buffer.x-k8s.io/active-capacity}": 2,
	} {
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			s := read(t, strings.Replace(input+buffer(spec), "x-k8s.io/v1beta1", "x-k8s.io/"+version, 1))
			virtual := lo.Filter(s.Problem.Pods, func(pod *corev1.Pod, _ int) bool { return scheduling.IsVirtual(pod) })
			require.Len(t, virtual, want, spec)
			require.Len(t, s.Problem.Pods, 17+want)
			require.Empty(t, s.Warnings, spec)
			for _, pod := range virtual {
				require.Equal(t, "shop/spare", s.Workload(scheduling.PodName(pod)))
			}
		}
	}
}

// A warning names each buffer that keeps no room, although it does not state 0, with the field and the value, and each percentage
// without effect.
func TestCapacityBuffersWithoutRoom(t *testing.T) {
	input := object("apps/v1", "Deployment", "web", "{replicas: 7, "+template+"}") + object("apps/v1", "Deployment", "none", "{replicas: 0, "+template+"}") +
		strings.Replace(object("v1", "PodTemplate", "piece", ""), "spec: ", template, 1)
	const ref = "podTemplateRef: {name: piece}"
	const workload = "scalableRef: {kind: Deployment, name: web}"
	for spec, want := range map[string]string{
		"{podTemplateRef: {name: x}, replicas: 1}":                                   "spec.podTemplateRef.name: PodTemplate x is not in the input",
		"{scalableRef: {kind: Rollout, name: web}, replicas: 1}":                     "spec.scalableRef: Rollout web is not in the input",
		"{scalableRef: {apiGroup: batch, kind: Deployment, name: web}, replicas: 1}": "spec.scalableRef: Deployment web is not in the input",
		"{replicas: 1}": "spec.scalableRef: is missing, and so is podTemplateRef",
		"{" + workload + ", replicas: 1, provisioningStrategy: buffer.x/standby}": "spec.provisioningStrategy: buffer.x/standby is not buffer.x-k8s.io/active-capacity",
		"{" + ref + ", limits: {cpu: 99m}}":                                       "spec.limits.cpu: 99m is less than one pod requests, 100m",
		"{" + ref + ", replicas: 3, limits: {cpu: 99m, memory: 1Gi}}":             "spec.limits.cpu: 99m is less than one pod requests, 100m",
		"{" + ref + ", limits: {memory: 1Gi}}":                                    `spec.limits: {"memory":"1Gi"} limit resources that its pods do not request, and replicas is missing`,
		"{" + workload + "}":                                                      "spec.replicas: is missing, and so are percentage and limits",
		"{scalableRef: {kind: Deployment, name: none}, percentage: 20}":           "spec.percentage: 20 is a share of the replicas of Deployment none, and it has none",
	} {
		s := read(t, input+buffer(spec))
		require.Len(t, s.Problem.Pods, 7, spec)
		require.Len(t, s.Warnings, 1, spec)
		require.Equal(t, "shop/spare", s.Warnings[0].Object)
		require.Contains(t, s.Warnings[0].Message, "the CapacityBuffer keeps no room: "+want)
	}
	s := read(t, input+buffer("{"+ref+", replicas: 2, percentage: 30}"))
	require.Len(t, s.Problem.Pods, 9)
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0].Message, "spec.percentage of the CapacityBuffer, 30, has no effect")
}

// The faults are those that the API server would refuse.
func TestFaultsOfCapacityBuffers(t *testing.T) {
	for spec, want := range map[string]string{
		"{podTemplateRef: {name: x}, scalableRef: {kind: A, name: b}}": `spec.scalableRef: {"apiGroup":"","kind":"A","name":"b"} stands beside podTemplateRef`,
		"{podTemplateRef: {name: x}}":                                  "spec.replicas: is missing: a buffer with podTemplateRef has replicas or limits",
		"{podTemplateRef: {}, replicas: 1}":                            "spec.podTemplateRef.name: is missing",
		"{scalableRef: {name: b}}":                                     "spec.scalableRef.kind: is missing",
		"{scalableRef: {kind: A}}":                                     "spec.scalableRef.name: is missing",
		"{replicas: -1}":                                               "spec.replicas: -1 is negative",
		"{percentage: -1}":                                             "spec.percentage: -1 is negative",
		"{limits: {cpu: -1}}":                                          "spec.limits.cpu: -1 is negative",
		"{limits: {cpu: much}}":                                        "spec.limits",
		"{replicas: 600000, scalableRef: {kind: Deployment, name: w}}": "spec.replicas: 600000 more pods would make more than 500000 in all",
	} {
		input := object("apps/v1", "Deployment", "w", "{replicas: 1, "+template+"}") + buffer(spec)
		_, err := manifest.Loader{}.Read("x.yaml", strings.NewReader(input))
		require.ErrorContains(t, err, want, spec)
		require.ErrorContains(t, err, "CapacityBuffer shop/spare: ")
	}
}
