package scheduling

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// make makes a change with all that belongs to it. It reports whether there was
// something to change; what belongs to it may have come with it.
func (t *fixTrial) make(c *Change) bool {
	if !t.makeOne(c) {
		return false
	}
	for i := range c.And {
		t.make(&c.And[i])
	}
	return true
}

func (t *fixTrial) makeOne(c *Change) bool {
	spec := &t.pod.Spec
	kind, name, _ := strings.Cut(c.Object, "/")
	switch c.Kind {
	case ChangeRequest, ChangeUnit:
		return t.request(corev1.ResourceName(c.Key), c.To)
	case ChangeToleration:
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: c.Key, Operator: corev1.TolerationOpEqual, Value: c.To, Effect: corev1.TaintEffect(c.Effect),
		})
		return true
	case ChangeSelector:
		return changeSelector(spec, c)
	case ChangeNodeAffinity:
		return changeNodeAffinity(spec, c)
	case ChangeMaxSkew, ChangeMinDomains, ChangeScheduleAnyway:
		return t.spread(c)
	case ChangePodAffinity:
		return spec.Affinity != nil && spec.Affinity.PodAffinity != nil &&
			dropTerms(&spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key)
	case ChangePodAntiAffinity:
		holder := t.pod
		if kind == "Pod" {
			holder = t.running.get(objectKeyOf(name))
		}
		return t.anti(holder, c.Key)
	case ChangePods:
		return t.accompany(c.Key)
	case ChangeHostPort:
		return dropPort(spec, c.From)
	case ChangeVolume, ChangeClaim:
		return t.volume(c)
	case ChangeGate:
		return drop(&spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool { return g.Name == c.Object })
	case ChangeResourceClaim:
		return drop(&spec.ResourceClaims, func(r corev1.PodResourceClaim) bool { return r.Name == c.Object })
	case ChangeEffort:
		return true
	case ChangeDaemonSet:
		return t.daemonSets()
	case ChangeRoom, ChangeDomain:
		return t.room(c, name)
	case ChangeLimit, ChangeMinValues, ChangeNodePool:
		return t.nodePool(c, name)
	case ChangeReservation, ChangeOffering:
		return t.offering(c)
	case ChangeNodeSize, ChangeFlexibility, ChangeSpot, ChangeFilter, ChangeWorkloadShare:
		return t.settings(c)
	default:
		return false
	}
}

// drop takes elements out of a list, and reports whether there were any.
func drop[T any](list *[]T, which func(T) bool) bool {
	before := len(*list)
	*list = slices.DeleteFunc(slices.Clone(*list), which)
	return len(*list) < before
}

// dropTerms takes the terms over a topology key out of a list.
func dropTerms(terms *[]corev1.PodAffinityTerm, key string) bool {
	return drop(terms, func(x corev1.PodAffinityTerm) bool { return x.TopologyKey == key })
}

// request lets the pod ask for so much of a resource, whichever of its containers asks.
func (t *fixTrial) request(name corev1.ResourceName, to string) bool {
	q, err := resource.ParseQuantity(to)
	if err != nil {
		return false
	}
	reader := requestReader{table: newResourceTable()}
	all := reader.table.list(reader.read(&t.pod.Spec))
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
func changeSelector(spec *corev1.PodSpec, c *Change) bool {
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
func changeNodeAffinity(spec *corev1.PodSpec, c *Change) bool {
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
			op, values := corev1.NodeSelectorOpExists, c.Values
			if len(values) > 0 {
				op, values = corev1.NodeSelectorOpIn, values[:1]
			}
			if op == corev1.NodeSelectorOpIn || len(x.MatchExpressions)+len(x.MatchFields) == 0 {
				x.MatchExpressions = append(x.MatchExpressions, corev1.NodeSelectorRequirement{Key: c.Key, Operator: op, Values: values})
			}
		}
	}
	return found
}

// spread relaxes the pod's own spread over a key, or where it has none at all, the
// default one.
func (t *fixTrial) spread(c *Change) bool {
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
		case ChangeMaxSkew:
			found = err == nil
			x.MaxSkew = max(x.MaxSkew, to)
		case ChangeMinDomains:
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
	return found && (own || t.Apply(Delta{DefaultSpread: constraints}) == nil)
}

