package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// locate reads text, has its problem validated and returns the faults with their places.
func locate(t *testing.T, text string) error {
	t.Helper()
	s, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(text))
	if err == nil {
		err = s.Locate(provisioning.Validate(&s.Problem))
	}
	require.Error(t, err)
	return err
}

// Faults that the validation of a problem finds have their place in the input. A fault of a template is reported once,
// at the workload, however many pods it makes.
func TestLocate(t *testing.T) {
	template := "{metadata: {labels: {a: b}}, spec: {tolerations: [{key: k, operator: Equals}], containers: [{name: c}]}}"
	const fault = `tolerations[0].operator: must be one of Equal, Exists, Lt, Gt: "Equals"`
	for name, tt := range map[string]struct{ text, want string }{
		"Pod": {
			"# first\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a.b, namespace: shop}\nspec: {tolerations: [{key: k, operator: Equals}], containers: [{name: c}]}\n",
			"test.yaml: document 1, line 3: Pod shop/a.b: spec." + fault,
		},
		"a Pod that runs": {
			"apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeName: node-1, tolerations: [{key: k, operator: Equals}], containers: [{name: c}]}\n",
			"test.yaml: document 2, line 5: Pod default/a: spec." + fault,
		},
		"Pod in JSON": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}],"tolerations":[{"key":"k","operator":"Equals"}]}}]}`,
			"test.yaml: document 1, items[0]: Pod default/a: spec." + fault,
		},
		"Deployment": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 9, selector: {matchLabels: {a: b}}, template: " + template + "}\n",
			"test.yaml: document 1, line 1: Deployment default/web: spec.template.spec." + fault,
		},
		"StatefulSet": {
			"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: " + template + "}\n",
			"test.yaml: document 1, line 1: StatefulSet default/db: spec.template.spec." + fault,
		},
		"ReplicaSet": {
			"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {replicas: 3, selector: {matchLabels: {a: b}}, template: " + template + "}\n",
			"test.yaml: document 1, line 1: ReplicaSet default/web: spec.template.spec." + fault,
		},
		"ReplicationController": {
			"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: old}\nspec: {replicas: 3, template: " + template + "}\n",
			"test.yaml: document 1, line 1: ReplicationController default/old: spec.template.spec." + fault,
		},
		"Job": {
			"apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {parallelism: 3, template: " + template + "}\n",
			"test.yaml: document 1, line 1: Job default/once: spec.template.spec." + fault,
		},
		"CronJob": {
			"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {jobTemplate: {spec: {parallelism: 3, template: " + template + "}}}\n",
			"test.yaml: document 1, line 1: CronJob default/nightly: spec.jobTemplate.spec.template.spec." + fault,
		},
		"DaemonSet": {
			"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: log}\nspec: {selector: {matchLabels: {a: b}}, template: " + template + "}\n",
			"test.yaml: document 1, line 1: DaemonSet default/log: spec.template.spec." + fault,
		},
		"NodePool": {
			"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {weight: 101, limits: {}, template: {spec: {requirements: [{key: a, operator: In}]}}}\n",
			"test.yaml: document 1, line 1: NodePool general: spec.template.spec.requirements[0].values: label \"a\": operator In needs at least one value\n" +
				`test.yaml: document 1, line 1: NodePool general: spec.weight: must lie between 1 and 100, or be absent: "101"`,
		},
		"a claim of a StatefulSet stands nowhere": {
			"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {selector: {matchLabels: {a: b}}, template: " + strings.Replace(template, "Equals", "Exists", 1) +
				", volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [Sometimes]}}]}\n",
			`claims[default/data-db-0].spec.accessModes[0]: `,
		},
		"neither does a catalog": {
			pod("a") + "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: {template: {spec: {}}}\n",
			"catalog: is empty: it has no offering of any instance type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Objects that the API server has accepted are not checked before the problem is validated.
			taken := strings.NewReplacer("metadata: {name", "metadata: {uid: u, name", `"metadata":{`, `"metadata":{"uid":"u",`).Replace(tt.text)
			for _, text := range []string{tt.text, taken} {
				err := locate(t, text)
				require.ErrorIs(t, err, scheduling.ErrInvalid)
				if strings.HasSuffix(tt.want, ": ") {
					require.Contains(t, err.Error(), tt.want)
					continue
				}
				require.EqualError(t, err, tt.want)
				var cause *scheduling.FieldError
				require.ErrorAs(t, err, &cause)
				require.NotEmpty(t, cause.Path)
			}
		})
	}
}

// Every list of a problem that can have a fault is found in the input, by the names that
// paths give to lists.
func TestLocateEveryKind(t *testing.T) {
	for list, object := range map[string]string{
		"pods[shop/x]": "v1 Pod", "running[shop/x]": "v1 Pod", "nodes[x]": "v1 Node", "nodepools[x]": "karpenter.sh/v1 NodePool",
		"daemonsets[shop/x]": "apps/v1 DaemonSet", "claims[shop/x]": "v1 PersistentVolumeClaim", "volumes[x]": "v1 PersistentVolume",
		"storageclasses[x]": "storage.k8s.io/v1 StorageClass", "csinodes[x]": "storage.k8s.io/v1 CSINode", "namespaces[x]": "v1 Namespace",
		"services[shop/x]": "v1 Service", "replicationcontrollers[shop/x]": "v1 ReplicationController", "replicasets[shop/x]": "apps/v1 ReplicaSet",
		"statefulsets[shop/x]": "apps/v1 StatefulSet", "podDisruptionBudgets[shop/x]": "policy/v1 PodDisruptionBudget",
	} {
		version, kind, _ := strings.Cut(object, " ")
		namespace := ""
		if strings.Contains(list, "/") {
			namespace = "namespace: shop, "
		}
		spec := "spec: {containers: [{name: c}], replicas: 0, selector: {}, template: {spec: {containers: [{name: c}]}}}"
		if kind == "ReplicationController" || kind == "Service" {
			spec = strings.Replace(spec, "selector: {}, ", "", 1)
		}
		s, err := manifest.Loader{}.Read("test.yaml", strings.NewReader("apiVersion: "+version+"\nkind: "+kind+"\nmetadata: {"+namespace+"name: x}\n"+spec+"\n"))
		require.NoError(t, err, list)
		located := s.Locate(&scheduling.FieldErrors{Errors: []*scheduling.FieldError{{Path: list + ".spec.y", Message: "is odd"}}})
		name := strings.TrimSuffix(list[strings.Index(list, "[")+1:], "]")
		require.EqualError(t, located, "test.yaml: document 1, line 1: "+kind+" "+name+": spec.y: is odd")
	}
}

// Pods of one name and several workloads of another are told apart by who owns the pods.
func TestLocateTellsWorkloadsOfOneNameApart(t *testing.T) {
	err := locate(t, `apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {tolerations: [{operator: Never}], containers: [{name: c}]}}}
`)
	var f *manifest.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, "StatefulSet default/web", f.Object)
	require.Equal(t, 2, f.At.Document)
}

func TestLocateLeavesOtherErrorsAlone(t *testing.T) {
	s, err := manifest.Loader{}.Read("test.yaml", strings.NewReader(pod("a")))
	require.NoError(t, err)
	require.NoError(t, s.Locate(nil))
	other := errors.New("other")
	require.Same(t, other, s.Locate(other))
	unnamed := &scheduling.FieldErrors{Errors: []*scheduling.FieldError{{Path: "pods[7", Message: "is odd"}, {Path: "pods[shop/gone].spec", Value: "x", Message: "is odd"}}}
	require.EqualError(t, s.Locate(unnamed), "pods[7: is odd\npods[shop/gone].spec: is odd: \"x\"")
	_, err = manifest.Loader{}.Read("test.yaml", strings.NewReader("kind: Pod\n"))
	var f *manifest.Fault
	require.ErrorAs(t, err, &f)
	require.NoError(t, f.Unwrap())
}
