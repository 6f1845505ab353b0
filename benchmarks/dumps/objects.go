package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// uid is one of an object, the same whenever it is made.
func uid(parts ...string) types.UID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return types.UID(fmt.Sprintf("%x-%x-4%x-a%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:36])
}

// suffix returns the n random-looking characters that controllers append to names. The same parts give the same suffix.
func suffix(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

// add adds an object to the dump. Objects that have no JSON are left out, and noted in err.
func (c *cluster) add(apiVersion, kind string, object metav1.Object) {
	if t := object.GetCreationTimestamp(); t.IsZero() {
		object.SetCreationTimestamp(c.between(600, 5000))
	}
	object.SetUID(uid(kind, object.GetNamespace(), object.GetName()))
	data, err := json.Marshal(object)
	var item map[string]any
	if err == nil {
		err = json.Unmarshal(data, &item)
	}
	if err != nil {
		c.err = errors.Join(c.err, fmt.Errorf("%s %s: %w", kind, object.GetName(), err))
		return
	}
	item["apiVersion"], item["kind"] = apiVersion, kind
	c.items = append(c.items, item)
}

// newHost is a node as the kubelet and the cloud's controllers present it.
func (c *cluster) newHost(i int, g *group, n *corev1.Node, zone string) *host {
	labels := map[string]string{}
	for key, value := range n.Labels {
		if c.rename != nil {
			key = c.rename(key)
		}
		if key != "" && (g.pool != nil || !strings.HasPrefix(key, "karpenter.")) {
			labels[key] = value
		}
	}
	maps.Copy(labels, c.extra)
	maps.Copy(labels, g.labels)
	labels[c.zoneKey] = zone
	labels["beta.kubernetes.io/instance-type"], labels["failure-domain.beta.kubernetes.io/zone"] = labels[corev1.LabelInstanceTypeStable], zone
	if g.pool != nil {
		labels[scheduling.NodePoolLabel], labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = g.pool.name, "true", "true"
	}
	n.Labels = labels
	if g.taint != nil {
		n.Spec.Taints = []corev1.Taint{*g.taint}
	}
	n.CreationTimestamp = c.between(3, 18*24)
	n.Spec.ProviderID = "aws:///" + zone + "/i-" + string(uid("machine", n.Name))[:8]
	switch c.kind {
	case "gke":
		n.Spec.ProviderID = "gce://prod/" + zone + "/" + n.Name
	case "aks":
		n.Spec.ProviderID = "azure:///subscriptions/0/resourceGroups/mc_prod/providers/Microsoft.Compute/virtualMachineScaleSets/aks-" + g.name + "/virtualMachines/" + strconv.Itoa(i)
	}
	// Machines have a little more memory than providers count on.
	for _, list := range []corev1.ResourceList{n.Status.Capacity, n.Status.Allocatable} {
		q := list.Memory()
		list[corev1.ResourceMemory] = *resource.NewQuantity((q.Value()+n.Status.Capacity.Memory().Value()/64)>>10<<10, resource.BinarySI)
		list["hugepages-1Gi"], list["hugepages-2Mi"] = resource.MustParse("0"), resource.MustParse("0")
	}
	delete(n.Status.Capacity, "vpc.amazonaws.com/pod-eni")
	delete(n.Status.Allocatable, "vpc.amazonaws.com/pod-eni")
	n.Status.Conditions = nil
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		condition := corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, LastHeartbeatTime: c.ago(time.Minute), LastTransitionTime: n.CreationTimestamp}
		if kind == corev1.NodeReady {
			condition.Status, condition.Reason, condition.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
		}
		n.Status.Conditions = append(n.Status.Conditions, condition)
	}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}, {Type: corev1.NodeHostName, Address: n.Name}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{Architecture: labels[corev1.LabelArchStable], OperatingSystem: "linux", KubeletVersion: "v1.35.2", ContainerRuntimeVersion: "containerd://2.1.4"}
	a := n.Status.Allocatable
	h := &host{Node: n, group: g, zone: zone, cpu: a.Cpu().MilliValue(), memory: a.Memory().Value(), pods: a.Pods().Value(), disks: c.disks, has: map[*workload]int{}}
	h.all = [2]int64{h.cpu, h.memory}
	return h
}

