package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// claim writes a NodeClaim.
func claim(name, metadata, spec, status string) string {
	return fmt.Sprintf("apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: %s, uid: u, labels: {karpenter.sh/nodepool: general}%s}\nspec: {requirements: [%s]}\nstatus: {%s}\n---\n", name, metadata, spec, status)
}

// Requirements of a claim.
const (
	oneType  = "{key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]}, {key: topology.kubernetes.io/zone, operator: In, values: [a, b]}"
	anyType  = "{key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large, c7i.large]}"
	capacity = "capacity: {cpu: 2}, allocatable: {cpu: 1900m}"
)

func TestNodeClaimsInFlight(t *testing.T) {
	s := read(t, claim("c1", "", oneType, capacity))
	require.Len(t, s.Problem.Nodes, 1)
	n := s.Problem.Nodes[0]
	require.Equal(t, "c1", n.Name)
	require.Equal(t, map[string]string{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m7i.large"}, n.Labels,
		"a requirement with one value is a label, one with several is still open")
	require.Equal(t, "1900m", n.Status.Allocatable.Cpu().String())
	require.Empty(t, s.Warnings)
	require.Len(t, s.NodeClaims, 1)

	s = read(t, claim("c1", "", oneType, "nodeName: ip-1"))
	require.Equal(t, "ip-1", s.Problem.Nodes[0].Name, "pods may name the node before it is seen")
	require.Empty(t, s.Warnings, "the catalog knows what the type has")

	s = read(t, strings.Replace(claim("c1", "", anyType, ""), "spec: {", "spec: {resources: {requests: {cpu: 1500m}}, ", 1))
	require.Equal(t, "1500m", s.Problem.Nodes[0].Status.Allocatable.Cpu().String())
	require.Len(t, s.Warnings, 1)
	require.Equal(t, "NodeClaim/c1", s.Warnings[0].Object)

	s = read(t, claim("c1", ", deletionTimestamp: 2026-01-01T00:00:00Z", oneType, capacity))
	require.NotNil(t, s.Problem.Nodes[0].DeletionTimestamp)
}

func TestNodeClaimsWithNodes(t *testing.T) {
	node := func(rest string) string {
		return "apiVersion: v1\nkind: Node\nmetadata: {name: ip-1, labels: {own: label" + rest + "}}\nspec: {providerID: aws://1, taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}\n---\n"
	}
	tainted := func(status string) string {
		return strings.Replace(claim("c1", "", oneType, status), "spec: {", "spec: {taints: [{key: team, value: a, effect: NoSchedule}], startupTaints: [{key: cilium, effect: NoExecute}], ", 1)
	}
	for name, status := range map[string]string{"by name": "nodeName: ip-1", "by machine": "providerID: aws://1"} {
		t.Run(name, func(t *testing.T) {
			s := read(t, node("")+tainted(status))
			require.Len(t, s.Problem.Nodes, 1)
			n := s.Problem.Nodes[0]
			require.Equal(t, map[string]string{"own": "label", "karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m7i.large"}, n.Labels, "T10")
			require.Len(t, n.Spec.Taints, 1, "T10: the claim's taints hold until the node is registered, and start-up taints go away")
			require.Equal(t, "team", n.Spec.Taints[0].Key)
		})
	}
	s := read(t, node(`, karpenter.sh/registered: "true"`)+tainted("nodeName: ip-1"))
	require.Equal(t, "karpenter.sh/unregistered", s.Problem.Nodes[0].Spec.Taints[0].Key, "once registered the node speaks for itself")

	s = read(t, node(`, karpenter.sh/registered: "true"`)+claim("c1", ", deletionTimestamp: 2026-01-01T00:00:00Z", oneType, "nodeName: ip-1"))
	require.NotNil(t, s.Problem.Nodes[0].DeletionTimestamp, "a node whose claim is being deleted is on its way out")

	s = read(t, "apiVersion: v1\nkind: Node\nmetadata: {name: c1}\n---\n"+claim("c1", "", oneType, ""))
	require.Len(t, s.Problem.Nodes, 1, "a claim without status and its node of the same name are one machine")
}

func TestNodeClaimFaults(t *testing.T) {
	_, err := manifest.Loader{}.Read("c.yaml", strings.NewReader(strings.Replace(claim("c1", "", oneType, "allocatable: {cpu: -1}"), ", uid: u", "", 1)))
	require.EqualError(t, err, "c.yaml: document 1, line 1: NodeClaim c1: status.allocatable.cpu: -1 is negative")
}

func TestNodePools(t *testing.T) {
	s := read(t, `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general, namespace: ignored}
spec:
  template:
    spec:
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      colour: red
  limits: {cpu: 1000}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: older}
spec: {template: {spec: {requirements: []}}, disruption: {expireAfter: 720h}}
`)
	require.Len(t, s.Problem.NodePools, 2)
	require.Equal(t, "general", s.Problem.NodePools[0].Name)
	require.Empty(t, s.Problem.NodePools[0].Namespace)
	require.Equal(t, "720h", s.Problem.NodePools[1].Spec.Template.Spec.ExpireAfter.String())
	require.Len(t, s.Warnings, 1)
	require.Equal(t, "NodePool/general", s.Warnings[0].Object)
	require.Contains(t, s.Warnings[0].Message, "colour")

	pool := func(spec string) string {
		return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec: " + spec + "\n"
	}
	for text, want := range map[string]string{
		pool("{limits: {cpu: lots}}"):                       `p.yaml: document 1, line 1: NodePool general: spec.limits.cpu: "lots" `,
		pool("{weight: heavy}"):                             `p.yaml: document 1, line 1: NodePool general: spec.weight: `,
		pool("{}") + "---\n" + pool("{}"):                   `p.yaml: document 2, line 6: NodePool general: metadata.name: "general" is a duplicate of the one in p.yaml: document 1, line 1`,
		strings.Replace(pool("{}"), "name: general", "", 1): `p.yaml: document 1, line 1: NodePool: metadata.name: is missing`,
	} {
		_, err := manifest.Loader{}.Read("p.yaml", strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
	_, err := manifest.Loader{}.Read("p.yaml", strings.NewReader(pool("{weight: heavy, limits: {cpu: lots}}")))
	require.Len(t, strings.Split(err.Error(), "\n"), 2, "every fault at once")
}

func TestNodeOverlays(t *testing.T) {
	overlay := "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: deal}\nspec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}], priceAdjustment: %q}\n"
	s := read(t, fmt.Sprintf(overlay, "-10%"))
	require.Len(t, s.Overlays, 1)
	require.Equal(t, "-10%", *s.Overlays[0].Spec.PriceAdjustment)
	for _, bad := range []string{"NaN", "ten", "5"} {
		_, err := manifest.Loader{}.Read("o.yaml", strings.NewReader(fmt.Sprintf(overlay, bad)))
		require.ErrorContains(t, err, "o.yaml: document 1, line 1: NodeOverlay deal: spec.priceAdjustment: ")
		require.ErrorContains(t, err, bad)
	}
}

func TestKindsThatDoNotMatterAreSilent(t *testing.T) {
	var text strings.Builder
	for _, k := range []string{
		"v1 ConfigMap", "v1 Secret", "v1 Service", "v1 ServiceAccount", "v1 Endpoints", "v1 Event", "v1 ResourceQuota",
		"rbac.authorization.k8s.io/v1 Role", "rbac.authorization.k8s.io/v1 ClusterRoleBinding", "networking.k8s.io/v1 Ingress",
		"networking.k8s.io/v1 NetworkPolicy", "autoscaling/v2 HorizontalPodAutoscaler", "autoscaling.k8s.io/v1 VerticalPodAutoscaler",
		"karpenter.k8s.aws/v1 EC2NodeClass", "karpenter.azure.com/v1beta1 AKSNodeClass", "karpenter.kwok.sh/v1alpha1 KWOKNodeClass",
		"apiextensions.k8s.io/v1 CustomResourceDefinition", "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
		"apps/v1 ControllerRevision", "coordination.k8s.io/v1 Lease", "discovery.k8s.io/v1 EndpointSlice", "storage.k8s.io/v1 CSIDriver",
		"cert-manager.io/v1 Certificate", "monitoring.coreos.com/v1 ServiceMonitor", "gateway.networking.k8s.io/v1 HTTPRoute",
		"argoproj.io/v1alpha1 AppProject", "networking.istio.io/v1 VirtualService", "security.istio.io/v1 PeerAuthentication",
		"telemetry.istio.io/v1 Telemetry", "kyverno.io/v1 ClusterPolicy", "acme.cert-manager.io/v1 Challenge",
		"resource.k8s.io/v1 ResourceClaim", "resource.k8s.io/v1beta1 ResourceClaimTemplate", "resource.k8s.io/v1 DeviceClass",
		"resource.k8s.io/v1 ResourceSlice", "snapshot.storage.k8s.io/v1 VolumeSnapshot", "custom.metrics.k8s.io/v1beta1 MetricValue",
		"kafka.strimzi.io/v1beta2 KafkaTopic", "external-secrets.io/v1 ExternalSecret", "elbv2.k8s.aws/v1beta1 TargetGroupBinding",
		"extensions/v1beta1 Ingress", "crd.projectcalico.org/v1 IPPool", "cilium.io/v2 CiliumNetworkPolicy", "keda.sh/v1alpha1 ScaledObject", "policy/v1beta1 PodSecurityPolicy", "scheduling.k8s.io/v1 PriorityClass",
		"v1 Namespace", "v1 PersistentVolumeClaim", "v1 PersistentVolume", "storage.k8s.io/v1 StorageClass", "storage.k8s.io/v1 CSINode",
		"policy/v1 PodDisruptionBudget", "v1 LimitRange",
	} {
		version, kind, _ := strings.Cut(k, " ")
		fmt.Fprintf(&text, "apiVersion: %s\nkind: %s\nmetadata: {name: x}\n---\n", version, kind)
	}
	s := read(t, text.String())
	require.Empty(t, s.Warnings)
	require.Empty(t, s.Problem.Pods)
	require.Len(t, s.Problem.Namespaces, 1)
	require.Len(t, s.Problem.Claims, 1)
	require.Len(t, s.Problem.Volumes, 1)
	require.Len(t, s.Problem.StorageClasses, 1)
	require.Len(t, s.Problem.CSINodes, 1)
	require.Len(t, s.Problem.Services, 1)
	require.Len(t, s.PodDisruptionBudgets, 1)
	require.Equal(t, "default", s.PodDisruptionBudgets[0].Namespace)
	require.Empty(t, s.Problem.Namespaces[0].Namespace)
}

func TestUnknownKindsOnRequest(t *testing.T) {
	text := pod("a") + "---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: shop}\n---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: api, namespace: shop}\n"
	s, err := manifest.Loader{IgnoreUnknown: true}.Read("x", strings.NewReader(text))
	require.NoError(t, err)
	require.Len(t, s.Problem.Pods, 1)
	require.Len(t, s.Warnings, 1)
	require.Equal(t, "shop/web", s.Warnings[0].Object)
	require.Equal(t, "kind Rollout is not known and was left out (and 1 more)", s.Warnings[0].Message)
}

func TestUnknownFields(t *testing.T) {
	s := read(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, future: 1}\nspec: {containers: [{name: c}, {name: d, resorces: {}}], nodeSelektor: {a: b}}\nstatus: {future: 1}\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {containers: [{name: c, resorces: {}}]}\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata: {name: c, uid: u}\nspec: {containers: [{name: c}], future: 1}\n")
	var got []string
	for _, w := range s.Warnings {
		got = append(got, w.Object+": "+w.Message)
	}
	require.Equal(t, []string{
		"default/a: field spec.containers[1].resorces is not known for a Pod (did you mean resources?) and was left out (and 1 more)",
		"default/a: field spec.nodeSelektor is not known for a Pod (did you mean nodeSelector?) and was left out",
	}, got, "fields of the server's, and of objects that the server took, are no one's slip")
}

func TestWhatIsOfNoUseIsDropped(t *testing.T) {
	s := read(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a, managedFields: [{manager: kubectl}], annotations: {kubectl.kubernetes.io/last-applied-configuration: long, keep: this}}\nspec: {containers: [{name: c}]}\n")
	require.Empty(t, s.Problem.Pods[0].ManagedFields)
	require.Equal(t, map[string]string{"keep": "this"}, s.Problem.Pods[0].Annotations)
}

// A unit that is off by a billion is taken at its word, but not in silence.
func TestTinyAmountsOfMemory(t *testing.T) {
	s := read(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: {requests: {memory: 128m, cpu: 1m}}}, {name: d, resources: {requests: {memory: 0}}}]}\n")
	require.Len(t, s.Warnings, 1)
	require.Equal(t, "default/a", s.Warnings[0].Object)
	require.Equal(t, "spec.containers[0].resources.requests.memory of 128m is less than a kibibyte: check its unit, m stands for thousandths and Mi for mebibytes", s.Warnings[0].Message)
}

// Versions of which the fields mean the same are read like the present one.
func TestFormerVersions(t *testing.T) {
	pods := "{replicas: 1, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}"
	s := read(t, strings.Join([]string{
		object("extensions/v1beta1", "Deployment", "old", pods),
		object("apps/v1beta1", "Deployment", "older", pods),
		object("apps/v1beta2", "StatefulSet", "set", pods),
		object("extensions/v1beta1", "ReplicaSet", "replicas", pods),
		object("extensions/v1beta1", "DaemonSet", "agent", "{template: {spec: {containers: [{name: c}]}}}"),
		object("batch/v1beta1", "CronJob", "nightly", `{schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}`),
		object("policy/v1beta1", "PodDisruptionBudget", "a", "{maxUnavailable: 1, selector: {matchLabels: {a: b}}}"),
		object("policy/v1beta1", "PodDisruptionBudget", "b", "{maxUnavailable: 1, selector: {}}"),
		object("policy/v1", "PodDisruptionBudget", "c", "{maxUnavailable: 1, selector: {}}"),
	}, "---\n"))
	require.Empty(t, s.Warnings)
	require.Len(t, s.Problem.Pods, 5)
	require.Len(t, s.Problem.DaemonSets, 1)
	require.Len(t, s.PodDisruptionBudgets, 3)
	require.NotNil(t, s.PodDisruptionBudgets[0].Spec.Selector)
	require.Nil(t, s.PodDisruptionBudgets[1].Spec.Selector, "an empty selector of v1beta1 selects nothing")
	require.NotNil(t, s.PodDisruptionBudgets[2].Spec.Selector)

	_, err := manifest.Loader{}.Read("x.yaml", strings.NewReader(
		object("extensions/v1beta1", "Deployment", "web", pods)+"---\n"+object("apps/v1", "Deployment", "web", pods)))
	require.ErrorContains(t, err, "Deployment shop/web: metadata.name: \"web\" is a duplicate of the one in x.yaml: document 1, line 1")
}

// Objects of other controllers whose deployments may be missing in the input are warned of.
func TestControllersThatDeployPodsAreWarnedOf(t *testing.T) {
	s := read(t, object("argoproj.io/v1alpha1", "Application", "a", "{}")+"---\n"+object("argoproj.io/v1alpha1", "Application", "b", "{}")+
		"---\n"+object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "c", "{}"))
	require.Equal(t, []scheduling.Warning{
		{Object: "shop/a", Message: "is of kind Application: the objects that it deploys are planned only if they are in the input, too (and 1 more)"},
		{Object: "shop/c", Message: "is of kind HelmRelease: the objects that it deploys are planned only if they are in the input, too"},
	}, s.Warnings)
}
