package schedulingtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// snapshot is a deep copy of a problem, to tell later whether the problem has
// been changed.
type snapshot struct {
	objects     map[string][]runtime.Object
	pools       []*scheduling.NodePool
	types       map[string][]*instancetypes.InstanceType
	unavailable []offerings.Key
}

func take(p scheduling.Problem) snapshot {
	s := snapshot{objects: map[string][]runtime.Object{}, types: map[string][]*instancetypes.InstanceType{}}
	for kind, list := range objectsOf(p) {
		for _, o := range list {
			s.objects[kind] = append(s.objects[kind], o.DeepCopyObject())
		}
	}
	for _, pool := range p.NodePools {
		s.pools = append(s.pools, copyPool(pool))
	}
	for name, catalog := range catalogsOf(p) {
		for t := range catalog.All() {
			s.types[name] = append(s.types[name], t.DeepCopy())
		}
	}
	if p.Unavailable != nil {
		s.unavailable = slices.Clone(p.Unavailable.Keys())
	}
	return s
}

// changes names everything about p that differs from the snapshot.
func (s snapshot) changes(p scheduling.Problem) error {
	var errs []error
	differ := func(kind string, i int) {
		errs = append(errs, fmt.Errorf("the solver changed its input: %s %d", kind, i))
	}
	for kind, list := range objectsOf(p) {
		for i, o := range list {
			if !equality.Semantic.DeepEqual(o, s.objects[kind][i]) {
				differ(kind, i)
			}
		}
	}
	for i, pool := range p.NodePools {
		if !equality.Semantic.DeepEqual(pool, s.pools[i]) {
			differ("node pool", i)
		}
	}
	for name, catalog := range catalogsOf(p) {
		i := 0
		for t := range catalog.All() {
			if !equality.Semantic.DeepEqual(t, s.types[name][i]) {
				differ("catalog type", i)
			}
			i++
		}
	}
	if p.Unavailable != nil && !slices.Equal(p.Unavailable.Keys(), s.unavailable) {
		errs = append(errs, errors.New("the solver changed its input: the record of unavailable offerings"))
	}
	return errors.Join(errs...)
}

// objectsOf lists the objects of p by kind.
func objectsOf(p scheduling.Problem) map[string][]runtime.Object {
	m := map[string][]runtime.Object{}
	addObjects(m, "pod", p.Pods)
	addObjects(m, "node", p.Nodes)
	addObjects(m, "running pod", p.Running)
	addObjects(m, "daemon set", p.DaemonSets)
	addObjects(m, "claim", p.Claims)
	addObjects(m, "volume", p.Volumes)
	addObjects(m, "storage class", p.StorageClasses)
	addObjects(m, "CSI node", p.CSINodes)
	addObjects(m, "namespace", p.Namespaces)
	addObjects(m, "service", p.Services)
	addObjects(m, "replication controller", p.Owners.ReplicationControllers)
	addObjects(m, "replica set", p.Owners.ReplicaSets)
	addObjects(m, "stateful set", p.Owners.StatefulSets)
	// Objects alone can be copied and compared; a pod carries the constraints.
	m["default spread"] = []runtime.Object{&corev1.Pod{Spec: corev1.PodSpec{TopologySpreadConstraints: p.DefaultSpread}}}
	return m
}

func addObjects[T runtime.Object](m map[string][]runtime.Object, kind string, list []T) {
	for _, o := range list {
		m[kind] = append(m[kind], o)
	}
}

// catalogsOf lists the catalogs of p by pool; the common one has no name.
func catalogsOf(p scheduling.Problem) map[string]*instancetypes.Catalog {
	m := map[string]*instancetypes.Catalog{}
	if p.Catalog != nil {
		m[""] = p.Catalog
	}
	for name, c := range p.PoolCatalogs {
		if c != nil {
			m[name] = c
		}
	}
	return m
}

// copyPool copies what a solver could reach of a NodePool.
func copyPool(p *scheduling.NodePool) *scheduling.NodePool {
	if p == nil {
		return nil
	}
	c := *p
	p.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Limits = p.Spec.Limits.DeepCopy()
	t, ct := &p.Spec.Template, &c.Spec.Template
	ct.Metadata.Labels = maps.Clone(t.Metadata.Labels)
	ct.Metadata.Annotations = maps.Clone(t.Metadata.Annotations)
	ct.Spec.Taints = slices.Clone(t.Spec.Taints)
	ct.Spec.StartupTaints = slices.Clone(t.Spec.StartupTaints)
	ct.Spec.Requirements = slices.Clone(t.Spec.Requirements)
	for i := range ct.Spec.Requirements {
		ct.Spec.Requirements[i].Values = slices.Clone(t.Spec.Requirements[i].Values)
	}
	return &c
}
