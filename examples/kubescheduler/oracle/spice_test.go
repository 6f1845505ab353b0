package oracle_test

import (
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// spice draws corner cases of kube-scheduler that random problems do not reach: other names of labels, matchFields,
// unusual tolerations, ports and quantities, labels that no offering has.
type spice struct {
	*rand.Rand
	problem *scheduling.Problem
}

// spiced is a random problem with corner cases. An API server would accept each of its pods.
func spiced(seed uint64, size schedulingtest.Size) scheduling.Problem {
	p := schedulingtest.Random(seed, size)
	s := spice{Rand: rand.New(rand.NewPCG(seed, 0x5eed)), problem: &p} //nolint:gosec // a test
	for _, pool := range p.NodePools {
		if s.oneIn(3) {
			s.pool(pool)
		}
	}
	for _, set := range p.DaemonSets {
		if s.oneIn(2) {
			s.daemonSet(set)
		}
	}
	for _, node := range p.Nodes {
		if s.oneIn(2) {
			s.node(node)
		}
	}
	for _, pod := range p.Running {
		if s.oneIn(2) {
			s.runningPod(pod)
		}
	}
	for _, pod := range p.Pods {
		if s.oneIn(4) {
			s.pod(pod)
		}
	}
	return onlyAdmitted(p)
}

func (s spice) oneIn(n int) bool { return s.IntN(n) == 0 }

func choose[T any](s spice, values ...T) T { return values[s.IntN(len(values))] }

// nodeName is the name of a node that may or may not exist.
func (s spice) nodeName() string {
	return choose(s, "node-0", "node-1", "node-2", "nowhere")
}

// zone is a zone under one of its names.
func (s spice) zoneKey() string {
	return choose(s, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone)
}

// pod changes a pending pod to a corner case.
func (s spice) pod(pod *corev1.Pod) {
	switch s.IntN(7) {
	case 0, 1:
		s.selection(&pod.Spec)
	case 2:
		s.fields(&pod.Spec)
	case 3:
		s.tolerations(&pod.Spec)
	case 4:
		s.ports(&pod.Spec)
	case 5:
		s.quantities(pod)
	case 6:
		s.affinity(&pod.Spec)
	}
}

// selection selects labels by other names, or labels with a meaning of their own.
func (s spice) selection(spec *corev1.PodSpec) {
	if spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	key := choose(s, "beta.kubernetes.io/arch", "beta.kubernetes.io/os", s.zoneKey(), corev1.LabelInstanceType,
		corev1.LabelHostname, scheduling.RegisteredLabel, scheduling.InitializedLabel, corev1.LabelTopologyRegion,
		corev1.LabelWindowsBuild, "example.com/nobody")
	values := map[string][]string{
		"beta.kubernetes.io/arch":         {"amd64", "arm64"},
		"beta.kubernetes.io/os":           {"linux", "windows"},
		corev1.LabelTopologyZone:          {"zone-a", "zone-b"},
		corev1.LabelFailureDomainBetaZone: {"zone-a", "zone-b"},
		corev1.LabelInstanceType:          s.problem.Catalog.Names(),
		corev1.LabelHostname:              {s.nodeName()},
		scheduling.RegisteredLabel:        {"true", "false"},
		scheduling.InitializedLabel:       {"true", "false"},
		corev1.LabelTopologyRegion:        {"here", "there"},
		corev1.LabelWindowsBuild:          {"10.0.17763"},
		"example.com/nobody":              {"x"},
	}[key]
	spec.NodeSelector[key] = choose(s, values...)
	if s.oneIn(4) { // the same label by another name, perhaps with another value
		spec.NodeSelector[s.zoneKey()] = choose(s, "zone-a", "zone-b")
	}
}

// expression is an unusual condition on a label.
func (s spice) expression() corev1.NodeSelectorRequirement {
	e := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	return choose(s,
		e("example.com/nobody", corev1.NodeSelectorOpNotIn, "x"),
		e("example.com/nobody", corev1.NodeSelectorOpDoesNotExist),
		e("example.com/nobody", corev1.NodeSelectorOpExists),
		e("example.com/level", corev1.NodeSelectorOpGt, "3"),
		e("example.com/level", corev1.NodeSelectorOpLt, "5"),
		e("example.com/level", corev1.NodeSelectorOpGt, "0"),
		e("example.com/team", corev1.NodeSelectorOpLt, "5"),
		e("example.com/team", corev1.NodeSelectorOpDoesNotExist),
		e("example.com/disk", corev1.NodeSelectorOpNotIn, "ssd", "hdd"),
		e("example.com/disk", corev1.NodeSelectorOpExists),
		e("karpenter.k8s.aws/instance-cpu", corev1.NodeSelectorOpGt, "1"),
		e("karpenter.k8s.aws/instance-cpu", corev1.NodeSelectorOpNotIn, "2", "4"),
		e("karpenter.k8s.aws/instance-family", corev1.NodeSelectorOpGt, "1"),
		e(scheduling.NodePoolLabel, corev1.NodeSelectorOpNotIn, "pool-0"),
		e(scheduling.NodePoolLabel, corev1.NodeSelectorOpDoesNotExist),
		e(offerings.CapacityTypeLabel, corev1.NodeSelectorOpNotIn, "spot"),
		e(scheduling.InitializedLabel, corev1.NodeSelectorOpExists),
		e(scheduling.InitializedLabel, corev1.NodeSelectorOpNotIn, "true"),
		e("karpenter.k8s.aws/capacity-reservation-id", corev1.NodeSelectorOpDoesNotExist),
		e("karpenter.k8s.aws/capacity-reservation-id", corev1.NodeSelectorOpExists),
		e(corev1.LabelHostname, corev1.NodeSelectorOpNotIn, s.nodeName()),
		e(corev1.LabelHostname, corev1.NodeSelectorOpIn, s.nodeName(), s.nodeName()),
		e(corev1.LabelHostname, corev1.NodeSelectorOpExists),
		e(s.zoneKey(), corev1.NodeSelectorOpNotIn, "zone-a"),
		e(s.zoneKey(), corev1.NodeSelectorOpExists),
		e("beta.kubernetes.io/arch", corev1.NodeSelectorOpNotIn, "arm64"),
		e(corev1.LabelTopologyRegion, corev1.NodeSelectorOpIn, "here"),
		e(corev1.LabelTopologyRegion, corev1.NodeSelectorOpNotIn, "here"),
		e(corev1.LabelTopologyRegion, corev1.NodeSelectorOpExists),
		e("topology.k8s.aws/zone-id", corev1.NodeSelectorOpExists),
		e("topology.k8s.aws/zone-id", corev1.NodeSelectorOpIn, "zone-a-id"),
	)
}

// term is a term of node affinity with up to three conditions.
func (s spice) term() corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for range 1 + s.IntN(3) {
		t.MatchExpressions = append(t.MatchExpressions, s.expression())
	}
	return t
}