// anti drops the anti-affinity over a key of a pod, and of running pods of its namespace
// that have the same, as those of one workload do.
func (t *fixTrial) anti(holder *corev1.Pod, key string) bool {
	if holder == nil || holder.Spec.Affinity == nil || holder.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	var d Delta
	same := holder.Spec.Affinity.PodAntiAffinity.DeepCopy()
	for pod, node := range t.running.all() {
		if namespaceOf(pod) != namespaceOf(holder) || pod.Spec.Affinity == nil || !equality.Semantic.DeepEqual(pod.Spec.Affinity.PodAntiAffinity, same) {
			continue
		}
		changed := onNode(pod, node).DeepCopy()
		if dropTerms(&changed.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, key) {
			d.Pods = append(d.Pods, changed)
		}
	}
	found := holder == t.pod && dropTerms(&t.pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, key)
	return (found || len(d.Pods) > 0) && t.Apply(d) == nil
}

// accompany lets a pod wait that the pod's affinity over a key is about.
func (t *fixTrial) accompany(key string) bool {
	if len(t.company) > 0 || t.pod.Spec.Affinity == nil || t.pod.Spec.Affinity.PodAffinity == nil {
		return false
	}
	own, spec := t.pod, &t.pod.Spec
	mate := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(own), Name: "company/" + strconv.Itoa(len(t.company)), Labels: map[string]string{}},
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
		asked, _ := labelSelector(x.LabelSelector, x.MatchLabelKeys, x.MismatchLabelKeys, own.Labels).Requirements()
		for j := range asked {
			switch r := &asked[j]; {
			case demandsValue(r):
				mate.Labels[r.Key()] = slices.Min(r.ValuesUnsorted())
			case r.Operator() == "exists":
				mate.Labels[r.Key()] = ""
			}
		}
	}
	t.company = append(slices.Clone(t.company), mate)
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

// room frees room on a node, or makes a machine in a domain that has all the room in the
// world and whatever labels the pod asks for.
func (t *fixTrial) room(c *Change, node string) bool {
	if c.Kind == ChangeRoom {
		i := slices.IndexFunc(t.problem.Nodes, func(n *corev1.Node) bool { return n.Name == node })
		q, err := resource.ParseQuantity(c.To)
		if i < 0 || err != nil {
			return false
		}
		n := t.problem.Nodes[i].DeepCopy()
		have := n.Status.Allocatable[corev1.ResourceName(c.Key)]
		have.Add(q)
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = corev1.ResourceList{}
		}
		n.Status.Allocatable[corev1.ResourceName(c.Key)] = have
		return t.Apply(Delta{Nodes: []*corev1.Node{n}}) == nil
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "room/" + c.Key, Labels: map[string]string{}}}
	if a := t.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[:1] {
			for _, r := range term.MatchExpressions {
				if r.Operator == corev1.NodeSelectorOpIn {
					n.Labels[r.Key] = r.Values[0]
				}
			}
		}
	}
	maps.Copy(n.Labels, t.pod.Spec.NodeSelector)
	n.Labels[c.Key], n.Labels[corev1.LabelHostname] = c.Values[0], n.Name
	reader := requestReader{table: newResourceTable()}
	reader.read(&t.pod.Spec)
	n.Status.Allocatable = corev1.ResourceList{}
	for _, name := range reader.table.names {
		n.Status.Allocatable[name] = *resource.NewQuantity(1<<50, resource.BinarySI)
	}
	return t.Apply(Delta{Nodes: []*corev1.Node{n}}) == nil
}

// daemonSets lets daemons ask for nothing.
func (t *fixTrial) daemonSets() bool {
	var d Delta
	free := func(spec *corev1.PodSpec) {
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				list[i].Resources = corev1.ResourceRequirements{}
			}
		}
		spec.Resources, spec.Overhead = nil, nil
	}
	for _, set := range t.problem.DaemonSets {
		set = set.DeepCopy()
		free(&set.Spec.Template.Spec)
		d.DaemonSets = append(d.DaemonSets, set)
	}
	for pod, node := range t.running.all() {
		if ofDaemonSet(pod) {
			pod = onNode(pod, node).DeepCopy()
			free(&pod.Spec)
			d.Pods = append(d.Pods, pod)
		}
	}
	return t.Apply(d) == nil
}

// nodePool changes a node pool, or adds one that allows everything.
func (t *fixTrial) nodePool(c *Change, name string) bool {
	if c.Object == "" {
		p := &NodePool{}
		p.Name = cmp.Or(t.pod.Spec.NodeSelector[NodePoolLabel], "default")
		return t.Apply(Delta{NodePools: []*NodePool{p}}) == nil
	}
	i := slices.IndexFunc(t.problem.NodePools, func(p *NodePool) bool { return p.Name == name })
	if i < 0 {
		return false
	}
	p := t.problem.NodePools[i].DeepCopy()
	asked := p.Spec.Template.Spec.Requirements
	switch c.Kind {
	case ChangeLimit:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		p.Spec.Limits[corev1.ResourceName(c.Key)] = q
	case ChangeMinValues:
		for i := range asked {
			asked[i].MinValues = nil
		}
	default:
		p.Spec.Template.Spec.Requirements = nil
	}
	return t.Apply(Delta{NodePools: []*NodePool{p}}) == nil
}

