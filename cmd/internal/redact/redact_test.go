package redact_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/cmd/internal/redact"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// redacted reads YAML, and returns its objects as they leave the house.
func redacted(t *testing.T, text string) string {
	t.Helper()
	var items []redact.Object
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var o redact.Object
		require.NoError(t, yaml.Unmarshal([]byte(doc), &o))
		redact.Strip(o)
		items = append(items, o)
	}
	names := redact.NewNames(items)
	var out strings.Builder
	for _, o := range items {
		text, err := json.Marshal(names.Replace(o))
		require.NoError(t, err)
		out.Write(append(text, '\n'))
	}
	return out.String()
}

// What is of somebody's own does not leave the house, wherever it stands.
func TestNothingOfOnesOwnIsLeft(t *testing.T) {
	got := redacted(t, `
apiVersion: v1
kind: Pod
metadata:
  name: acme-0
  namespace: acme
  uid: acme
  generateName: acme-
  annotations: {acme.com/x: acme, karpenter.sh/do-not-disrupt: "true", kubectl.kubernetes.io/last-applied-configuration: acme, scheduling.k8s.io/group-name: acme}
  labels: {acme: acme, acme.com/team: acme-1, app.kubernetes.io/name: acme, karpenter.sh/nodepool: acme, pod-template-hash: acme}
  ownerReferences: [{apiVersion: acme.com/v1, kind: Acme, name: acme, uid: acme, controller: true}]
  managedFields: [{manager: acme}]
spec:
  hostname: acme
  subdomain: acme
  serviceAccountName: acme
  nodeName: acme.internal
  imagePullSecrets: [{name: acme}]
  nodeSelector: {acme: acme, kubernetes.io/hostname: acme}
  schedulerName: acme
  priorityClassName: acme
  tolerations: [{key: acme, value: acme, effect: NoSchedule}]
  topologySpreadConstraints: [{topologyKey: acme, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [acme], labelSelector: {matchLabels: {acme: acme}}}]
  affinity:
    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: acme.com/acme, operator: In, values: [acme]}], matchFields: [{key: metadata.name, operator: In, values: [acme]}]}]}}
    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, namespaces: [acme], namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: acme}}, labelSelector: {matchExpressions: [{key: acme, operator: Exists}]}}]}
  containers:
  - name: acme
    image: acme
    args: [acme]
    command: [acme]
    workingDir: /acme
    env: [{name: ACME, value: acme}]
    envFrom: [{secretRef: {name: acme}}]
    lifecycle: {preStop: {exec: {command: [acme]}}}
    livenessProbe: {httpGet: {path: /acme, port: acme}}
    ports: [{name: acme, hostPort: 80, containerPort: 80}]
    volumeMounts: [{name: acme, mountPath: /acme, subPath: acme}]
    resources: {requests: {cpu: 1, nvidia.com/gpu: 1}}
  volumes: [{name: acme, configMap: {name: acme}}, {name: acme2, secret: {secretName: acme}}, {name: acme3, hostPath: {path: /acme}}, {name: acme4, persistentVolumeClaim: {claimName: acme}}, {name: acme5, nfs: {server: acme, path: acme}}]
status: {hostIP: 10.11.12.13, podIP: 10.11.12.14, message: acme, phase: Running, conditions: [{type: PodScheduled, status: "True", message: acme}], containerStatuses: [{name: acme, image: acme, imageID: acme, containerID: acme, state: {running: {}}}]}
---
apiVersion: v1
kind: Node
metadata: {name: acme, labels: {kubernetes.io/hostname: acme, eks.amazonaws.com/nodegroup: acme, topology.kubernetes.io/zone: eu-west-1a}}
spec: {providerID: "aws:///eu-west-1a/i-acme", podCIDR: 10.11.0.0/24, taints: [{key: acme.com/a, value: acme, effect: NoSchedule}]}
status: {addresses: [{type: InternalIP, address: 10.11.12.15}], nodeInfo: {machineID: acme}, images: [{names: [acme]}], conditions: [{type: Ready, status: "True", message: acme}, {type: VMEventScheduled, status: "True", message: "Preempt Scheduled: Mon, 02 Mar 2026 19:01:45 GMT."}]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: acme}
spec: {role: acme, userData: acme, tags: {acme: acme}, amiSelectorTerms: [{tags: {acme: acme}}], subnetSelectorTerms: [{tags: {acme: acme}}], blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi, kmsKeyID: acme}}]}
status: {subnets: [{id: subnet-acme, zone: eu-west-1a}], securityGroups: [{id: acme}], instanceProfile: acme}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: acme}
spec: {capacity: {storage: 1Gi}, csi: {driver: ebs.csi.aws.com, volumeHandle: vol-acme, volumeAttributes: {acme: acme}}, claimRef: {name: acme, namespace: acme}, storageClassName: acme}
`)
	lower := strings.ToLower(got)
	require.NotContains(t, lower, "acme", "%s", got)
	require.NotContains(t, lower, "10.11")
	for _, kept := range []string{
		`"karpenter.sh/do-not-disrupt":"true"`, `"nvidia.com/gpu":1`, `"topology.kubernetes.io/zone":"eu-west-1a"`, `"providerID":"aws:///eu-west-1a/`, `"key":"metadata.name"`,
		`"hostPort":80`, "Preempt Scheduled", `"driver":"ebs.csi.aws.com"`, `"volumeSize":"50Gi"`,
	} {
		require.Contains(t, got, kept)
	}
}

