package validate

import (
	"runtime"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// maxPort is the largest TCP and UDP port.
const maxPort = 65535

// PodsPerWorker is the least number of pods of a goroutine.
const PodsPerWorker = 512

// AllPods checks all pods and, with a policy, reads the specs of the pods to place; the result is nil otherwise
// or where there is a fault. There may be hundreds of thousands of pods: no memory is allocated for a pod
// without a fault, and several goroutines share the work, because it is bound by memory. Faults are sorted and
// keys joined in the order of the pods, so the result does not depend on their number.
func (c *Checker) AllPods(p *scheduling.Problem, s *scheduling.Policy) *podspec.Readings {
	var readers sync.WaitGroup
	var found []*Checker
	var out *podspec.Readings
	if s != nil {
		out = &podspec.Readings{Of: make([]int32, len(p.Pods))}
	}
	for _, list := range []struct {
		name string
		pods []*corev1.Pod
	}{{"pods", p.Pods}, {"running", p.Running}} {
		size := max(PodsPerWorker, len(list.pods)/runtime.GOMAXPROCS(0)+1)
		for from := 0; from < len(list.pods); from += size {
			reader, to := NewChecker(), min(from+size, len(list.pods))
			reader.pods = to - from
			var of []int32
			if s != nil && list.name == "pods" {
				reader.reader, of = podspec.NewSpecReader(p, s), out.Of[from:to]
			}
			found = append(found, reader)
			readers.Go(func() { reader.podSpecs(list.name, list.pods[from:to], of) })
		}
	}
	c.podNames(p)
	readers.Wait()
	for _, reader := range found {
		c.List = append(c.List, reader.List...)
	}
	if len(c.List) > 0 || s == nil {
		return nil
	}
	return join(out, found, podspec.NewSpecReader(p, s))
}

// podNames checks that every pod is not nil and has a unique name.
func (c *Checker) podNames(p *scheduling.Problem) {
	c.names = make(map[types.NamespacedName]int, len(p.Pods)+len(p.Running))
	for _, list := range []struct {
		name string
		pods []*corev1.Pod
	}{{"pods", p.Pods}, {"running", p.Running}} {
		for i, pod := range list.pods {
			if c.Enter(list.name, i, pod == nil) {
				c.named(podspec.NamespaceOf(pod), pod.Name)
			}
		}
	}
}

// podSpecs checks the specs of pods with a name. With a reader, it notes their pod spec keys in of.
func (c *Checker) podSpecs(list string, pods []*corev1.Pod, of []int32) {
	c.spec = "spec"
	for i, pod := range pods {
		if pod == nil || pod.Name == "" {
			continue
		}
		c.At = Position{List: list, Namespace: podspec.NamespaceOf(pod), Name: pod.Name}
		if list == "running" && pod.Spec.NodeName == "" && !podspec.Terminal(pod) {
			c.Add("", "is missing: a pod without a node belongs to the pods that are to be placed", "spec.nodeName")
		}
		c.podSpec(&pod.Spec)
		if c.reader != nil && len(c.List) == 0 {
			of[i] = c.reader.Read(pod)
		}
	}
}

// podSpec checks the fields of a pod that scheduling reads.
func (c *Checker) podSpec(spec *corev1.PodSpec) {
	for i := range spec.Containers {
		c.container(&spec.Containers[i], "containers", i)
	}
	for i := range spec.InitContainers {
		c.container(&spec.InitContainers[i], "initContainers", i)
	}
	if spec.Resources != nil {
		before := len(c.List)
		if c.resources(spec.Resources, "", 0); len(c.List) == before {
			c.podLevel(spec)
		}
	}
	if len(spec.Overhead) > 0 {
		c.amounts(spec.Overhead, c.spec+".overhead", AmountFault)
	}
	if !plainLabels(spec.NodeSelector) {
		c.labels(spec.NodeSelector, c.spec+".nodeSelector")
	}
	if spec.Affinity != nil {
		c.affinity(spec.Affinity)
	}
	for i := range spec.TopologySpreadConstraints {
		c.spread(&spec.TopologySpreadConstraints[i], i)
	}
	for i := range spec.Tolerations {
		if field, value, message := tolerationFault(&spec.Tolerations[i]); message != "" {
			c.Add(value, message, c.text(specPath{list: "tolerations", index: i})+"."+field)
		}
	}
}

func (c *Checker) container(ctr *corev1.Container, list string, index int) {
	c.resources(&ctr.Resources, list, index)
	for i := range ctr.Ports {
		if port := ctr.Ports[i].HostPort; port < 0 || port > maxPort {
			c.Add(strconv.Itoa(int(port)), "must lie between 0 and 65535",
				c.text(specPath{list: list, index: index})+".ports["+strconv.Itoa(i)+"].hostPort")
		}
	}
}

// resources checks requests and limits of a container, or of the pod if list is empty.
func (c *Checker) resources(r *corev1.ResourceRequirements, list string, index int) {
	fault := func(field string, name corev1.ResourceName, q *resource.Quantity, message string) {
		path := c.spec
		if list != "" {
			path = c.text(specPath{list: list, index: index})
		}
		c.Add(q.String(), message, path+".resources."+field+scheduling.Field(string(name)))
	}
	for name, q := range podspec.Listed(r.Requests) {
		if message := AmountFault(name, &q); message != "" {
			fault("requests", name, &q, message)
		} else if limit, ok := r.Limits[name]; ok && AmountFault(name, &limit) == "" && exceeds(name, &q, &limit) {
			fault("requests", name, &q, "is more than the limit of "+limit.String())
		}
	}
	for name, q := range podspec.Listed(r.Limits) {
		if message := AmountFault(name, &q); message != "" {
			fault("limits", name, &q, message)
		}
	}
}

// amounts reports every quantity with a fault.
func (c *Checker) amounts(list corev1.ResourceList, path string, fault func(corev1.ResourceName, *resource.Quantity) string) {
	for name, q := range podspec.Listed(list) {
		if message := fault(name, &q); message != "" {
			c.Add(q.String(), message, path+scheduling.Field(string(name)))
		}
	}
}

// AmountFault returns the fault of a requested or limited quantity; "" for none. It may exceed any machine: see
// [podspec.Amount].
func AmountFault(_ corev1.ResourceName, q *resource.Quantity) string {
	if q.Sign() < 0 {
		return "is negative"
	}
	return ""
}

// capacityFault returns the fault of a node's quantity; "" for none.
func capacityFault(name corev1.ResourceName, q *resource.Quantity) string {
	if podspec.Beyond64Bits(name, q) {
		return "is too large"
	}
	return AmountFault(name, q)
}

// exceeds reports whether a request is above its limit, if the limit fits in 64 bits. Both must be copies.
func exceeds(name corev1.ResourceName, request, limit *resource.Quantity) bool {
	if podspec.Beyond64Bits(name, limit) {
		return false
	}
	// Values that are far apart need no exact arithmetic, which may allocate.
	if request.AsApproximateFloat64() < limit.AsApproximateFloat64()*(1-1e-9) {
		return false
	}
	return podspec.Beyond64Bits(name, request) || request.Cmp(*limit) > 0
}

// plainLabels reports whether all keys and values are valid.
func plainLabels(labels map[string]string) bool {
	for k, v := range labels {
		if !LabelKey(k) || !LabelValue(v) {
			return false
		}
	}
	return true
}

// labels reports invalid keys and values.
func (c *Checker) labels(labels map[string]string, path string) {
	for k, v := range labels {
		if !LabelKey(k) {
			c.Add(k, NotALabelKey, path)
		}
		if !LabelValue(v) {
			c.Add(v, NotALabelValue, path+scheduling.Field(k))
		}
	}
}

// selector checks a selector of pods.
func (c *Checker) selector(s *metav1.LabelSelector, at specPath, rest string) {
	if s == nil {
		return
	}
	if !plainLabels(s.MatchLabels) {
		c.labels(s.MatchLabels, c.text(at)+rest+".matchLabels")
	}
	for i := range s.MatchExpressions {
		if field, value, message := expressionFault(&s.MatchExpressions[i]); message != "" {
			c.Add(value, message, c.text(at)+rest+".matchExpressions["+strconv.Itoa(i)+"]."+field)
		}
	}
}

// expressionFault returns the first fault of an expression of a label selector; message is "" for none.
func expressionFault(e *metav1.LabelSelectorRequirement) (field, value, message string) {
	if !LabelKey(e.Key) {
		return "key", e.Key, NotALabelKey
	}
	switch e.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(e.Values) == 0 {
			return "values", "", "operator " + string(e.Operator) + " needs at least one value"
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			return "values", e.Values[0], "operator " + string(e.Operator) + " takes no values"
		}
	default:
		return "operator", string(e.Operator), "must be one of In, NotIn, Exists, DoesNotExist"
	}
	for i, v := range e.Values {
		if !LabelValue(v) {
			return "values[" + strconv.Itoa(i) + "]", v, NotALabelValue
		}
	}
	return "", "", ""
}

