package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/former"
)

// reader reads the objects of a kind. Its versions are the API versions whose fields have the same
// meaning, the present one first.
type reader struct {
	versions string // separated by blanks
	read     func(*collector, rawObject)
	// list is the list of a problem that the objects become part of, as its faults name
	// it; "" for none.
	list string
}

// readers are the kinds that are read.
func readers() map[groupKind]reader {
	const namespaced, global = true, false
	const beta, apps = "v1 v1beta1", "v1 v1beta2 v1beta1"
	return map[groupKind]reader{
		{"", "Pod"}:         {"v1", readPod, "pods running"},
		{"", "Node"}:        {"v1", kept(global, func(o *objects) *[]*corev1.Node { return &o.problem.Nodes }, formerPool), "nodes"},
		{"", "PodTemplate"}: {"v1", readPodTemplate, ""},
		{"", "Namespace"}:   {"v1", kept(global, func(o *objects) *[]*corev1.Namespace { return &o.problem.Namespaces }), "namespaces"},
		{"", "ReplicationController"}: {"v1", makes(func(w *workload, o *corev1.ReplicationController) {
			w.replicas, w.template = o.Spec.Replicas, o.Spec.Template
		}), "replicationcontrollers"},
		{"", "LimitRange"}:            {"v1", kept(namespaced, func(o *objects) *[]*corev1.LimitRange { return &o.limitRanges }), ""},
		{"", "ResourceQuota"}:         {"v1", kept(namespaced, func(o *objects) *[]*corev1.ResourceQuota { return &o.quotas }), ""},
		{"", "Service"}:               {"v1", kept(namespaced, func(o *objects) *[]*corev1.Service { return &o.problem.Services }), "services"},
		{"", "PersistentVolumeClaim"}: {"v1", kept(namespaced, func(o *objects) *[]*corev1.PersistentVolumeClaim { return &o.problem.Claims }), "claims"},
		{"", "PersistentVolume"}:      {"v1", kept(global, func(o *objects) *[]*corev1.PersistentVolume { return &o.problem.Volumes }), "volumes"},
		{"apps", "Deployment"}: {apps, makes(func(w *workload, o *appsv1.Deployment) {
			w.replicas, w.selector, w.template = o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template
		}), ""},
		{"apps", "StatefulSet"}: {apps, makes(func(w *workload, o *appsv1.StatefulSet) {
			w.replicas, w.selector, w.template = o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template
		}), "statefulsets"},
		{"apps", "ReplicaSet"}: {apps, makes(func(w *workload, o *appsv1.ReplicaSet) {
			w.replicas, w.selector, w.template = o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template
		}), "replicasets"},
		{"apps", "DaemonSet"}: {apps, makes(func(w *workload, o *appsv1.DaemonSet) {
			w.selector, w.template = o.Spec.Selector, &o.Spec.Template
		}), "daemonsets"},
		{"batch", "Job"}: {"v1", makes(func(w *workload, o *batchv1.Job) {
			w.job, w.template = &o.Spec, &o.Spec.Template
		}), ""},
		{"batch", "CronJob"}: {beta, makes(func(w *workload, o *batchv1.CronJob) {
			w.job, w.template, w.path = &o.Spec.JobTemplate.Spec, &o.Spec.JobTemplate.Spec.Template, "spec.jobTemplate.spec"
		}), ""},
		{"autoscaling", "HorizontalPodAutoscaler"}:     {"v2 v1 v2beta2 v2beta1", kept(namespaced, func(o *objects) *[]*autoscaler { return &o.autoscalers }), ""},
		{bufferGroup, buffers.CapacityBufferKind}:      {"v1beta1 v1alpha1", readCapacityBuffer, ""},
		{"policy", "PodDisruptionBudget"}:              {beta, kept(namespaced, func(o *objects) *[]*policyv1.PodDisruptionBudget { return &o.budgets }, formerBudget), "podDisruptionBudgets"},
		{"scheduling.k8s.io", "PriorityClass"}:         {"v1 v1beta1 v1alpha1", kept(global, func(o *objects) *[]*schedulingv1.PriorityClass { return &o.priorityClasses }), ""},
		{"node.k8s.io", "RuntimeClass"}:                {beta, kept(global, func(o *objects) *[]*nodev1.RuntimeClass { return &o.runtimeClasses }), ""},
		{"storage.k8s.io", "StorageClass"}:             {beta, kept(global, func(o *objects) *[]*storagev1.StorageClass { return &o.problem.StorageClasses }), "storageclasses"},
		{"storage.k8s.io", "CSINode"}:                  {beta, kept(global, func(o *objects) *[]*storagev1.CSINode { return &o.problem.CSINodes }), "csinodes"},
		{schedulerGroup, "KubeSchedulerConfiguration"}: {"v1", readSchedulerConfiguration, ""},
		{karpenterGroup, "NodePool"}:                   {beta, readNodePool, "nodepools"},
		{karpenterGroup, "NodeClaim"}:                  {beta, kept(global, func(o *objects) *[]*NodeClaim { return &o.claims }), "nodes"},
		{karpenterGroup, "Provisioner"}:                {"v1alpha5", readFormer[former.Provisioner], ""},
		{awsGroup, "AWSNodeTemplate"}:                  {"v1alpha1", readFormer[former.NodeTemplate], ""},
		{karpenterGroup, "NodeOverlay"}:                {"v1alpha1", readNodeOverlay, ""},
		{awsGroup, "EC2NodeClass"}:                     {beta, takeClass[ec2.NodeClass](ec2Unread()), ""},
		{ec2.AutoGroup, "NodeClass"}:                   {"v1", takeClass[ec2.AutoNodeClass](autoUnread()), ""},
		{azureGroup, "AKSNodeClass"}:                   {"v1beta1 v1alpha2", takeClass[azure.NodeClass](strings.Fields("spec.imageVersion spec.kubelet spec.linuxOSConfig spec.tags spec.vnetSubnetID")), ""},
		{gcpGroup, "GCENodeClass"}:                     {"v1alpha1", takeClass[gcp.NodeClass](gcpUnread()), ""},
		{gkeGroup, "ComputeClass"}:                     {"v1", readComputeClass, ""},
		{plimsollGroup, "SpotPolicy"}:                  {"v1", kept(global, func(o *objects) *[]*scheduling.SpotPolicy { return &o.problem.SpotPolicies }), "spotpolicies"},
		{kwokGroup, "KWOKNodeClass"}:                   {"v1alpha1", takeClass[kwokNodeClass](nil), ""},
	}
}