// collect makes the objects of everything that is there.
func (c *cluster) collect() {
	for _, name := range []string{"kube-system", "monitoring", "logging", "security", "gmp-system", "shop", "payments", "search", "platform", "data", "ml"} {
		c.add("v1", "Namespace", st.NamespaceObject(name, nil))
	}
	for i, name := range []string{"system-node-critical", "system-cluster-critical", "business-critical"} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: []int32{2000001000, 2000000000, 100000}[i]}
		c.add("scheduling.k8s.io/v1", "PriorityClass", class)
	}
	c.pools()
	for _, h := range c.hosts {
		c.add("v1", "Node", h.Node)
		c.add("storage.k8s.io/v1", "CSINode", st.CSINode(h.Name, st.Count(corev1.ResourceName(c.driver), c.disks)))
		if h.group.pool != nil {
			c.claim(h)
		}
		if c.mirror != "" {
			c.pod(c.mirrorPod(h), h)
		}
	}
	class := st.StorageClass("standard", st.Driver(c.driver), st.DefaultClass(0))
	c.add("storage.k8s.io/v1", "StorageClass", class)
	for _, ds := range c.daemons {
		c.daemonSet(ds)
	}
	for _, w := range c.workloads {
		if len(w.pods) > 0 {
			c.controller(w)
			c.surroundings(w)
		}
	}
	c.oddPods()
}

// mirrorPod is the static pod of a host, as the kubelet shows it to the API server.
func (c *cluster) mirrorPod(h *host) *corev1.Pod {
	pod := st.Pod(c.mirror+"-"+h.Name, st.Namespace("kube-system"), st.Label("app", c.mirror), st.Requests(st.MilliCPU(100)), st.Priority(2000001000), st.TolerateAll())
	pod.Annotations = map[string]string{"kubernetes.io/config.mirror": suffix(8, h.Name), "kubernetes.io/config.source": "file"}
	pod.OwnerReferences = []metav1.OwnerReference{owner("v1", "Node", "", h.Name)}
	return pod
}

func (c *cluster) pools() {
	if c.class != nil {
		c.items = append(c.items, c.class)
	}
	c.items = append(c.items, c.objects...)
	seen := map[string]bool{}
	for i := range c.groups {
		if g := &c.groups[i]; g.pool != nil && !seen[g.pool.name] {
			seen[g.pool.name] = true
			c.items = append(c.items, c.nodePool(g))
		}
	}
}

// claim is the NodeClaim of a node. One in twenty has drifted.
func (c *cluster) claim(h *host) {
	name := h.group.pool.name + "-" + suffix(5, h.Name)
	condition := func(kind string, since metav1.Time) any {
		return map[string]any{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": since}
	}
	conditions := []any{condition("Launched", h.CreationTimestamp), condition("Registered", h.CreationTimestamp), condition("Initialized", h.CreationTimestamp), condition("Ready", h.CreationTimestamp)}
	if c.IntN(20) == 0 {
		drifted := condition("Drifted", c.ago(time.Hour)).(map[string]any)
		drifted["reason"] = "AMIDrift"
		conditions = append(conditions, drifted)
	}
	conditions = append(conditions, condition("Consolidatable", c.ago(time.Hour)))
	expire := "720h"
	if c.ref["group"] == ec2.AutoGroup {
		expire = "480h"
	}
	c.items = append(c.items, map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": name, "uid": uid("NodeClaim", name), "creationTimestamp": h.CreationTimestamp, "labels": h.Labels},
		"spec":     map[string]any{"nodeClassRef": c.ref, "requirements": h.group.pool.requirements, "expireAfter": expire, "resources": map[string]any{"requests": map[string]any{"cpu": "3"}}},
		"status": map[string]any{
			"nodeName": h.Name, "providerID": h.Spec.ProviderID, "capacity": h.Status.Capacity, "allocatable": h.Status.Allocatable, "conditions": conditions,
			"lastPodEventTime": c.between(1, 20),
		},
	})
}

func owner(version, kind, namespace, name string) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid(kind, namespace, name), Controller: &yes, BlockOwnerDeletion: &yes}
}

