package provisioning

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Apply makes a change. An error means that the session is unchanged: it lists every fault, faults of objects as
// [*FieldErrors] with object, field and value. Removing an object that does not exist is a fault.
func (x *Session) Apply(d scheduling.Delta) error {
	if err := check(&d); err != nil {
		return err
	}
	x.ready()
	c := validate.NewChecker()
	next := x.problem
	objects(&next, c, &d)
	pods := x.podChange(c, &d)
	catalogs(c, &next, &d)
	if err := c.Faults.Err(); err != nil {
		return err
	}
	if err := reprice(&next, d.Offerings); err != nil {
		return err
	}
	if d.Unavailable != nil {
		next.Unavailable = d.Unavailable
	}
	if !d.Now.IsZero() {
		next.Now = d.Now
	}
	spread := len(next.DefaultSpread) > 0
	if d.DefaultSpread != nil {
		next.DefaultSpread = d.DefaultSpread
	}
	if len(d.NodePools) > 0 || len(d.Removed.NodePools) > 0 {
		x.memory.Part()
	}
	x.problem = next
	x.changePods(&pods, &d)
	done := slices.Concat(pods.taken, keysOf(d.Removed.Pods))
	for i := range d.Moved {
		done = append(done, podspec.KeyOf(d.Moved[i].Pod))
	}
	x.nominate(d.Nominated, done)
	if len(next.DefaultSpread) > 0 != spread {
		x.waiting.specReader = podspec.NewSpecReader(&x.problem, &x.solver)
		x.waiting.shared = false
		x.waiting.read()
	}
	return nil
}

// check reports the faults of the objects of a change, each for itself.
func check(d *scheduling.Delta) error {
	p := scheduling.Problem{
		Nodes: d.Nodes, NodePools: d.NodePools, DaemonSets: d.DaemonSets,
		Claims: d.Claims, Volumes: d.Volumes, StorageClasses: d.StorageClasses, CSINodes: d.CSINodes, Nominated: d.Nominated,
		Namespaces: d.Namespaces, Services: d.Services, Owners: d.Owners, DefaultSpread: d.DefaultSpread, SpotPolicies: d.SpotPolicies,
	}
	for _, pod := range d.Pods {
		if pod != nil && pod.Spec.NodeName != "" {
			p.Running = append(p.Running, pod)
		} else {
			p.Pods = append(p.Pods, pod)
		}
	}
	c := validate.NewChecker()
	c.AllPods(&p, nil)
	c.Objects(&p)
	moved(c, d.Moved)
	return c.Faults.Err()
}

// moved reports moves to nowhere.
func moved(c *validate.Checker, moves []scheduling.Move) {
	for i := range moves {
		if m := &moves[i]; m.Node == "" {
			c.MoveTo(validate.Position{List: "moved", Index: i, Namespace: podspec.OrDefault(m.Pod.Namespace), Name: m.Pod.Name})
			c.Faults.Add("", "is missing", "node")
		}
	}
}

// objects makes the change in all lists but those of pods.
func objects(p *scheduling.Problem, c *validate.Checker, d *scheduling.Delta) {
	apply(c, "nodes", anywhere[*corev1.Node], &p.Nodes, d.Nodes, plainKeys(d.Removed.Nodes))
	apply(c, "nodepools", anywhere[*scheduling.NodePool], &p.NodePools, d.NodePools, plainKeys(d.Removed.NodePools))
	apply(c, "daemonsets", inNamespace[*appsv1.DaemonSet], &p.DaemonSets, d.DaemonSets, keysOf(d.Removed.DaemonSets))
	apply(c, "claims", inNamespace[*corev1.PersistentVolumeClaim], &p.Claims, d.Claims, keysOf(d.Removed.Claims))
	apply(c, "volumes", anywhere[*corev1.PersistentVolume], &p.Volumes, d.Volumes, plainKeys(d.Removed.Volumes))
	apply(c, "storageclasses", anywhere[*storagev1.StorageClass], &p.StorageClasses, d.StorageClasses, plainKeys(d.Removed.StorageClasses))
	apply(c, "csinodes", anywhere[*storagev1.CSINode], &p.CSINodes, d.CSINodes, plainKeys(d.Removed.CSINodes))
	apply(c, "namespaces", anywhere[*corev1.Namespace], &p.Namespaces, d.Namespaces, plainKeys(d.Removed.Namespaces))
	apply(c, "services", inNamespace[*corev1.Service], &p.Services, d.Services, keysOf(d.Removed.Services))
	apply(c, "spotpolicies", anywhere[*scheduling.SpotPolicy], &p.SpotPolicies, d.SpotPolicies, plainKeys(d.Removed.SpotPolicies))
	o, n, r := &p.Owners, &d.Owners, &d.Removed
	apply(c, "replicationcontrollers", inNamespace[*corev1.ReplicationController], &o.ReplicationControllers, n.ReplicationControllers, keysOf(r.ReplicationControllers))
	apply(c, "replicasets", inNamespace[*appsv1.ReplicaSet], &o.ReplicaSets, n.ReplicaSets, keysOf(r.ReplicaSets))
	apply(c, "statefulsets", inNamespace[*appsv1.StatefulSet], &o.StatefulSets, n.StatefulSets, keysOf(r.StatefulSets))
}