func (s spice) affinity(spec *corev1.PodSpec) {
	addTerms(spec, s.term())
	if s.oneIn(3) {
		addTerms(spec, s.term())
	}
	if s.oneIn(4) {
		addTerms(spec, corev1.NodeSelectorTerm{}) // matches nothing
	}
}

// fields selects nodes by name.
func (s spice) fields(spec *corev1.PodSpec) {
	t := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
		Key: "metadata.name", Values: []string{s.nodeName()},
		Operator: choose(s, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
	}}}
	if s.oneIn(2) {
		t.MatchExpressions = append(t.MatchExpressions, s.expression())
	}
	addTerms(spec, t)
	if s.oneIn(3) {
		addTerms(spec, s.term())
	}
}

// addTerms adds alternatives to a required node affinity.
func addTerms(spec *corev1.PodSpec, terms ...corev1.NodeSelectorTerm) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{}
	}
	(*required).NodeSelectorTerms = append((*required).NodeSelectorTerms, terms...)
}

func (s spice) tolerations(spec *corev1.PodSpec) {
	seconds := int64(60)
	spec.Tolerations = append(spec.Tolerations, choose(s,
		corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectPreferNoSchedule},
		corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
		corev1.Toleration{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpEqual, Value: "7"},
		corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpLt, Value: "8"},
		corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpGt, Value: "-1"},
		corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpGt, Value: "7"},
	))
}

