package provisioning

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// request lets the pod ask for so much of a resource, whichever of its containers asks.
func (t *fixTrial) request(name corev1.ResourceName, to string) bool {
	q, err := resource.ParseQuantity(to)
	if err != nil {
		return false
	}
	reader := podspec.RequestReader{Table: podspec.NewResourceTable()}
	all := reader.Table.List(reader.Read(&t.pod.Spec))
	delete(all, corev1.ResourcePods)
	all[name] = q
	var ports []corev1.ContainerPort
	for _, list := range [][]corev1.Container{t.pod.Spec.Containers, t.pod.Spec.InitContainers} {
		for i := range list {
			ports = append(ports, list[i].Ports...)
		}
	}
	t.pod.Spec.Containers = []corev1.Container{{Name: "all", Ports: ports, Resources: corev1.ResourceRequirements{Requests: all}}}
	t.pod.Spec.InitContainers, t.pod.Spec.Resources, t.pod.Spec.Overhead = nil, nil, nil
	return true
}

// changeSelector asks for another label, for another value of it, or not for it at all.
func changeSelector(spec *corev1.PodSpec, c *scheduling.Change) bool {
	value, ok := spec.NodeSelector[c.Key]
	if !ok {
		return false
	}
	spec.NodeSelector = maps.Clone(spec.NodeSelector)
	delete(spec.NodeSelector, c.Key)
	switch {
	case c.To != "":
		spec.NodeSelector[c.To] = value
	case len(c.Values) > 0:
		spec.NodeSelector[c.Key] = c.Values[0]
	}
	return true
}

// changeNodeAffinity does the same to a required node affinity, and without a key drops it.
func changeNodeAffinity(spec *corev1.PodSpec, c *scheduling.Change) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	if c.Key == "" {
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		return true
	}
	found := false
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		x := &terms[i]
		for j := range x.MatchExpressions {
			if x.MatchExpressions[j].Key == c.Key && c.To != "" {
				x.MatchExpressions[j].Key, found = c.To, true
			}
		}
		if c.To != "" {
			continue
		}
		if drop(&x.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == c.Key }) {
			found = true
			switch {
			case len(c.Values) > 0:
				x.MatchExpressions = append(x.MatchExpressions, corev1.NodeSelectorRequirement{Key: c.Key, Operator: corev1.NodeSelectorOpIn, Values: c.Values[:1]})
			case len(x.MatchExpressions)+len(x.MatchFields) == 0: // a term that asks for nothing would match nothing
				spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
				return true
			}
		}
	}
	return found
}

// spread relaxes the pod's own spread over a key, or where it has none at all, the
// default one.
func (t *fixTrial) spread(c *scheduling.Change) bool {
	own := len(t.pod.Spec.TopologySpreadConstraints) > 0
	constraints := slices.Clone(t.problem.DefaultSpread)
	if own {
		constraints = t.pod.Spec.TopologySpreadConstraints
	}
	found := false
	for i := range constraints {
		x := &constraints[i]
		if x.TopologyKey != c.Key || x.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		found = true
		n, err := strconv.ParseInt(c.To, 10, 32)
		to := int32(n)
		switch c.Kind {
		case scheduling.ChangeMaxSkew:
			found = err == nil
			x.MaxSkew = max(x.MaxSkew, to)
		case scheduling.ChangeNodeInclusion:
			honor := corev1.NodeInclusionPolicyHonor
			if c.To == "nodeTaintsPolicy" {
				x.NodeTaintsPolicy = &honor
			} else {
				x.NodeAffinityPolicy = &honor
			}
		case scheduling.ChangeMinDomains:
			if x.MinDomains != nil && *x.MinDomains > to {
				x.MinDomains = &to
			}
			if to < 1 {
				x.MinDomains = nil
			}
		default:
			x.WhenUnsatisfiable, x.MinDomains = corev1.ScheduleAnyway, nil
		}
	}
	return found && (own || t.Apply(scheduling.Delta{DefaultSpread: constraints}) == nil)
}

// anti drops the anti-affinity over a key of a pod, and of running pods of its namespace
// that have the same, as those of one workload do.
func (t *fixTrial) anti(holder *corev1.Pod, key string) bool {
	if holder == nil || holder.Spec.Affinity == nil || holder.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	var d scheduling.Delta
	same := holder.Spec.Affinity.PodAntiAffinity.DeepCopy()
	for pod, node := range t.running.All() {
		if podspec.NamespaceOf(pod) != podspec.NamespaceOf(holder) || pod.Spec.Affinity == nil || !equality.Semantic.DeepEqual(pod.Spec.Affinity.PodAntiAffinity, same) {
			continue
		}
		changed := podspec.OnNode(pod, node).DeepCopy()
		if dropTerms(&changed.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, key) {
			d.Pods = append(d.Pods, changed)
		}
	}
	found := holder == t.pod && dropTerms(&t.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, key)
	return (found || len(d.Pods) > 0) && t.Apply(d) == nil
}

