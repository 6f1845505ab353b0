package scheduling

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxPort is the largest TCP and UDP port.
const maxPort = 65535

// podsPerWorker is how many pods are worth a goroutine.
const podsPerWorker = 512

// allPods checks the pods of a problem, of which there may be hundreds of
// thousands, and reads those to be placed for a solver, if there is one. Nothing here
// allocates for a pod without a fault. Reading them is bound by memory, so that several
// readers are faster; since faults are sorted and moulds joined in the order of the
// pods, their number shows in nothing but the time.
func (c *checker) allPods(p *Problem, s *Policy) *readings {
	var readers sync.WaitGroup
	var found []*checker
	var out *readings
	if s != nil {
		out = &readings{of: make([]int32, len(p.Pods))}
	}
	for _, list := range []struct {
		name string
		pods []*corev1.Pod
	}{{"pods", p.Pods}, {"running", p.Running}} {
		size := max(podsPerWorker, len(list.pods)/runtime.GOMAXPROCS(0)+1)
		for from := 0; from < len(list.pods); from += size {
			reader, to := newChecker(), min(from+size, len(list.pods))
			reader.pods = to - from
			var of []int32
			if s != nil && list.name == "pods" {
				reader.moulder, of = newMoulder(p, s), out.of[from:to]
			}
			found = append(found, reader)
			readers.Go(func() { reader.podSpecs(list.name, list.pods[from:to], of) })
		}
	}
	c.podNames(p)
	readers.Wait()
	for _, reader := range found {
		c.list = append(c.list, reader.list...)
	}
	if len(c.list) > 0 || s == nil {
		return nil
	}
	return out.join(found, newMoulder(p, s))
}

// podNames checks that every pod is there, has a name, and is there once.
func (c *checker) podNames(p *Problem) {
	c.names = newNameSet(len(p.Pods) + len(p.Running))
	for i, pod := range p.Pods {
		c.podName("pods", i, pod)
	}
	for i, pod := range p.Running {
		c.podName("running", i, pod)
	}
}

func (c *checker) podName(list string, index int, pod *corev1.Pod) {
	switch {
	case !c.enter(list, index, pod == nil):
	case pod.Name == "":
		c.add("", "is missing", "metadata.name")
	default:
		c.at.namespace, c.at.name = namespaceOf(pod), pod.Name
		c.once()
	}
}

// podSpecs checks the specs of pods that have a name. With a moulder, it notes their
// moulds, too.
func (c *checker) podSpecs(list string, pods []*corev1.Pod, of []int32) {
	c.spec = "spec"
	for i, pod := range pods {
		if pod == nil || pod.Name == "" {
			continue
		}
		c.at = position{list: list, namespace: namespaceOf(pod), name: pod.Name}
		c.podSpec(&pod.Spec)
		if c.moulder != nil && len(c.list) == 0 {
			of[i] = c.moulder.read(pod)
		}
	}
}

// podSpec checks what scheduling reads of a pod.
func (c *checker) podSpec(spec *corev1.PodSpec) {
	for i := range spec.Containers {
		c.container(&spec.Containers[i], "containers", i)
	}
	for i := range spec.InitContainers {
		c.container(&spec.InitContainers[i], "initContainers", i)
	}
	if spec.Resources != nil {
		c.resources(spec.Resources, "", 0)
	}
	if len(spec.Overhead) > 0 {
		c.amounts(spec.Overhead, c.spec+".overhead")
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
			c.add(value, message, c.text(trail{list: "tolerations", index: i})+"."+field)
		}
	}
}

func (c *checker) container(ctr *corev1.Container, list string, index int) {
	c.resources(&ctr.Resources, list, index)
	for i := range ctr.Ports {
		if port := ctr.Ports[i].HostPort; port < 0 || port > maxPort {
			c.add(strconv.Itoa(int(port)), "must lie between 0 and 65535",
				c.text(trail{list: list, index: index})+".ports["+strconv.Itoa(i)+"].hostPort")
		}
	}
}

// resources checks requests and limits of a container, or of the pod as a whole
// where list is empty.
func (c *checker) resources(r *corev1.ResourceRequirements, list string, index int) {
	if fine(r) {
		return
	}
	path := c.spec + ".resources"
	if list != "" {
		path = c.text(trail{list: list, index: index}) + ".resources"
	}
	c.amounts(r.Requests, path+".requests")
	c.amounts(r.Limits, path+".limits")
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		q := r.Requests[name]
		limit, ok := r.Limits[name]
		if ok && amountFault(name, &q) == "" && amountFault(name, &limit) == "" && exceeds(&q, &limit) {
			c.add(q.String(), "is more than the limit of "+limit.String(), path+".requests"+field(string(name)))
		}
	}
}

// amounts reports every quantity that is not sound.
func (c *checker) amounts(list corev1.ResourceList, path string) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		if message := amountFault(name, &q); message != "" {
			c.add(q.String(), message, path+field(string(name)))
		}
	}
}