// CapacityBuffers keep as much room, for the same workloads.
func TestBuffersStay(t *testing.T) {
	got := redacted(t, `{"kind": "CapacityBuffer", "apiVersion": "autoscaling.x-k8s.io/v1beta1", "metadata": {"name": "acme"}, "spec": {
		"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "acme"}, "percentage": 20, "provisioningStrategy": "buffer.x-k8s.io/active-capacity"}}`)
	var o struct {
		Metadata struct{ Name string }
		Spec     struct {
			ScalableRef          struct{ APIGroup, Kind, Name string }
			Percentage           int
			ProvisioningStrategy string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got), &o))
	require.Equal(t, 20, o.Spec.Percentage)
	require.Equal(t, "buffer.x-k8s.io/active-capacity", o.Spec.ProvisioningStrategy)
	require.Equal(t, []string{"apps", "Deployment", o.Metadata.Name}, []string{o.Spec.ScalableRef.APIGroup, o.Spec.ScalableRef.Kind, o.Spec.ScalableRef.Name})
	require.NotContains(t, got, "acme")
}

// Names that are made of others stay so, and keep their order.
func TestNamesKeepTheirRelations(t *testing.T) {
	objects := []redact.Object{}
	list := []string{"api", "db", "db-0", "db-10", "data-db-0", "web", "web-6d4f", "web-6d4f-x2x", "ip-10-0-0-7.ec2.internal", "default"}
	for _, name := range list {
		objects = append(objects, redact.Object{"metadata": redact.Object{"name": name}})
	}
	names := redact.NewNames(objects)
	got := map[string]string{}
	for i, name := range list {
		got[name] = names.Replace(objects[i])["metadata"].(redact.Object)["name"].(string)
	}
	require.Equal(t, got["db"]+"-0", got["db-0"])
	require.True(t, strings.HasSuffix(got["data-db-0"], "-"+got["db-0"]))
	require.True(t, strings.HasPrefix(got["web-6d4f-x2x"], got["web-6d4f"]+"-"))
	require.NotContains(t, got["ip-10-0-0-7.ec2.internal"], "7")
	require.Equal(t, "default", got["default"])
	require.Less(t, got["api"], got["db"])
	require.Less(t, got["db"], got["web"])
}

// Whatever an object holds, it can be redacted, and doing so twice changes nothing.
func FuzzRedact(f *testing.F) {
	f.Add(`{"kind": "Pod", "metadata": {"name": "a-0", "labels": {"a": 1}, "annotations": [], "ownerReferences": [{}, null, 3]}, "spec": {"nodeSelector": null}}`)
	f.Add(`{"spec": {"drivers": [1, {"name": 2}], "labels": "x", "matchLabels": {"a": ["b"]}, "key": 5, "values": [["x"]], "providerID": "a://b/c"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var o redact.Object
		if json.Unmarshal([]byte(text), &o) != nil || o == nil {
			return
		}
		redact.Strip(o)
		once := redact.NewNames([]redact.Object{o}).Replace(o)
		twice := redact.NewNames([]redact.Object{once}).Replace(once)
		require.Equal(t, once, twice)
	})
}

// documents are a cluster's objects as manifests.
func documents(t *testing.T, c disruption.Cluster) string {
	t.Helper()
	versions := map[string]string{
		"StatefulSet": "apps/v1", "ReplicaSet": "apps/v1", "DaemonSet": "apps/v1", "StorageClass": "storage.k8s.io/v1", "CSINode": "storage.k8s.io/v1",
		"NodePool": "karpenter.sh/v1", "PodDisruptionBudget": "policy/v1",
	}
	var out []string
	add := func(object any) {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		var o redact.Object
		require.NoError(t, json.Unmarshal(text, &o))
		kind := reflect.TypeOf(object).Elem().Name()
		o["kind"], o["apiVersion"] = kind, "v1"
		if v := versions[kind]; v != "" {
			o["apiVersion"] = v
		}
		text, err = json.Marshal(o)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	for _, pod := range slices.Concat(c.Pods, c.Running) {
		add(pod)
	}
	for _, list := range []any{c.Nodes, c.NodePools, c.DaemonSets, c.PodDisruptionBudgets, schedulingtest.Objects(&c.Problem)} {
		for i := range reflect.ValueOf(list).Len() {
			add(reflect.ValueOf(list).Index(i).Interface())
		}
	}
	return strings.Join(out, "\n---\n")
}

// A plan of what has left the house buys the same as one of what has stayed.
func TestPlansStayTheSame(t *testing.T) {
	for seed := range soak.Cases(25) {
		c := schedulingtest.RandomCluster(seed)
		text := documents(t, c)
		plan := func(text string) (*scheduling.Plan, error) {
			s, err := manifest.Loader{}.Read("dump", strings.NewReader(text))
			if err != nil {
				return nil, fmt.Errorf("seed %d: %w", seed, err)
			}
			require.NoError(t, s.SetCatalog(c.Catalog))
			s.Problem.Now = c.Now
			return provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), s.Problem)
		}
		want, err := plan(text)
		require.NoError(t, err)
		got, err := plan(redacted(t, text))
		require.NoError(t, err)
		require.Equal(t, want.Summary.PricePerHour, got.Summary.PricePerHour, "seed %d", seed)
		require.Equal(t, want.Summary.LowerBoundPerHour, got.Summary.LowerBoundPerHour, "seed %d", seed)
		require.Equal(t, want.Summary.Placed, got.Summary.Placed, "seed %d", seed)
		require.Len(t, got.Existing, len(want.Existing), "seed %d", seed)
	}
}