// addAffinePods lets a pod wait that the pod's affinity over a key is about.
func (t *fixTrial) addAffinePods(key string) bool {
	if len(t.affinePods) > 0 || t.pod.Spec.Affinity == nil || t.pod.Spec.Affinity.PodAffinity == nil {
		return false
	}
	own, spec := t.pod, &t.pod.Spec
	mate := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: podspec.NamespaceOf(own), Name: "company/" + strconv.Itoa(len(t.affinePods)), Labels: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Priority: spec.Priority,
			Affinity: &corev1.Affinity{NodeAffinity: spec.Affinity.NodeAffinity}, Containers: []corev1.Container{{Name: "all"}},
		},
	}
	found := false
	for i := range spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		x := &spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
		found = found || x.TopologyKey == key
		if len(x.Namespaces) > 0 && !slices.Contains(x.Namespaces, mate.Namespace) {
			mate.Namespace = x.Namespaces[0]
		}
		asked, _ := podspec.LabelSelector(x.LabelSelector, x.MatchLabelKeys, x.MismatchLabelKeys, own.Labels).Requirements()
		for j := range asked {
			switch r := &asked[j]; {
			case podspec.DemandsValue(r):
				mate.Labels[r.Key()] = slices.Min(r.ValuesUnsorted())
			case r.Operator() == "exists":
				mate.Labels[r.Key()] = ""
			}
		}
	}
	t.affinePods = append(slices.Clone(t.affinePods), mate)
	return found
}

// dropPort lets the pod bind one host port less, named as number/protocol.
func dropPort(spec *corev1.PodSpec, port string) bool {
	found := false
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			gone := drop(&list[i].Ports, func(p corev1.ContainerPort) bool {
				protocol := p.Protocol
				if protocol == "" {
					protocol = corev1.ProtocolTCP
				}
				number := p.HostPort
				if number == 0 && spec.HostNetwork {
					number = p.ContainerPort
				}
				return strconv.Itoa(int(number))+"/"+string(protocol) == port
			})
			found = found || gone
		}
	}
	return found
}

// topologies lets a storage class make volumes in one more zone.
func (t *fixTrial) topologies(name string, c *scheduling.Change) bool {
	i := slices.IndexFunc(t.problem.StorageClasses, func(s *storagev1.StorageClass) bool { return s.Name == name })
	if i < 0 || len(c.Values) == 0 {
		return false
	}
	class := t.problem.StorageClasses[i].DeepCopy()
	class.AllowedTopologies = append(class.AllowedTopologies, corev1.TopologySelectorTerm{
		MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: c.Key, Values: c.Values[:1]}},
	})
	return t.Apply(scheduling.Delta{StorageClasses: []*storagev1.StorageClass{class}}) == nil
}

// remade lets a claim be made again whose class makes a volume where the pod goes. It reports false for others.
func (t *fixTrial) remade(claim *corev1.PersistentVolumeClaim) bool {
	name := podspec.ClassName(claim)
	i := slices.IndexFunc(t.problem.StorageClasses, func(s *storagev1.StorageClass) bool { return name != nil && s.Name == *name })
	if i < 0 || !podspec.MakesVolumes(t.problem.StorageClasses[i]) {
		return false
	}
	again := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Namespace: claim.Namespace}, Spec: *claim.Spec.DeepCopy()}
	again.Spec.VolumeName, again.Status.Phase = "", corev1.ClaimPending
	return t.Apply(scheduling.Delta{Claims: []*corev1.PersistentVolumeClaim{again}}) == nil
}

// volume lets the pod have fewer volumes, or volumes elsewhere, or a claim that is in order.
func (t *fixTrial) volume(c *scheduling.Change) bool {
	kind, name, _ := strings.Cut(c.Object, "/")
	if kind == "StorageClass" && c.Kind == scheduling.ChangeVolume {
		return t.topologies(name, c)
	}
	if claim := t.claim(name); kind == "PersistentVolumeClaim" && c.Kind == scheduling.ChangeVolume && claim != nil && t.remade(claim) {
		return true
	}
	spec := &t.pod.Spec
	keep, _ := strconv.Atoi(c.To)
	named := func(v corev1.Volume) string {
		switch {
		case v.PersistentVolumeClaim != nil:
			return v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			return t.pod.Name + "-" + v.Name
		default:
			return ""
		}
	}
	if claim := t.claim(name); kind == "PersistentVolumeClaim" && claim != nil && claim.Spec.VolumeName != "" && claim.Status.Phase == corev1.ClaimPending {
		bound := claim.DeepCopy()
		bound.Status.Phase = corev1.ClaimBound
		return t.Apply(scheduling.Delta{Claims: []*corev1.PersistentVolumeClaim{bound}}) == nil
	}
	found := drop(&spec.Volumes, func(v corev1.Volume) bool {
		claim := named(v)
		if claim == "" {
			return false
		}
		if kind == "PersistentVolumeClaim" {
			return podspec.NamespaceOf(t.pod)+"/"+claim == name
		}
		keep--
		return keep < 0
	})
	if len(c.Values) > 0 {
		spec.NodeSelector = maps.Clone(spec.NodeSelector)
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[c.Key] = c.Values[0]
	}
	return found
}

// objectKeyOf reads namespace/name.
func objectKeyOf(name string) types.NamespacedName {
	namespace, name, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// claim finds a claim by namespace/name.
func (t *fixTrial) claim(name string) *corev1.PersistentVolumeClaim {
	x := change[*corev1.PersistentVolumeClaim]{key: inNamespace[*corev1.PersistentVolumeClaim]}
	if at, ok := x.find(t.problem.Claims, objectKeyOf(name)); ok {
		return t.problem.Claims[at]
	}
	return nil
}