func (s spice) ports(spec *corev1.PodSpec) {
	port := corev1.ContainerPort{
		ContainerPort: choose[int32](s, 80, 443), Protocol: choose(s, "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
		HostIP: choose(s, "", "0.0.0.0", "127.0.0.1", "::1"),
	}
	port.HostPort = port.ContainerPort
	c := &spec.Containers[0]
	switch s.IntN(4) {
	case 0:
		spec.HostNetwork = true
		port.HostPort, port.HostIP = 0, ""
	case 1:
		if i := slices.IndexFunc(spec.InitContainers, func(c corev1.Container) bool { return c.RestartPolicy != nil }); i >= 0 {
			c = &spec.InitContainers[i]
		}
	case 2:
		if len(spec.InitContainers) > 0 {
			c = &spec.InitContainers[0] // ports of init containers that end do not count
		}
	}
	c.Ports = append(c.Ports, port)
}

// quantities changes requests to quantities in the notations that people use.
func (s spice) quantities(pod *corev1.Pod) {
	r := &pod.Spec.Containers[0].Resources
	set := func(list *corev1.ResourceList, name corev1.ResourceName, values ...string) {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[name] = quantity(choose(s, values...))
	}
	switch s.IntN(6) {
	case 0:
		r.Requests, r.Limits = nil, nil
		set(&r.Requests, corev1.ResourceCPU, "0.1", "1e-1", "100500u", "0")
		set(&r.Requests, corev1.ResourceMemory, "1e8", "128974848000m", "0.1Gi", "0")
	case 1:
		r.Requests = nil
		set(&r.Limits, corev1.ResourceEphemeralStorage, "1Gi", "15G")
	case 2:
		pod.Spec.Resources = &corev1.ResourceRequirements{}
		r.Requests, r.Limits = nil, nil
		pod.Spec.Containers, pod.Spec.InitContainers = pod.Spec.Containers[:1], nil // which may request more than that
		set(&pod.Spec.Resources.Limits, corev1.ResourceCPU, "2", "500m")
		set(&pod.Spec.Resources.Limits, corev1.ResourceMemory, "1Gi")
	case 3:
		r.Requests, r.Limits = nil, nil
		set(&r.Limits, corev1.ResourceHugePagesPrefix+"2Mi", "64Mi", "2Gi")
		set(&r.Requests, corev1.ResourceMemory, "64Mi")
	case 4:
		set(&r.Requests, "example.com/fpga", "1")
		set(&r.Limits, "example.com/fpga", "1")
	case 5:
		set(&pod.Spec.Overhead, corev1.ResourceCPU, "250m")
		set(&pod.Spec.Overhead, corev1.ResourceMemory, "120Mi")
	}
}

// runningPod changes the requests of a running pod.
func (s spice) runningPod(pod *corev1.Pod) {
	c := &pod.Spec.Containers[0]
	switch s.IntN(8) {
	case 7: // a resize of the pod as a whole, which may not request less than its containers
		pod.Spec.Containers, pod.Spec.InitContainers, c.Resources = pod.Spec.Containers[:1], nil, corev1.ResourceRequirements{}
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("1")}}
		pod.Status.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity(choose(s, "500m", "2"))}}
		pod.Status.AllocatedResources = corev1.ResourceList{corev1.ResourceCPU: quantity(choose(s, "600m", "1500m"))}
	case 0: // a resize under way
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: c.Name, AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: quantity(choose(s, "700m", "1900m"))},
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity(choose(s, "600m", "2"))}},
		}}
		if s.oneIn(2) {
			pod.Status.ContainerStatuses[0].Resources = nil
		}
		if s.oneIn(3) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible,
			})
		}
	case 4: // more than the node has
		pod.Spec.Resources = nil
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: quantity("40"), corev1.ResourceMemory: quantity("1Gi")}
	case 5:
		since := metav1.NewTime(s.problem.Now)
		pod.DeletionTimestamp = &since
	case 6:
		pod.Spec.Resources = nil
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{Name: "sidecar", RestartPolicy: &always, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("500m")},
		}}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "sidecar", AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: quantity("900m")},
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("800m")}},
		}}
	case 1:
		s.ports(&pod.Spec)
	case 2:
		c.Resources.Limits, c.Resources.Requests = c.Resources.Requests, nil
	case 3:
		pod.Status.Phase = choose(s, corev1.PodFailed, corev1.PodUnknown, corev1.PodPending)
	}
}