// fine reports whether all quantities are sound and no request exceeds its limit.
// The two that every pod has are looked up, as that is much faster than walking
// the maps.
func fine(r *corev1.ResourceRequirements) bool {
	requests, limits := len(r.Requests), len(r.Limits)
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		var request, limit resource.Quantity
		var asked, limited bool
		if requests > 0 {
			request, asked = r.Requests[name]
		}
		if limits > 0 {
			limit, limited = r.Limits[name]
		}
		if asked {
			requests--
			if amountFault(name, &request) != "" {
				return false
			}
		}
		if limited {
			limits--
			if amountFault(name, &limit) != "" || asked && exceeds(&request, &limit) {
				return false
			}
		}
	}
	if requests > 0 {
		for name, q := range r.Requests {
			if amountFault(name, &q) != "" {
				return false
			}
		}
	}
	if limits > 0 {
		for name, limit := range r.Limits {
			request, asked := r.Requests[name]
			if amountFault(name, &limit) != "" || asked && exceeds(&request, &limit) {
				return false
			}
		}
	}
	return true
}

// amountFault says what is wrong with a quantity; empty for nothing.
func amountFault(name corev1.ResourceName, q *resource.Quantity) string {
	if q.Sign() < 0 {
		return "is negative"
	}
	near := q.AsApproximateFloat64()
	if name == corev1.ResourceCPU {
		near *= 1000
	}
	if near < math.MaxInt64/2 {
		return ""
	}
	if near > math.MaxInt64*2.0 {
		return "is too large" // exact arithmetic would write out a number like 1e1000000
	}
	most := resource.NewQuantity(math.MaxInt64, resource.DecimalSI)
	if name == corev1.ResourceCPU {
		most = resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	}
	exact := q.DeepCopy() // Cmp may change the form of its receiver
	if exact.Cmp(*most) > 0 {
		return "is too large"
	}
	return ""
}

// exceeds reports whether a request is above its limit. Both must be copies.
func exceeds(request, limit *resource.Quantity) bool {
	// Far apart is decided without exact arithmetic, which may allocate.
	if request.AsApproximateFloat64() < limit.AsApproximateFloat64()*(1-1e-9) {
		return false
	}
	return request.Cmp(*limit) > 0
}

// plainLabels reports whether all keys and values may stand in labels.
func plainLabels(labels map[string]string) bool {
	for k, v := range labels {
		if !labelKey(k) || !labelValue(v) {
			return false
		}
	}
	return true
}

// labels reports keys and values that may not stand in labels.
func (c *checker) labels(labels map[string]string, path string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if !labelKey(k) {
			c.add(k, notALabelKey, path)
		}
		if v := labels[k]; !labelValue(v) {
			c.add(v, notALabelValue, path+field(k))
		}
	}
}

// selector checks a selector of pods.
func (c *checker) selector(s *metav1.LabelSelector, at trail, rest string) {
	if s == nil {
		return
	}
	if !plainLabels(s.MatchLabels) {
		c.labels(s.MatchLabels, c.text(at)+rest+".matchLabels")
	}
	for i := range s.MatchExpressions {
		if field, value, message := expressionFault(&s.MatchExpressions[i]); message != "" {
			c.add(value, message, c.text(at)+rest+".matchExpressions["+strconv.Itoa(i)+"]."+field)
		}
	}
}

// expressionFault says what is wrong with an expression about labels of pods.
func expressionFault(e *metav1.LabelSelectorRequirement) (field, value, message string) {
	if !labelKey(e.Key) {
		return "key", e.Key, notALabelKey
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
		if !labelValue(v) {
			return "values[" + strconv.Itoa(i) + "]", v, notALabelValue
		}
	}
	return "", "", ""
}

// spread checks a topology spread constraint.
func (c *checker) spread(s *corev1.TopologySpreadConstraint, index int) {
	at := trail{list: spreadConstraints, index: index}
	fault := func(value, message, field string) { c.add(value, message, c.text(at)+"."+field) }
	if s.MaxSkew < 1 {
		fault(strconv.Itoa(int(s.MaxSkew)), "must be at least 1", "maxSkew")
	}
	c.topologyKey(s.TopologyKey, at)
	switch s.WhenUnsatisfiable {
	case corev1.DoNotSchedule:
		if s.MinDomains != nil && *s.MinDomains < 1 {
			fault(strconv.Itoa(int(*s.MinDomains)), "must be at least 1", "minDomains")
		}
	case corev1.ScheduleAnyway:
		if s.MinDomains != nil {
			fault(strconv.Itoa(int(*s.MinDomains)), "is allowed with whenUnsatisfiable DoNotSchedule only", "minDomains")
		}
	default:
		fault(string(s.WhenUnsatisfiable), "must be DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable")
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

// tolerationFault says what is wrong with a toleration.
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
		if !labelValue(t.Value) {
			return "value", t.Value, notALabelValue
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