// pod adds a pod that runs on a host, or is pending on none.
func (c *cluster) pod(pod *corev1.Pod, h *host) {
	s := &pod.Spec
	for i := range s.Containers {
		s.Containers[i].Image = "registry.example.com/" + pod.Labels["app"] + ":1.4.2"
	}
	s.SchedulerName, s.ServiceAccountName, s.DNSPolicy, s.RestartPolicy = corev1.DefaultSchedulerName, "default", corev1.DNSClusterFirst, cmp.Or(s.RestartPolicy, corev1.RestartPolicyAlways)
	seconds := int64(300)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds})
	}
	s.Volumes = append(s.Volumes, corev1.Volume{Name: "kube-api-access-" + suffix(5, pod.Name), VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
	}}})
	if s.Priority == nil {
		s.Priority = new(int32)
	}
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	if h == nil {
		pod.CreationTimestamp = c.ago(20 * time.Minute)
		scheduled.Status, scheduled.Reason, scheduled.Message = corev1.ConditionFalse, corev1.PodReasonUnschedulable, "0/40 nodes are available"
		pod.Status.Conditions = []corev1.PodCondition{scheduled}
	} else {
		s.NodeName, pod.Status.Phase = h.Name, corev1.PodRunning
		since := c.ago(time.Duration(float64(c.now.Sub(h.CreationTimestamp.Time)) * c.Float64()))
		pod.CreationTimestamp, pod.Status.StartTime = since, &since
		pod.Status.Conditions = []corev1.PodCondition{scheduled, {Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}}
		for i := range s.Containers {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: s.Containers[i].Name, Ready: true, Image: s.Containers[i].Image,
				AllocatedResources: s.Containers[i].Resources.Requests, Resources: &s.Containers[i].Resources,
			})
		}
	}
	c.add("v1", "Pod", pod)
}

func (c *cluster) daemonSet(ds *appsv1.DaemonSet) {
	c.add("apps/v1", "DaemonSet", ds)
	for _, h := range c.hosts {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ds.Namespace, Name: ds.Name + "-" + suffix(5, ds.Name, h.Name), Labels: maps.Clone(ds.Spec.Template.Labels)}, Spec: *ds.Spec.Template.Spec.DeepCopy()}
		if !suits(&pod.Spec, h) {
			continue
		}
		pod.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "DaemonSet", ds.Namespace, ds.Name)}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{h.Name}}},
		}}}}}
		c.pod(pod, h)
	}
}

// controller adds a workload and its pods.
func (c *cluster) controller(w *workload) {
	n := int32(len(w.pods)) //nolint:gosec // at most 20
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: map[string]string{"app": w.name}}
	if w.keep {
		w.template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
		if c.ref == nil {
			w.template.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
		}
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.name}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.template.Labels, Annotations: w.template.Annotations}, Spec: w.template.Spec}
	var by metav1.OwnerReference
	labels := maps.Clone(w.template.Labels)
	switch w.kind {
	case "Deployment":
		c.add("apps/v1", w.kind, &appsv1.Deployment{ObjectMeta: *meta.DeepCopy(), Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: selector, Template: template}, Status: appsv1.DeploymentStatus{Replicas: n, ReadyReplicas: n}})
		// The set of the revision before has no pods any more.
		for i, replicas := range []int32{0, n} {
			hash := suffix(9, w.name, strconv.Itoa(i))
			set := &appsv1.ReplicaSet{ObjectMeta: *meta.DeepCopy(), Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector.DeepCopy(), Template: *template.DeepCopy()}}
			set.Name, set.Annotations = w.name+"-"+hash, map[string]string{"deployment.kubernetes.io/revision": strconv.Itoa(i + 1)}
			set.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", w.kind, w.namespace, w.name)}
			labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
			set.Labels, set.Spec.Selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey], set.Spec.Template.Labels = maps.Clone(labels), hash, maps.Clone(labels)
			c.add("apps/v1", "ReplicaSet", set)
			by = owner("apps/v1", "ReplicaSet", w.namespace, set.Name)
		}
	case "StatefulSet":
		by = owner("apps/v1", w.kind, w.namespace, w.name)
		template.Spec.Volumes = nil
		c.add("apps/v1", w.kind, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &n, Selector: selector, Template: template, ServiceName: w.name, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*st.Claim("data", st.OfClass("standard"))}}})
	case "Job":
		by = owner("batch/v1", w.kind, w.namespace, w.name)
		w.template.Spec.RestartPolicy, template.Spec.RestartPolicy = corev1.RestartPolicyNever, corev1.RestartPolicyNever
		c.add("batch/v1", w.kind, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Parallelism: &n, Completions: &n, Selector: selector, Template: template}, Status: batchv1.JobStatus{Active: n}})
	}
	for i, p := range w.pods {
		name := by.Name + "-" + suffix(5, w.name, strconv.Itoa(p.ordinal))
		if w.kind == "StatefulSet" {
			name = w.name + "-" + strconv.Itoa(i)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: maps.Clone(labels), Annotations: maps.Clone(w.template.Annotations), OwnerReferences: []metav1.OwnerReference{by}}, Spec: *w.template.Spec.DeepCopy()}
		if w.disk {
			c.volume(pod, p.host)
		}
		c.pod(pod, p.host)
	}
}