// sortedProblem returns a problem without pods whose lists are copies in the order of names.
func sortedProblem(p scheduling.Problem) scheduling.Problem {
	p = cloned(p)
	d := scheduling.Delta{
		Nodes: p.Nodes, NodePools: p.NodePools, DaemonSets: p.DaemonSets, Claims: p.Claims, Volumes: p.Volumes,
		StorageClasses: p.StorageClasses, CSINodes: p.CSINodes, Namespaces: p.Namespaces, Services: p.Services, Owners: p.Owners, SpotPolicies: p.SpotPolicies,
	}
	out := scheduling.Problem{
		Catalog: p.Catalog, PoolCatalogs: p.PoolCatalogs, DefaultSpread: p.DefaultSpread, Scheduler: p.Scheduler,
		Unavailable: p.Unavailable, Now: p.Now,
	}
	objects(&out, validate.NewChecker(), &d)
	return out
}

// cloned is a problem with lists of its own.
func cloned(p scheduling.Problem) scheduling.Problem {
	p.Pods, p.Running, p.Nodes, p.NodePools = slices.Clone(p.Pods), slices.Clone(p.Running), slices.Clone(p.Nodes), slices.Clone(p.NodePools)
	p.DaemonSets, p.Claims, p.Volumes = slices.Clone(p.DaemonSets), slices.Clone(p.Claims), slices.Clone(p.Volumes)
	p.StorageClasses, p.CSINodes = slices.Clone(p.StorageClasses), slices.Clone(p.CSINodes)
	p.Namespaces, p.Services, p.SpotPolicies = slices.Clone(p.Namespaces), slices.Clone(p.Services), slices.Clone(p.SpotPolicies)
	p.Owners.ReplicationControllers = slices.Clone(p.Owners.ReplicationControllers)
	p.Owners.ReplicaSets, p.Owners.StatefulSets = slices.Clone(p.Owners.ReplicaSets), slices.Clone(p.Owners.StatefulSets)
	p.PoolCatalogs, p.DefaultSpread = maps.Clone(p.PoolCatalogs), slices.Clone(p.DefaultSpread)
	p.Nominated = maps.Clone(p.Nominated)
	return p
}

// catalogs replaces catalogs. Single offerings are changed elsewhere.
func catalogs(c *validate.Checker, p *scheduling.Problem, d *scheduling.Delta) {
	if d.Catalog != nil {
		p.Catalog = d.Catalog
	}
	if len(d.PoolCatalogs) == 0 && len(d.Removed.NodePools) == 0 {
		return
	}
	p.PoolCatalogs = maps.Clone(p.PoolCatalogs)
	for _, name := range d.Removed.NodePools {
		delete(p.PoolCatalogs, name)
	}
	for name, catalog := range d.PoolCatalogs {
		if catalog == nil {
			delete(p.PoolCatalogs, name)
			continue
		}
		if p.PoolCatalogs == nil {
			p.PoolCatalogs = map[string]*instancetypes.Catalog{}
		}
		p.PoolCatalogs[name] = catalog
	}
	c.PoolCatalogs(p)
}

// reprice changes single offerings in every catalog that has their types.
func reprice(p *scheduling.Problem, changes []instancetypes.OfferingChange) error {
	if len(changes) == 0 {
		return nil
	}
	known := map[*instancetypes.Catalog]*instancetypes.Catalog{nil: nil}
	found := make([]bool, len(changes))
	renew := func(old *instancetypes.Catalog) error {
		if _, done := known[old]; done {
			return nil
		}
		var own []instancetypes.OfferingChange
		for i, x := range changes {
			if _, ok := old.Get(x.InstanceType); ok {
				own, found[i] = append(own, x), true
			}
		}
		known[old] = old
		if len(own) == 0 {
			return nil
		}
		made, err := old.WithOfferings(own...)
		known[old] = made
		return err
	}
	err := renew(p.Catalog)
	for _, name := range slices.Sorted(maps.Keys(p.PoolCatalogs)) {
		if err == nil {
			err = renew(p.PoolCatalogs[name])
		}
	}
	if err != nil {
		return &offeringError{err}
	}
	c := validate.NewChecker()
	for i, ok := range found {
		if !ok {
			c.MoveTo(validate.Position{List: "offerings", Index: i})
			c.Faults.Add(changes[i].InstanceType, "is in no catalog", "instanceType")
		}
	}
	if err := c.Faults.Err(); err != nil {
		return err
	}
	p.Catalog = known[p.Catalog]
	p.PoolCatalogs = maps.Clone(p.PoolCatalogs)
	for name, old := range p.PoolCatalogs {
		p.PoolCatalogs[name] = known[old]
	}
	return nil
}

// offeringError reports the faults of changes of offerings. It wraps [ErrInvalid].
type offeringError struct{ err error }

func (e *offeringError) Error() string { return "offerings: " + e.err.Error() }

func (e *offeringError) Unwrap() []error { return []error{scheduling.ErrInvalid, e.err} }
