package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/admission"
)

// Snapshot is a cluster as manifests describe it. Its lists are in the order of namespaces and
// names, whatever the order of the input.
type Snapshot struct {
	// Problem is ready to be solved but for its catalog; see [Snapshot.SetCatalog]. Pods
	// of one workload share the memory of their specification.
	Problem scheduling.Problem
	// Overlays adjust the catalog's prices and capacities.
	Overlays []instancetypes.NodeOverlay
	// Warnings are findings that did not stop the reading.
	Warnings []scheduling.Warning
	// Skipped are the objects that [Loader.SkipInvalid] has left out, with the reason: one fault
	// for each object, document or file, in the order of the input.
	Skipped Faults

	// Documents is how many YAML documents and JSON values were read. Blanks and comments
	// are none, an empty list is one.
	Documents int
	// Kinds is how many objects were read, by kind.
	Kinds map[string]int

	// NodeGroups are the groups of nodes that NodePools stand for, by the NodePool's name: see
	// [Snapshot.AssumeNodePools].
	NodeGroups map[string]NodeGroup
	// ComputeClasses are the parts of GKE's ComputeClasses that NodePools stand for, by the NodePool's name.
	ComputeClasses map[string]ComputeClassPart

	// NodeClaims and budgets are handed on as they are.
	NodeClaims           []*NodeClaim
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget

	tops    map[string]string    // by pod; for pods of the input that are part of something
	made    map[string]*workload // by pod; the workloads of pods that are not in the input
	hosts   map[string]string    // the node of each claim, by the claim's name
	seen    map[objectKey]Location
	classes map[scheduling.NodeClassRef]nodeClass
	owners  *owners // which pods belong to which workloads
	// templates describe the nodes of groups, by the NodePool that stands for the group and the
	// type.
	templates map[string]map[string]instancetypes.ObservedNode
	// static are the requests of static pods on the next node: see staticByPool.
	static map[string]corev1.ResourceList
	// autoClass is the node class of EKS Auto Mode where the input does not have it; nil until it is asked for.
	autoClass *ec2.AutoNodeClass
}

// Workload returns the namespace and name of the Deployment, StatefulSet, Job, CronJob or other
// owner at the end of a pod's chain of owners, or the pod's own. The pod is named as in a plan,
// namespace/name.
func (s *Snapshot) Workload(pod string) string {
	if w := s.made[pod]; w != nil {
		return qualified(w.obj)
	}
	return cmp.Or(s.tops[pod], pod)
}