// formerPool gives a node the label of its NodePool for that of the Provisioner, which
// Karpenter had in place of NodePools up to version 0.31.
func formerPool(_ rawObject, node *corev1.Node) {
	if pool, ok := node.Labels[former.PoolLabel]; ok && node.Labels[scheduling.NodePoolLabel] == "" {
		node.Labels[scheduling.NodePoolLabel] = pool
	}
}

// formerBudget converts a budget of v1beta1 to its meaning in v1: an empty selector selected no
// pod. In v1 it selects all, and a missing one selects none.
func formerBudget(o rawObject, budget *policyv1.PodDisruptionBudget) {
	if s := budget.Spec.Selector; o.apiVersion == "policy/v1beta1" && s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		budget.Spec.Selector = nil
	}
}

func readPod(c *collector, o rawObject) {
	pod, ok := take(c, o, true, func(pod *corev1.Pod) []fieldFault {
		return checkPod(c.found, qualified(pod), &pod.Spec, "spec")
	})
	if ok {
		c.unread.noteWorkloadRef(o, pod)
		c.objects.pods = append(c.objects.pods, pod)
	}
}

// autoscaler is a HorizontalPodAutoscaler of any version, as far as it bounds the pods
// that there will be at least.
type autoscaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		MinReplicas    *int32 `json:"minReplicas"`
		ScaleTargetRef struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"scaleTargetRef"`

		Behavior                       json.RawMessage `json:"behavior"`
		MaxReplicas                    json.RawMessage `json:"maxReplicas"`
		Metrics                        json.RawMessage `json:"metrics"`
		TargetCPUUtilizationPercentage json.RawMessage `json:"targetCPUUtilizationPercentage"`
	} `json:"spec"`
}

// karpenterGroup is the API group of NodePools.
const karpenterGroup = "karpenter.sh"

// The API groups of node classes that are read.
const (
	awsGroup   = "karpenter.k8s.aws"
	azureGroup = "karpenter.azure.com"
	gcpGroup   = "karpenter.k8s.gcp"
	kwokGroup  = "karpenter.kwok.sh"
)

// plimsollGroup is the API group of the kinds that this project defines.
const plimsollGroup = "plimsoll-go.github.io"

// gkeGroup is the API group of GKE's ComputeClasses.
const gkeGroup = "cloud.google.com"

// schedulerGroup is the API group of kube-scheduler's configuration file.
const schedulerGroup = "kubescheduler.config.k8s.io"

// kustomizeGroup is the API group of kustomize's recipes, which no cluster holds.
const kustomizeGroup = "kustomize.config.k8s.io"

// add takes one object in.
func (c *collector) add(o rawObject) {
	k := o.group()
	_, version := splitVersion(o.apiVersion)
	if now := (groupKind{"apps", k.name}); k.group == "extensions" && c.readers[now].read != nil {
		k, o.apiVersion = now, "apps/"+version // where the kind has moved
	}
	at := func(reason FaultKind, field, value, msg string) {
		c.found.fault(&Fault{At: o.at, Object: refOf(o), Field: field, Value: quote(value), Message: msg, Kind: reason})
	}
	r, read := c.readers[k]
	switch {
	case o.apiVersion == "":
		at(NoObject, "apiVersion", "", "is missing")
	case read && slices.Contains(strings.Fields(r.versions), version):
		r.read(c, o)
	case read:
		at(Invalid, "apiVersion", o.apiVersion, fmt.Sprintf("is not known for %s; known is %s", o.kind, r.apiVersions(k.group)))
	case deploys(k):
		meta := peek(o)
		count(c.unread.deploying, k, warned(o.kind, &meta))
	case irrelevant(k):
	case k.group == kustomizeGroup:
		at(Kustomize, "kind", o.kind, fmt.Sprintf("of %s is not an object of a cluster: run kubectl kustomize and plan its output", o.apiVersion))
	case c.ignoreUnknown:
		meta := peek(o)
		count(c.unread.ignored, k, warned(o.kind, &meta))
	case !isGroup(k.group):
		at(NoObject, "apiVersion", o.apiVersion, "is not of a cluster: groups other than those of Kubernetes are domains")
	default:
		at(UnknownKind, "kind", o.kind, fmt.Sprintf("of %s %s", o.apiVersion, unknownHint(c.readers, k)))
	}
}

// apiVersions names the versions for people, with the group.
func (r reader) apiVersions(group string) string {
	if group == "" {
		return strings.ReplaceAll(r.versions, " ", " or ")
	}
	return group + "/" + strings.ReplaceAll(r.versions, " ", " or "+group+"/")
}

// isGroup says whether a cluster may have an API group: a group that is not built into Kubernetes
// has a dot.
func isGroup(group string) bool {
	return strings.Contains(group, ".") || slices.Contains([]string{"", "apps", "autoscaling", "batch", "extensions", "policy"}, group)
}

// unknownHint is the advice for an unknown kind.
func unknownHint(readers map[groupKind]reader, k groupKind) string {
	if suggest := suggestKind(readers, k); suggest != "" {
		return "is not known" + didYouMean(suggest)
	}
	const without = "; to plan without it, use --ignore-unknown (Loader.IgnoreUnknown)"
	if _, known := podGroups()[k.group]; known {
		return "stands for pods that its operator creates and that the plan would miss: pass the created objects" + without
	}
	return "is not known, and may stand for pods that the plan would miss" + without
}

// suggestKind says which kind was probably meant by one that is not known: one of
// another group, or one that is spelt almost the same. A group that is none of
// Kubernetes's or Karpenter's has kinds of its own.
func suggestKind(readers map[groupKind]reader, k groupKind) string {
	have := slices.SortedFunc(maps.Keys(readers), func(a, b groupKind) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.name, b.name))
	})
	if !slices.ContainsFunc(have, func(h groupKind) bool { return h.group == k.group }) {
		return ""
	}
	name := spelling.Nearest(k.name, lo.Map(have, func(h groupKind, _ int) string { return h.name }))
	for _, h := range have {
		if h.name == name {
			version, _, _ := strings.Cut(readers[h].versions, " ")
			return fmt.Sprintf("kind %s of %s", name, reader{versions: version}.apiVersions(h.group))
		}
	}
	return ""
}