// spread checks a topology spread constraint.
func (c *Checker) spread(s *corev1.TopologySpreadConstraint, index int) {
	at := specPath{list: spreadConstraints, index: index}
	fault := func(value, message, field string) { c.Add(value, message, c.text(at)+"."+field) }
	spreadFaults(s, fault)
	switch {
	case s.MinDomains == nil:
	case s.WhenUnsatisfiable == corev1.ScheduleAnyway:
		fault(strconv.Itoa(int(*s.MinDomains)), "is allowed with whenUnsatisfiable DoNotSchedule only", "minDomains")
	case s.WhenUnsatisfiable == corev1.DoNotSchedule && *s.MinDomains < 1:
		fault(strconv.Itoa(int(*s.MinDomains)), "must be at least 1", "minDomains")
	}
	for _, p := range [...]struct {
		policy *corev1.NodeInclusionPolicy
		field  string
	}{{s.NodeAffinityPolicy, "nodeAffinityPolicy"}, {s.NodeTaintsPolicy, "nodeTaintsPolicy"}} {
		if p.policy != nil && *p.policy != corev1.NodeInclusionPolicyHonor && *p.policy != corev1.NodeInclusionPolicyIgnore {
			fault(string(*p.policy), "must be Honor or Ignore", p.field)
		}
	}
	c.selector(s.LabelSelector, at, ".labelSelector")
}

