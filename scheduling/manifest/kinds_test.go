package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Every kind that holds a pod template has its faults told with the path that leads
// there.
func TestFaultsInTemplates(t *testing.T) {
	bad := "{containers: [{name: c, resources: {requests: {cpu: -1}, limits: {memory: -5}}, ports: [{hostPort: -1}]}, {name: c}], " +
		"initContainers: [{name: i, resources: {limits: {cpu: -2}}}], overhead: {cpu: -3}, resources: {requests: {memory: -4}}, " +
		"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In}]}}]}}}"
	want := []string{
		"containers[0].resources.limits.memory: -5 is negative",
		"containers[0].resources.requests.cpu: -1 is negative",
		"initContainers[0].resources.limits.cpu: -2 is negative",
		"overhead.cpu: -3 is negative",
		"resources.requests.memory: -4 is negative",
		`containers[1].name: "c" is a duplicate of another container's`,
		"affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: ",
		`containers[0].ports[0].hostPort: must lie between 0 and 65535: "-1"`,
	}
	for kind, tt := range map[string]struct{ text, path string }{
		"Pod":                   {"apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}\nspec: " + bad, "spec."},
		"Deployment":            {object("apps/v1", "Deployment", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"StatefulSet":           {object("apps/v1", "StatefulSet", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"ReplicaSet":            {object("apps/v1", "ReplicaSet", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"ReplicationController": {object("v1", "ReplicationController", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"DaemonSet":             {object("apps/v1", "DaemonSet", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"Job":                   {object("batch/v1", "Job", "x", "{template: {spec: "+bad+"}}"), "spec.template.spec."},
		"CronJob":               {object("batch/v1", "CronJob", "x", "{schedule: \"* * * * *\", jobTemplate: {spec: {template: {spec: "+bad+"}}}}"), "spec.jobTemplate.spec.template.spec."},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, err := manifest.Loader{}.Read("x.yaml", strings.NewReader(tt.text))
			require.Nil(t, s)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(want), err.Error())
			for i, line := range lines {
				prefix := fmt.Sprintf("x.yaml: document 1, line 1: %s shop/x: %s%s", kind, tt.path, want[i])
				require.True(t, strings.HasPrefix(line, prefix), "%s\nshould begin with\n%s", line, prefix)
			}
		})
	}
}

// Each kind has faults of its own.
func TestFaultsOfKinds(t *testing.T) {
	containers := "template: {spec: {containers: [{name: c}]}}"
	for text, want := range map[string]string{
		object("apps/v1", "StatefulSet", "x", "{ordinals: {start: -1}, "+containers+"}"):                                      "StatefulSet shop/x: spec.ordinals.start: -1 is negative",
		object("apps/v1", "StatefulSet", "x", "{replicas: -5, "+containers+"}"):                                               "StatefulSet shop/x: spec.replicas: -5 is negative",
		object("apps/v1", "ReplicaSet", "x", "{replicas: -5, "+containers+"}"):                                                "ReplicaSet shop/x: spec.replicas: -5 is negative",
		object("v1", "ReplicationController", "x", "{replicas: -5, "+containers+"}"):                                          "ReplicationController shop/x: spec.replicas: -5 is negative",
		object("v1", "ReplicationController", "x", "{replicas: 1}"):                                                           "ReplicationController shop/x: spec.template: is missing",
		object("batch/v1", "Job", "x", "{parallelism: -5, "+containers+"}"):                                                   "Job shop/x: spec.parallelism: -5 is negative",
		object("batch/v1", "Job", "x", "{completions: -5, "+containers+"}"):                                                   "Job shop/x: spec.completions: -5 is negative",
		object("batch/v1", "CronJob", "x", "{jobTemplate: {spec: {parallelism: -5, "+containers+"}}}"):                        "CronJob shop/x: spec.jobTemplate.spec.parallelism: -5 is negative",
		object("apps/v1", "DaemonSet", "x", "{selector: {matchLabels: {a: b}}, "+containers+"}"):                              `DaemonSet shop/x: spec.selector: {"matchLabels":{"a":"b"}} contradicts the labels in spec.template.metadata.labels`,
		object("apps/v1", "Deployment", "x", "{selector: {matchExpressions: [{key: a, operator: Near}]}, "+containers+"}"):    `Deployment shop/x: spec.selector: {"matchExpressions":[{"key":"a","operator":"Near"}]} is no selector: `,
		object("batch/v1", "Job", "x", "{parallelism: 600000, "+containers+"}"):                                               "Job shop/x: spec.parallelism: 600000 more pods would make more than 500000 in all",
		object("batch/v1", "Job", "x", "{parallelism: 600000, completions: 600000, completionMode: Indexed, "+containers+"}"): "Job shop/x: spec.parallelism: 600000 more pods would make more than 500000 in all",
		object("apps/v1", "StatefulSet", "x", "{replicas: 600000, "+containers+"}"):                                           "StatefulSet shop/x: spec.replicas: 600000 more pods would make more than 500000 in all",
		object("v1", "LimitRange", "x", "{limits: [{type: Container, default: {cpu: -1}}]}"):                                  "LimitRange shop/x: spec.limits[0].default.cpu: -1 is negative",
		object("v1", "LimitRange", "x", "{limits: [{type: Container}, {type: Pod, max: {memory: -9Gi}}]}"):                    `LimitRange shop/x: spec.limits[1].max.memory: "-9Gi" is negative`,
		"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: x}\nhandler: h\noverhead: {podFixed: {cpu: -1}}\n":  "RuntimeClass x: overhead.podFixed.cpu: -1 is negative",
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: x}\nvalue: high\n":                           `PriorityClass x: value: "high" is not a whole number of 32 bits`,
		"apiVersion: v1\nkind: Node\nmetadata: {name: x}\nstatus: {capacity: {pods: 1.5}}\n":                                  "Node x: status.capacity.pods: 1.5 is not a whole number",
		"apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: x}\nspec: {resources: {requests: {cpu: -1}}}\n":       "NodeClaim x: spec.resources.requests.cpu: -1 is negative",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {maxUnavailable: {}}\n":                 `PodDisruptionBudget x: spec.maxUnavailable: {} is not a number and not a text such as "10%"`,
		"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: x}\nprovisioner: 1\n":                            "StorageClass x: provisioner: 1 is not text: put it into quotes",
		"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n":                             `Kustomization: kind: "Kustomization" of kustomize.config.k8s.io/v1beta1 is not an object of a cluster: run kubectl kustomize and plan its output`,
		"apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: {name: x}\n":                                                `ScaledJob x: kind: "ScaledJob" of keda.sh/v1alpha1 stands for pods that its operator creates`,
		"apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {generateName: x-}\n":                              `Prometheus x-: kind: "Prometheus" of monitoring.coreos.com/v1 stands for pods that its operator creates`,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\nspec: {containers: [{name: c}]}\n":                                   "Pod 5: metadata.name: 5 is not text: put it into quotes",
		"apiVersion: v1\nkind: Pod\nmetadata: nothing\nspec: {containers: [{name: c}]}\n":                                     `Pod: metadata: "nothing" is not an object`,
	} {
		s, err := manifest.Loader{}.Read("x.yaml", strings.NewReader(text))
		require.Nil(t, s)
		require.Error(t, err, text)
		require.True(t, strings.HasPrefix(err.Error(), "x.yaml: document 1, line 1: "+want), err.Error())
		require.NotContains(t, err.Error(), "\n", "one fault, one line")
	}
}