// volume gives a pod the disk that its claim is bound to.
func (c *cluster) volume(pod *corev1.Pod, h *host) {
	claim := "data-" + pod.Name
	name := "pvc-" + string(uid("claim", pod.Namespace, claim))
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	c.add("v1", "PersistentVolumeClaim", st.Claim(claim, st.Namespace(pod.Namespace), st.OfClass("standard"), st.BoundTo(name)))
	v := st.Volume(name, st.Driver(c.driver), st.OfClass("standard"), st.Where(st.In(c.zoneKey, h.zone)))
	v.Spec.ClaimRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: pod.Namespace, Name: claim, UID: uid("PersistentVolumeClaim", pod.Namespace, claim)}
	c.add("v1", "PersistentVolume", v)
}

// surroundings adds a workload's PodDisruptionBudget and HorizontalPodAutoscaler.
func (c *cluster) surroundings(w *workload) {
	n := len(w.pods)
	if w.budget != "" {
		amount := intstr.Parse(w.amount)
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Generation: 1}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": w.name}}
		some, _ := intstr.GetScaledValueFromIntOrPercent(&amount, n, true)
		desired := max(n-some, 0)
		if b.Spec.MaxUnavailable = &amount; w.budget == "minAvailable" {
			b.Spec.MaxUnavailable, b.Spec.MinAvailable, desired = nil, &amount, some
		}
		b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: int32(max(n-desired, 0)), CurrentHealthy: int32(n), DesiredHealthy: int32(desired), ExpectedPods: int32(n)} //nolint:gosec // at most 20
		c.add("policy/v1", "PodDisruptionBudget", b)
	}
	if w.scaled {
		least, target := int32(min(n, 2)), int32(70) //nolint:gosec // at most 2
		c.add("autoscaling/v2", "HorizontalPodAutoscaler", &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: w.kind, Name: w.name}, MinReplicas: &least, MaxReplicas: 30,
				Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &target}}}},
			},
			Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: int32(n), DesiredReplicas: int32(n)}, //nolint:gosec // at most 20
		})
	}
}

// oddPods adds a pod without a controller, a finished one, and pods that are pending: one that no node of the cluster has
// room for, and one that selects a label that no node has.
func (c *cluster) oddPods() {
	i := slices.IndexFunc(c.hosts, func(h *host) bool { return h.group.taint == nil && h.cpu > 300 && h.memory > 1<<29 })
	if i >= 0 {
		c.pod(st.Pod("debug-shell", st.Namespace("platform"), st.Label("app", "debug-shell"), st.Requests(st.MilliCPU(100), st.MiB(128))), c.hosts[i])
	}
	c.pod(st.Pod("reindex-once", st.Namespace("search"), st.Label("app", "reindex-once"), st.Requests(st.MilliCPU(7500), st.MiB(4096))), nil)
	c.pod(st.Pod("thumbnailer", st.Namespace("ml"), st.Label("app", "thumbnailer"), st.Requests(st.MilliCPU(500), st.MiB(512)), st.Select("disktype", "nvme")), nil)
}