// offering puts an offering, named type/zone/capacity type, on sale, or lets a reservation
// have one machine more.
func (t *fixTrial) offering(c *Change) bool {
	found := false
	err := t.problem.reoffer(func(name string, o *offerings.Offering) bool {
		switch {
		case c.Kind == ChangeReservation && o.ReservationID == c.Object:
			o.ReservationCount++
		case c.Kind == ChangeOffering && name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object:
			o.Unavailable = false
		default:
			return false
		}
		found = true
		return true
	})
	if c.Kind == ChangeOffering && t.problem.Unavailable != nil {
		marks := &offerings.Unavailable{}
		parts := strings.Split(c.Object, "/")
		for k, until := range t.problem.Unavailable.All() {
			if (k.InstanceType != "" && k.InstanceType != parts[0]) || (k.Zone != "" && k.Zone != parts[1]) || (k.CapacityType != "" && string(k.CapacityType) != parts[2]) {
				marks.Mark(k, t.problem.Now, until.Sub(t.problem.Now))
			}
		}
		t.problem.Unavailable = marks
	}
	return found && err == nil
}

// reoffer changes offerings in every catalog of the problem; change reports whether it did.
func (p *Problem) reoffer(change func(instanceType string, o *offerings.Offering) bool) error {
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{}
	for _, old := range catalogsOf(p) {
		var changes []instancetypes.OfferingChange
		for t := range old.All() {
			for _, o := range t.Offerings {
				if change(t.Name, &o) {
					changes = append(changes, instancetypes.OfferingChange{InstanceType: t.Name, Offering: o})
				}
			}
		}
		known[old] = old
		if len(changes) > 0 {
			made, err := old.WithOfferings(changes...)
			if err != nil {
				return err
			}
			known[old] = made
		}
	}
	p.Catalog = known[p.Catalog]
	p.PoolCatalogs = maps.Clone(p.PoolCatalogs)
	for name, old := range p.PoolCatalogs {
		p.PoolCatalogs[name] = known[old]
	}
	return nil
}

// settings changes the solver's.
func (t *fixTrial) settings(c *Change) bool {
	s := &t.solver
	switch c.Kind {
	case ChangeSpot:
		s.NoSpot = false
	case ChangeFlexibility:
		s.Flexibility = Flexibility{}
	case ChangeFilter:
		s.Filters = slices.Clone(s.Filters)
		for i, keep := range s.Filters {
			s.Filters[i] = func(t *instancetypes.InstanceType, o offerings.Offering) bool {
				return keep == nil || keep(t, o) || t.Name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object
			}
		}
	case ChangeWorkloadShare:
		s.WorkloadShare = 0
	default:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		name := corev1.ResourceName(c.Key)
		s.Size.Smallest, s.Size.Largest = maps.Clone(s.Size.Smallest), maps.Clone(s.Size.Largest)
		if least, ok := s.Size.Smallest[name]; ok && least.Cmp(q) > 0 {
			s.Size.Smallest[name] = q
		}
		if most, ok := s.Size.Largest[name]; ok && most.Cmp(q) < 0 {
			s.Size.Largest[name] = q
		}
	}
	// What is remembered holds for one solver.
	t.memory = newMemory()
	t.waiting = newWaiting(s, &t.problem, nil)
	return true
}

// volume lets the pod have fewer volumes, or volumes elsewhere, or a claim that is in order.
func (t *fixTrial) volume(c *Change) bool {
	kind, name, _ := strings.Cut(c.Object, "/")
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
		return t.Apply(Delta{Claims: []*corev1.PersistentVolumeClaim{bound}}) == nil
	}
	found := drop(&spec.Volumes, func(v corev1.Volume) bool {
		claim := named(v)
		if claim == "" {
			return false
		}
		if kind == "PersistentVolumeClaim" {
			return namespaceOf(t.pod)+"/"+claim == name
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
func objectKeyOf(name string) objectKey {
	namespace, name, _ := strings.Cut(name, "/")
	return objectKey{namespace, name}
}

// claim finds a claim by namespace/name.
func (t *fixTrial) claim(name string) *corev1.PersistentVolumeClaim {
	x := change[*corev1.PersistentVolumeClaim]{key: inNamespace[*corev1.PersistentVolumeClaim]}
	if at, ok := x.find(t.problem.Claims, objectKeyOf(name)); ok {
		return t.problem.Claims[at]
	}
	return nil
}