// Workloads are the pods that workloads of a kind, e.g. Deployment, have made or would make, by the
// namespace/name of the workload. Pods are named as in a plan, in order.
func (s *Snapshot) Workloads(kind string) map[string][]string {
	out := map[string][]string{}
	if s.owners == nil {
		return out // the zero Snapshot
	}
	for _, pod := range lo.Compact(slices.Concat(s.Problem.Pods, s.Problem.Running)) {
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

// NodeClassRefs names the node classes of the input, in the order of groups, kinds and names.
func (s *Snapshot) NodeClassRefs() []scheduling.NodeClassRef {
	return slices.SortedFunc(maps.Keys(s.classes), func(a, b scheduling.NodeClassRef) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
}

// KeepRoom adds the virtual pods of a buffer to the problem; see [Snapshot.Workload] for their owner.
func (s *Snapshot) KeepRoom(b *buffers.Buffer) {
	if s.tops == nil {
		s.tops = map[string]string{} // of the zero Snapshot
	}
	for _, pod := range b.Pods() {
		s.Problem.Pods = append(s.Problem.Pods, pod)
		s.tops[qualified(pod)] = b.Namespace + "/" + b.Name
	}
	s.Problem.Pods = lo.Compact(s.Problem.Pods)
	slices.SortFunc(s.Problem.Pods, byName)
}

// Locate finds the places in the input of faults that were found in the snapshot's problem after
// reading, e.g. by a [scheduling.Policy]: [*scheduling.FieldErrors] become [Faults] in the same
// order, each of which wraps the original fault. A fault in the template of a workload, which all
// of its pods share, is reported once. Objects outside of the input, e.g. a catalog, have no
// location. Any other error is returned unchanged.
func (s *Snapshot) Locate(err error) error {
	fields, ok := err.(*scheduling.FieldErrors) //nolint:errorlint // a wrapped error has more to say
	if !ok {
		return err
	}
	var out Faults
	seen := map[Fault]bool{}
	for _, e := range fields.Errors {
		f := faultAt(s, e)
		key := *f
		key.cause = nil
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

// Cluster returns the input for planning disruption: the problem, the ages and conditions of
// nodes, from NodeClaims and Nodes, and the PodDisruptionBudgets. Like the problem it lacks the
// catalog and the time.
//
// Notice that a node will be interrupted is read from the taints of AWS Node Termination Handler,
// Google Kubernetes Engine and Azure Kubernetes Service, and from node conditions of the latter.
// Rebalance recommendations, and maintenance on a later day, are no notice.
func (s *Snapshot) Cluster() disruption.Cluster { return clusterOf(s) }

// classOf returns the node class of a NodePool. A class of EKS Auto Mode that is not in the input
// is EKS's default class, which has the defaults of all others.
func (s *Snapshot) classOf(pool *scheduling.NodePool) nodeClass {
	class := classNamed(s.classes, pool.Spec.Template.Spec.NodeClassRef)
	if class == nil && autoMode(pool) {
		if s.autoClass == nil {
			s.autoClass = &ec2.AutoNodeClass{}
		}
		return s.autoClass
	}
	return class
}

// snapshotOf returns the cluster of the objects that were read, with the pods that workloads would
// make. maxPods is as in [Loader].
func snapshotOf(c *collector, maxPods int) *Snapshot {
	c.objects.sortWorkloads()
	slices.SortFunc(c.objects.priorityClasses, byName)
	slices.SortFunc(c.objects.limitRanges, byName)
	admit := admission.New(admission.Objects{
		PriorityClasses: c.objects.priorityClasses, LimitRanges: c.objects.limitRanges, RuntimeClasses: c.objects.runtimeClasses,
		ComputeClasses: c.objects.computeClasses, Warn: c.found.warn,
	})
	e := &expander{
		found: c.found, names: c.names, objects: c.objects, maxPods: maxPods,
		owners: ownersOf(c.objects), admit: admit, made: map[string]*workload{},
	}
	for _, w := range c.objects.workloads {
		e.expand(w)
	}
	e.expandBuffers()
	s := &Snapshot{
		Problem: c.objects.problem, NodeClaims: c.objects.claims, PodDisruptionBudgets: c.objects.budgets, Skipped: c.found.skipped,
		tops: map[string]string{}, made: e.made, hosts: map[string]string{}, seen: c.names.seen, classes: c.objects.classes, owners: e.owners,
	}
	for _, o := range c.objects.overlays {
		s.Overlays = append(s.Overlays, *o)
	}
	s.ComputeClasses = c.objects.classParts
	p := &s.Problem
	p.Owners = c.objects.controllers()
	p.Owners.ReplicaSets = append(p.Owners.ReplicaSets, e.sets...)
	admission.Classes(p.Claims, p.StorageClasses)
	p.Nodes = classNodes(c.objects, claimNodes(c.found, c.objects, s.hosts))
	for i, set := range p.DaemonSets {
		admitted := *set
		admitted.Spec.Template.Spec = *admit.Spec(set.Namespace, qualified(set), &set.Spec.Template.Spec)
		p.DaemonSets[i] = &admitted
	}
	for _, pod := range c.objects.pods {
		if top := e.owners.top(pod); top != qualified(pod) {
			s.tops[qualified(pod)] = top
		}
		if pod.UID == "" {
			pod.Spec = *admit.Spec(pod.Namespace, qualified(pod), &pod.Spec)
		}
	}
	placePods(c.found, p, slices.Concat(c.objects.pods, e.pods), e.owners)
	s.order()
	s.static = staticByPool(&s.Problem)
	c.unread.report(c.found, func(k groupKind) string { return suggestKind(c.readers, k) })
	reportMissing(c.found, p)
	reportClasses(c.found, c.objects.classes, p)
	reportAutoMode(c.found, c.objects.claims, p)
	reportAutoscalers(c.found, c.objects)
	reportQuotas(c.found, c.objects.quotas, p)
	reportSchedulers(c.found, c.objects.workloads, c.unread.workloadRefs, p)
	s.Warnings = lo.Uniq(c.found.warnings)
	slices.SortFunc(s.Warnings, func(a, b scheduling.Warning) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message))
	})
	return s
}

// placePods divides pods into running and pending ones. Pods of DaemonSets and static pods, which come
// with a node, are neither.
func placePods(found *findings, p *scheduling.Problem, pods []*corev1.Pod, o *owners) {
	nodes := lo.SliceToMap(p.Nodes, func(n *corev1.Node) (string, bool) { return n.Name, true })
	var stray sighting             // pods of DaemonSets that are not in the input
	lost := map[string]*sighting{} // pods on nodes that are not in the input, by node
	for _, pod := range pods {
		owner, _ := controllerOf(pod)
		switch node := pod.Spec.NodeName; {
		case lifecycle.Ended(pod):
		case nodes[node]:
			p.Running = append(p.Running, pod)
		case node != "":
			count(lost, node, qualified(pod))
		case pod.DeletionTimestamp != nil, owner.kind == "Node":
		case owner.kind != "DaemonSet":
			p.Pods = append(p.Pods, pod)
		case !o.inInput[owner]:
			stray.see(qualified(pod))
		}
	}
	if len(lost) > 0 {
		name := slices.Min(lo.Keys(lost))
		all := sighting{count: lo.SumBy(lo.Values(lost), func(s *sighting) int { return s.count })}
		hint := ""
		if len(nodes) == 0 {
			hint = "; the input has no nodes: add the output of kubectl get nodes -o json, to use their capacity"
		}
		found.warn(lost[name].object, fmt.Sprintf("runs on node %s, which is not in the input, and was left out%s%s", name, all.others(), hint))
	}
	if stray.count > 0 {
		found.warn(stray.object, "belongs to a DaemonSet that is not in the input, so new nodes are planned without it"+stray.others())
	} else if len(p.DaemonSets) == 0 && len(p.NodePools)+len(p.Nodes) > 0 && len(p.Pods)+len(p.Running) > 0 {
		found.warn("DaemonSets", "the input has none, so new nodes are planned without DaemonSet pods; add the output of kubectl get ds -A -o json")
	}
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
	slices.SortFunc(s.Problem.SpotPolicies, byName)
	slices.SortFunc(s.Problem.Owners.ReplicaSets, byName)
	slices.SortFunc(s.Problem.Owners.StatefulSets, byName)
	slices.SortFunc(s.Problem.Owners.ReplicationControllers, byName)
	slices.SortFunc(s.Overlays, func(a, b instancetypes.NodeOverlay) int { return strings.Compare(a.Name, b.Name) })
}
