package provisioning

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// room frees room on a node, or makes a machine in a domain that has all the room in the
// world and whatever labels the pod asks for.
func (t *fixTrial) room(c *scheduling.Change, node string) bool {
	if c.Kind == scheduling.ChangeRoom {
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
		return t.Apply(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
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
	reader := podspec.RequestReader{Table: podspec.NewResourceTable()}
	reader.Read(&t.pod.Spec)
	n.Status.Allocatable = corev1.ResourceList{}
	for _, name := range reader.Table.Names {
		n.Status.Allocatable[name] = *resource.NewQuantity(1<<50, resource.BinarySI)
	}
	return t.Apply(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
}

// untaint takes the taints of a key off a node, and uncordons it if the taint is that of a cordon.
func (t *fixTrial) untaint(node, key string) bool {
	i := slices.IndexFunc(t.problem.Nodes, func(n *corev1.Node) bool { return n.Name == node })
	if i < 0 {
		return false
	}
	n := t.problem.Nodes[i].DeepCopy()
	found := drop(&n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == key })
	if key == corev1.TaintNodeUnschedulable {
		found = found || n.Spec.Unschedulable
		n.Spec.Unschedulable = false
	}
	return found && t.Apply(scheduling.Delta{Nodes: []*corev1.Node{n}}) == nil
}

// daemonSets lets daemons ask for nothing.
func (t *fixTrial) daemonSets() bool {
	var d scheduling.Delta
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
	for pod, node := range t.running.All() {
		if podspec.OfDaemonSet(pod) {
			pod = podspec.OnNode(pod, node).DeepCopy()
			free(&pod.Spec)
			d.Pods = append(d.Pods, pod)
		}
	}
	return t.Apply(d) == nil
}

// nodePool changes a node pool, or adds one that allows everything.
func (t *fixTrial) nodePool(c *scheduling.Change, name string) bool {
	if c.Object == "" {
		p := &scheduling.NodePool{}
		p.Name = cmp.Or(t.pod.Spec.NodeSelector[scheduling.NodePoolLabel], "default")
		return t.Apply(scheduling.Delta{NodePools: []*scheduling.NodePool{p}}) == nil
	}
	i := slices.IndexFunc(t.problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
	if i < 0 {
		return false
	}
	p := t.problem.NodePools[i].DeepCopy()
	asked := p.Spec.Template.Spec.Requirements
	switch c.Kind {
	case scheduling.ChangeLimit:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		p.Spec.Limits[corev1.ResourceName(c.Key)] = q
	case scheduling.ChangeReplicas:
		q, err := resource.ParseQuantity(c.To)
		if err != nil {
			return false
		}
		p.Spec.Replicas, p.Spec.Limits = nil, corev1.ResourceList{scheduling.NodesResource: q}
	case scheduling.ChangeMinValues:
		for i := range asked {
			asked[i].MinValues = nil
		}
	default:
		if changed, err := p.Allow(c.Key, c.Values[0]); err != nil || !changed {
			return false
		}
	}
	return t.Apply(scheduling.Delta{NodePools: []*scheduling.NodePool{p}}) == nil
}

// offering puts an offering, named type/zone/capacity type, on sale, or lets a reservation
// have one machine more.
func (t *fixTrial) offering(c *scheduling.Change) bool {
	found := false
	err := reoffer(&t.problem, func(name string, o *offerings.Offering) bool {
		switch {
		case c.Kind == scheduling.ChangeReservation && o.ReservationID == c.Object:
			o.ReservationCount++
		case c.Kind == scheduling.ChangeOffering && name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object:
			o.Unavailable = false
		default:
			return false
		}
		found = true
		return true
	})
	if c.Kind == scheduling.ChangeOffering && t.problem.Unavailable != nil {
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
func reoffer(p *scheduling.Problem, change func(instanceType string, o *offerings.Offering) bool) error {
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{}
	for _, old := range instance.CatalogsOf(p) {
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
func (t *fixTrial) settings(c *scheduling.Change) bool {
	s := &t.solver
	switch c.Kind {
	case scheduling.ChangeSpot:
		s.NoSpot = false
	case scheduling.ChangeFlexibility:
		s.Flexibility = scheduling.Flexibility{}
	case scheduling.ChangeFilter:
		s.Filters = slices.Clone(s.Filters)
		for i, keep := range s.Filters {
			s.Filters[i] = func(t *instancetypes.InstanceType, o offerings.Offering) bool {
				return keep == nil || keep(t, o) || t.Name+"/"+o.Zone+"/"+string(o.CapacityType) == c.Object
			}
		}
	case scheduling.ChangeWorkloadShare:
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
	// The memory is valid for one policy only.
	t.memory = instance.NewMemory()
	t.waiting = newWaiting(s, &t.problem, nil)
	return true
}
