package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// advised is a cluster with a pod that has no place, and the first change that is proposed.
type advised struct {
	cluster string
	args    []string
	want    string
}

// What would place a pod is said as somebody does it.
func TestAdviceIsWhatSomebodyDoes(t *testing.T) {
	const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}
---
`
	static := strings.Replace(pool, "spec: {", "spec: {replicas: 1, ", 1)
	const stored = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: ebs, accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
---
`
	const class = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ebs}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-east-1a]}]}]
---
`
	const local = `apiVersion: v1
kind: PersistentVolume
metadata: {name: local-1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: ebs
  local: {path: /mnt/data}
  claimRef: {name: data, namespace: default}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [lost]}]}]}}
status: {phase: Bound}
---
`
	bound := strings.ReplaceAll(stored, "spec: {", "status: {phase: Bound}\nspec: {volumeName: local-1, ")
	zones := strings.ReplaceAll(class, "us-east-1a", "us-east-1b")
	spread := func(policy string) string {
		return "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, " + policy + " labelSelector: {matchLabels: {app: web}}}],"
	}
	const volume = "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}],"
	catalog := []string{"--catalog", "ec2/us-east-1"}
	for name, c := range map[string]advised{
		"a cordoned node": {
			advisedNode("n1", "us-east-1b", "unschedulable: true", "") + advisedPod("web", "500m", ""), append(catalog, "--group-size", "self-managed-m6i.large=1:1"),
			"uncordon node n1",
		},
		"a node that is not ready": {
			advisedNode("n1", "us-east-1b", "taints: [{key: node.kubernetes.io/unreachable, effect: NoSchedule}, {key: node.kubernetes.io/unreachable, effect: NoExecute}]", "") + advisedPod("web", "500m", ""),
			append(catalog, "--group-size", "self-managed-m6i.large=1:1"), "repair node n1, or wait until it no longer has the taint node.kubernetes.io/unreachable",
		},
		"a storage class": {
			pool + class + stored + advisedPod("web", "500m", volume), catalog,
			"let storage class ebs make volumes elsewhere as well (allowedTopologies), such as in us-east-1b",
		},
		"a local volume that is made again": {
			pool + zones + local + bound + advisedPod("web", "500m", volume), catalog,
			"delete persistent volume claim default/data, so that it is made again: node lost has gone with its volume local-1",
		},
		"a local volume of nobody": {
			pool + local + bound + advisedPod("web", "500m", volume), catalog,
			"bring node lost back, which has gone with volume local-1, or give persistent volume claim default/data a volume elsewhere",
		},
		"a spread over tainted nodes": {
			pool + advisedNode("n1", "us-east-1a", "taints: [{key: dedicated, value: db, effect: NoSchedule}]", "") + advisedNode("n2", "us-east-1b", "", "") +
				advisedPod("web-0", "500m", "nodeName: n2,") + advisedPod("web-1", "500m", spread("")), catalog,
			"nodeTaintsPolicy: Honor over topology.kubernetes.io/zone would help: nodes with taints that the pod does not tolerate are not counted then",
		},
		"a spread over nodes of others": {
			pool + advisedNode("n1", "us-east-1a", "", "") + advisedNode("n2", "us-east-1b", "", "team: web") +
				advisedPod("web-0", "500m", "nodeName: n2,") + advisedPod("web-1", "500m", "nodeSelector: {team: web},"+spread("nodeAffinityPolicy: Ignore,")), catalog,
			"nodeAffinityPolicy: Honor over topology.kubernetes.io/zone would help: nodes that its node selector or affinity excludes are not counted then",
		},
		"a static NodePool": {
			static + advisedNode("n1", "us-east-1b", "", "karpenter.sh/nodepool: general") + advisedPod("web-0", "1900m", "") + advisedPod("web-1", "1900m", "") + advisedPod("web-2", "1900m", ""), catalog,
			"raise the replicas of the static NodePool general to 3",
		},
		"a node group": {
			advisedNode("n1", "us-east-1b", "", "eks.amazonaws.com/nodegroup: workers") + advisedPod("web-0", "1900m", "") + advisedPod("web-1", "1900m", "") + advisedPod("web-2", "1900m", ""),
			append(catalog, "--group-size", "workers=1:1"), "raise the maximum size of node group workers to 3 (--group-size workers=1:3)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, append([]string{"plan", "--effort", "fast", "-f", temp(t, "cluster.yaml", c.cluster)}, c.args...)...)
			require.Equal(t, exitUnschedulable, r.code, "%s%s", r.stdout, r.stderr)
			assert.Contains(t, r.stdout, "fix: "+c.want+"\n")
		})
	}
}

// advisedNode is a node of two cores.
func advisedNode(name, zone, spec, labels string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Node
metadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s, kubernetes.io/os: linux, kubernetes.io/arch: amd64, topology.kubernetes.io/zone: %[2]s, node.kubernetes.io/instance-type: m6i.large, %[4]s}}
spec: {%[3]s}
status: {allocatable: {cpu: "2", memory: 7Gi, pods: "29"}, capacity: {cpu: "2", memory: 8Gi, pods: "29"}, conditions: [{type: Ready, status: "True"}]}
---
`, name, zone, spec, labels)
}

// advisedPod is a pod of a workload.
func advisedPod(name, cpu, spec string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: web, controller: true}]}
spec: {%s containers: [{name: c, resources: {requests: {cpu: %s, memory: 1Gi}}}]}
---
`, name, spec, cpu)
}
