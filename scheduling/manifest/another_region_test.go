package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// The same pods can be planned for another region, with their volumes and node classes.
func TestAnewIsAnotherPlace(t *testing.T) {
	s, err := manifest.Loader{}.Read("dump", strings.NewReader(`
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: us-east-1a, node.kubernetes.io/instance-type: m5.large, karpenter.sh/nodepool: general, karpenter.sh/capacity-type: on-demand}}
status: {allocatable: {cpu: 2, memory: 7Gi, pods: 29}, capacity: {cpu: 2, memory: 8Gi, pods: 29}}
---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c},
  requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]}}}}
---
{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, spec: {amiSelectorTerms: [{alias: al2023@latest}]}, status: {subnets: [{id: s, zone: us-east-1a}]}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ssd}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer,
  allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-east-1a]}]}]}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: ssd, csi: {driver: ebs.csi.aws.com, volumeHandle: h},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: v, storageClassName: ssd, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db, uid: u}, spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: c, resources: {requests: {cpu: 1}}}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: agent, uid: w, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, controller: true, uid: x}]}, spec: {nodeName: n1, containers: [{name: c}]}, status: {phase: Running}}
`))
	require.NoError(t, err)
	s.InAnotherRegion()
	require.NoError(t, s.SetCatalog(ec2.MustCatalog("eu-north-1")))
	require.Empty(t, s.Problem.Nodes)
	plan, err := provisioning.Planner{}.Plan(t.Context(), s.Problem)
	require.NoError(t, err)
	require.Empty(t, plan.Unschedulable)
	require.Equal(t, []string{"default/db"}, plan.Launches[0].Pods, "pods of DaemonSets do not wait")
	require.Contains(t, plan.Launches[0].Options[0].Zone, "eu-north-1")
}