// node changes labels, taints and resources of a node.
func (s spice) node(node *corev1.Node) {
	taint := func(key, value string, effect corev1.TaintEffect) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	}
	switch s.IntN(14) {
	case 11:
		delete(node.Labels, scheduling.InitializedLabel) // not ready yet
		taint("example.com/slow", "", corev1.TaintEffectNoSchedule)
	case 12:
		node.Labels[scheduling.NodePoolLabel] = "deleted-pool"
		delete(node.Labels, scheduling.InitializedLabel)
	case 13:
		if len(node.Status.Allocatable) > 0 {
			node.Status.Allocatable[corev1.ResourceMemory] = quantity(choose(s, "16116152Ki", "3920500m", "1e9"))
		}
	case 9:
		delete(node.Status.Allocatable, choose(s, corev1.ResourcePods, corev1.ResourceMemory))
	case 10:
		node.Labels[corev1.LabelHostname] = "ip-10-0-0-1" // providers name nodes otherwise
	case 0:
		node.Spec.Unschedulable = true // the taint comes a moment later
	case 1:
		taint("readiness.k8s.io/network", "", choose(s, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))
	case 2:
		taint("karpenter.sh/unregistered", "", corev1.TaintEffectNoExecute)
	case 3:
		taint(corev1.TaintNodeUnreachable, "", choose(s, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))
	case 4:
		taint("example.com/dedicated", choose(s, "7", "-3", "07", "batch"), choose(s, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule))
	case 5:
		delete(node.Labels, choose(s, corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelArchStable, offerings.CapacityTypeLabel))
	case 6:
		node.Labels["beta.kubernetes.io/arch"] = node.Labels[corev1.LabelArchStable]
		node.Labels[corev1.LabelFailureDomainBetaZone] = node.Labels[corev1.LabelTopologyZone]
	case 7:
		node.Labels["example.com/level"] = choose(s, "4", "-4", "04", "four")
	case 8:
		taint("node.cloudprovider.kubernetes.io/uninitialized", "true", corev1.TaintEffectNoSchedule)
	}
}

// daemonSet changes the node constraints and requests of a DaemonSet.
func (s spice) daemonSet(set *appsv1.DaemonSet) {
	spec := &set.Spec.Template.Spec
	switch s.IntN(6) {
	case 0:
		s.selection(spec)
	case 1:
		s.affinity(spec)
	case 2:
		s.fields(spec)
	case 3:
		s.tolerations(spec)
	case 4:
		s.ports(spec)
	case 5:
		pod := &corev1.Pod{Spec: *spec}
		s.quantities(pod)
		*spec = pod.Spec
	}
}

// pool changes labels, taints and requirements of a NodePool.
func (s spice) pool(pool *scheduling.NodePool) {
	t := &pool.Spec.Template
	require := func(r requirements.Selector) { t.Spec.Requirements = append(t.Spec.Requirements, r) }
	switch s.IntN(11) {
	case 8: // daemons tolerate some of these by themselves
		t.Spec.Taints = append(t.Spec.Taints, corev1.Taint{
			Key:    choose(s, corev1.TaintNodeDiskPressure, corev1.TaintNodeNetworkUnavailable, corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady),
			Effect: choose(s, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute),
		})
	case 9:
		if t.Metadata.Labels == nil {
			t.Metadata.Labels = map[string]string{}
		}
		t.Metadata.Labels[choose(s, corev1.LabelTopologyRegion, "example.com/level", "example.com/nobody")] = choose(s, "here", "4")
	case 10:
		t.Spec.StartupTaints = append(t.Spec.StartupTaints, corev1.Taint{Key: "example.com/slow", Effect: corev1.TaintEffectNoSchedule})
	case 0:
		require(schedulingtest.In("beta.kubernetes.io/arch", "amd64", "arm64"))
	case 1:
		require(schedulingtest.In(corev1.LabelTopologyRegion, "here"))
	case 2:
		require(schedulingtest.Exists(corev1.LabelTopologyRegion))
	case 3:
		require(schedulingtest.DoesNotExist("example.com/nobody"))
	case 4:
		require(schedulingtest.Gt("example.com/level", 3))
	case 5:
		require(schedulingtest.NotIn("example.com/disk", "hdd"))
	case 6:
		t.Spec.NodeClassRef = &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	case 7:
		require(schedulingtest.DoesNotExist("karpenter.k8s.aws/capacity-reservation-id"))
	}
}
