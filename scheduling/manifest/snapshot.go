package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Snapshot is what manifests say about a cluster. Its lists are in the order of
// namespaces and names, whatever the order of the input.
type Snapshot struct {
	// Problem is ready to be solved but for its catalog; see [Snapshot.SetCatalog]. Pods
	// of one workload share the memory of their specification.
	Problem scheduling.Problem
	// Overlays adjust the catalog's prices and capacities.
	Overlays []instancetypes.NodeOverlay
	// Warnings are what was noticed and did not stop the reading.
	Warnings []scheduling.Warning
	// Skipped are what [Loader.SkipInvalid] has left out, with the reason: one fault for
	// each object, document or file, in the order of the input.
	Skipped Faults

	// Documents is how many YAML documents and JSON values were read. Blanks and comments
	// are none, an empty list is one.
	Documents int

	// NodeClaims and budgets are handed on as they are.
	NodeClaims           []*NodeClaim
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	tops    map[string]string
	hosts   map[string]string // the node of each claim, by the claim's name
	seen    map[objectKey]Location
	classes map[scheduling.NodeClassRef]nodeClass

	owners *owners // which pods belong to which workloads
}

// Workload returns what people call the thing that a pod is part of: namespace and
// name of its Deployment, StatefulSet, Job, CronJob or other owner, or the pod's own.
// The pod is named as in a plan, namespace/name.
func (s *Snapshot) Workload(pod string) string {
	if top, ok := s.tops[pod]; ok {
		return top
	}
	return pod
}

// Workloads are the pods that workloads of a kind, such as Deployment, have made or would
// make, by the namespace/name of the workload. Pods are named as in a plan, in order.
func (s *Snapshot) Workloads(kind string) map[string][]string {
	out := map[string][]string{}
	for _, pod := range slices.Concat(s.Problem.Pods, s.Problem.Running) {
		for _, w := range s.owners.chain(pod) {
			if w.kind == kind {
				name := w.namespace + "/" + w.name
				out[name] = append(out[name], qualified(pod))
			}
		}
	}
	for _, pods := range out {
		slices.Sort(pods)
	}
	return out
}

// snapshot puts everything that was read in its place.
func (c *collector) snapshot() *Snapshot {
	o := c.own()
	admission := c.admission()
	e := &expander{c: c, owners: o, admit: admission, tops: map[objectKey]string{}}
	e.expand()
	s := &Snapshot{
		Overlays:             c.overlays,
		PodDisruptionBudgets: c.budgets,
		owners:               o,
		tops:                 map[string]string{},
		hosts:                map[string]string{},
		seen:                 c.seen,
		classes:              c.classes,
		Documents:            c.documents,
	}
	s.Problem.Claims, s.Problem.Volumes = c.volumeClaims, c.volumes
	s.Problem.StorageClasses, s.Problem.CSINodes = c.storageClasses, c.csiNodes
	s.Problem.Namespaces, s.Problem.Services = c.namespaces, c.services
	s.Problem.Owners = e.controllers()
	if c.spread != nil {
		s.Problem.DefaultSpread = c.spread.constraints
	}
	admitClaims(s.Problem.Claims, s.Problem.StorageClasses)
	for _, f := range c.claims {
		s.NodeClaims = append(s.NodeClaims, f.obj)
	}
	s.Problem.NodePools = c.pools
	s.Problem.Nodes = c.claimNodes(s.hosts)
	for _, ds := range c.daemonSets {
		admitted := *ds
		admitted.Spec.Template.Spec = *admission.spec(ds.Namespace, qualified(ds), &ds.Spec.Template.Spec)
		s.Problem.DaemonSets = append(s.Problem.DaemonSets, &admitted)
	}
	p := placer{c: c, owners: o, problem: &s.Problem, nodes: map[string]bool{}, lost: map[string]*sighting{}}
	for _, n := range s.Problem.Nodes {
		p.nodes[n.Name] = true
	}
	for _, f := range c.pods {
		pod := f.obj
		if top := o.top(pod); top != qualified(pod) {
			s.tops[qualified(pod)] = top
		}
		if pod.UID == "" {
			pod.Spec = *admission.spec(pod.Namespace, qualified(pod), &pod.Spec)
		}
		p.place(pod)
	}
	for _, pod := range e.pods {
		s.tops[qualified(pod)] = e.tops[podKey(pod)]
		p.place(pod)
	}
	p.report()
	s.order()
	c.reportUnknown()
	c.reportDeploying()
	c.reportMissing(&s.Problem)
	c.reportClasses(&s.Problem)
	c.reportAutoscalers()
	c.reportQuotas(&s.Problem)
	c.reportSchedulers(&s.Problem)
	s.Warnings = c.sortedWarnings()
	s.Skipped = c.skipped
	return s
}

// order sorts every list.
func (s *Snapshot) order() {
	slices.SortFunc(s.Problem.Pods, byName)
	slices.SortFunc(s.Problem.Running, byName)
	slices.SortFunc(s.Problem.Nodes, byName)
	slices.SortFunc(s.Problem.NodePools, byName)
	slices.SortFunc(s.Problem.DaemonSets, byName[*appsv1.DaemonSet])
	slices.SortFunc(s.NodeClaims, byName)
	slices.SortFunc(s.PodDisruptionBudgets, byName)
	slices.SortFunc(s.Problem.Claims, byName)
	slices.SortFunc(s.Problem.Volumes, byName)
	slices.SortFunc(s.Problem.StorageClasses, byName)
	slices.SortFunc(s.Problem.CSINodes, byName)
	slices.SortFunc(s.Problem.Namespaces, byName)
	slices.SortFunc(s.Problem.Services, byName)
	slices.SortFunc(s.Problem.Owners.ReplicaSets, byName)
	slices.SortFunc(s.Problem.Owners.StatefulSets, byName)
	slices.SortFunc(s.Problem.Owners.ReplicationControllers, byName)
	slices.SortFunc(s.Overlays, func(a, b instancetypes.NodeOverlay) int { return strings.Compare(a.Name, b.Name) })
}

// reportUnknown warns about fields and kinds that were left out.
func (c *collector) reportUnknown() {
	for key, seen := range c.unknown {
		c.warn(seen.object, fmt.Sprintf("field %s is not known for a %s%s and was left out%s", seen.field, key.kind, didYouMean(seen.meant), others(seen.count)))
	}
	for k, seen := range c.kinds {
		c.warn(seen.object, fmt.Sprintf("kind %s is not known%s and was left out%s", k.name, didYouMean(c.meantKind(k)), others(seen.count)))
	}
}

// others says that a warning holds for more objects than the one it names.
func others(count int) string {
	if count <= 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", count-1)
}

// sortedWarnings returns the warnings in order, each once.
func (c *collector) sortedWarnings() []scheduling.Warning {
	unique := map[scheduling.Warning]bool{}
	for _, w := range c.warnings {
		unique[w] = true
	}
	return slices.SortedFunc(maps.Keys(unique), func(a, b scheduling.Warning) int {
		if d := strings.Compare(a.Object, b.Object); d != 0 {
			return d
		}
		return strings.Compare(a.Message, b.Message)
	})
}
