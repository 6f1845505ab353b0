package validate

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// podSpecChecker checks the parts of a pod spec, or of another object with node selector terms, e.g. a
// PersistentVolume.
type podSpecChecker struct {
	faults *faults.Collector
	path   string // of the spec within the object, e.g. "spec.template.spec" in a DaemonSet
}

// specPath is the path of a list entry within a pod spec. It becomes text only for a fault, because most pods
// have none.
type specPath struct {
	list  string
	index int
	rest  string
}

// to extends the path.
func (t specPath) to(rest string) specPath {
	t.rest += rest
	return t
}

func (s *podSpecChecker) text(t specPath) string {
	return s.path + "." + t.list + "[" + strconv.Itoa(t.index) + "]" + t.rest
}

// check checks the fields of a pod that scheduling reads.
func (s *podSpecChecker) check(spec *corev1.PodSpec) {
	for i := range spec.Containers {
		s.container(&spec.Containers[i], "containers", i)
	}
	for i := range spec.InitContainers {
		s.container(&spec.InitContainers[i], "initContainers", i)
	}
	if spec.Resources != nil {
		before := len(s.faults.List)
		if s.resources(spec.Resources, "", 0); len(s.faults.List) == before {
			s.podLevel(spec)
		}
	}
	if len(spec.Overhead) > 0 {
		amountFaults(s.faults, spec.Overhead, s.path+".overhead", AmountFault)
	}
	if !plainLabels(spec.NodeSelector) {
		labelFaults(s.faults, spec.NodeSelector, s.path+".nodeSelector")
	}
	if spec.Affinity != nil {
		s.affinity(spec.Affinity)
	}
	for i := range spec.TopologySpreadConstraints {
		s.spread(&spec.TopologySpreadConstraints[i], i)
	}
	for i := range spec.Tolerations {
		if field, value, message := tolerationFault(&spec.Tolerations[i]); message != "" {
			s.faults.Add(value, message, s.text(specPath{list: "tolerations", index: i})+"."+field)
		}
	}
}

func (s *podSpecChecker) container(ctr *corev1.Container, list string, index int) {
	s.resources(&ctr.Resources, list, index)
	for i := range ctr.Ports {
		if port := ctr.Ports[i].HostPort; port < 0 || port > maxPort {
			s.faults.Add(strconv.Itoa(int(port)), "must lie between 0 and 65535",
				s.text(specPath{list: list, index: index})+".ports["+strconv.Itoa(i)+"].hostPort")
		}
	}
}

// resources checks requests and limits of a container, or of the pod if list is empty.
func (s *podSpecChecker) resources(r *corev1.ResourceRequirements, list string, index int) {
	fault := func(field string, name corev1.ResourceName, q *resource.Quantity, message string) {
		path := s.path
		if list != "" {
			path = s.text(specPath{list: list, index: index})
		}
		s.faults.Add(q.String(), message, strict.Member(path+".resources."+field, string(name)))
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

// selector checks a selector of pods.
func (s *podSpecChecker) selector(of *metav1.LabelSelector, at specPath, rest string) {
	faulty := func(r metav1.LabelSelectorRequirement) bool {
		_, _, message := expressionFault(&r)
		return message != ""
	}
	if of != nil && (!plainLabels(of.MatchLabels) || slices.ContainsFunc(of.MatchExpressions, faulty)) {
		podSelectorFaults(s.faults, of, s.text(at)+rest)
	}
}

// podSelectorFaults adds the faults of a selector of pods at a path.
func podSelectorFaults(f *faults.Collector, of *metav1.LabelSelector, path string) {
	labelFaults(f, of.MatchLabels, path+".matchLabels")
	for i := range of.MatchExpressions {
		if field, value, message := expressionFault(&of.MatchExpressions[i]); message != "" {
			f.Add(value, message, path+".matchExpressions["+strconv.Itoa(i)+"]."+field)
		}
	}
}

// spread checks a topology spread constraint.
func (s *podSpecChecker) spread(c *corev1.TopologySpreadConstraint, index int) {
	at := specPath{list: spreadConstraints, index: index}
	fault := func(value, message, field string) { s.faults.Add(value, message, s.text(at)+"."+field) }
	spreadFaults(c, fault)
	switch {
	case c.MinDomains == nil:
	case c.WhenUnsatisfiable == corev1.ScheduleAnyway:
		fault(strconv.Itoa(int(*c.MinDomains)), "is allowed with whenUnsatisfiable DoNotSchedule only", "minDomains")
	case c.WhenUnsatisfiable == corev1.DoNotSchedule && *c.MinDomains < 1:
		fault(strconv.Itoa(int(*c.MinDomains)), "must be at least 1", "minDomains")
	}
	for _, p := range [...]struct {
		policy *corev1.NodeInclusionPolicy
		field  string
	}{{c.NodeAffinityPolicy, "nodeAffinityPolicy"}, {c.NodeTaintsPolicy, "nodeTaintsPolicy"}} {
		if p.policy != nil && *p.policy != corev1.NodeInclusionPolicyHonor && *p.policy != corev1.NodeInclusionPolicyIgnore {
			fault(string(*p.policy), "must be Honor or Ignore", p.field)
		}
	}
	s.selector(c.LabelSelector, at, ".labelSelector")
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