// spreadFaults reports faults in the fields that default constraints have, too.
func spreadFaults(s *corev1.TopologySpreadConstraint, fault func(value, message, field string)) {
	if s.MaxSkew < 1 {
		fault(strconv.Itoa(int(s.MaxSkew)), "must be at least 1", "maxSkew")
	}
	if message := keyFault(s.TopologyKey); message != "" {
		fault(s.TopologyKey, message, "topologyKey")
	}
	if s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway {
		fault(string(s.WhenUnsatisfiable), "must be DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable")
	}
}

// tolerationFault returns the first fault of a toleration; message is "" for none.
func tolerationFault(t *corev1.Toleration) (field, value, message string) {
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		return "effect", string(t.Effect), "must be one of NoSchedule, PreferNoSchedule, NoExecute"
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return "value", t.Value, "operator Exists takes no value"
		}
		return "", "", ""
	case "", corev1.TolerationOpEqual:
		if !LabelValue(t.Value) {
			return "value", t.Value, NotALabelValue
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		if n, err := strconv.ParseInt(t.Value, 10, 64); err != nil || strconv.FormatInt(n, 10) != t.Value {
			return "value", t.Value, "operator " + string(t.Operator) + " needs an integer of 64 bits in plain digits"
		}
	default:
		return "operator", string(t.Operator), "must be one of Equal, Exists, Lt, Gt"
	}
	if t.Key == "" {
		return "key", "", "is missing, which only operator Exists allows"
	}
	return "", "", ""
}
