package karpenter

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// leaveOut takes objects out of the problem that the planner refuses, each with a warning, because one of them would keep
// all pods from being planned. With a refused pod that runs goes its node, because its free room is not known. The error
// has the faults that belong to no object.
func (s *Snapshot) leaveOut() error {
	p := &s.Cluster.Problem
	var found *scheduling.FieldErrors
	if !errors.As(provisioning.Validate(p), &found) {
		return nil
	}
	refused := refusedObjects{}
	for _, e := range found.Errors {
		if object, _, ok := strings.Cut(e.Path, "]"); ok {
			refused[object+"]"] = true
			s.warn(object+"]", "is left out: "+e.Error())
		}
	}
	for _, pod := range p.Running {
		if refused.has("running", pod) {
			refused["nodes["+pod.Spec.NodeName+"]"] = true
		}
	}
	for name := range p.PoolCatalogs {
		if refused["nodepools["+name+"]"] {
			delete(p.PoolCatalogs, name)
		}
	}
	p.Pods, p.Running = keep(refused, "pods", p.Pods), keep(refused, "running", p.Running)
	p.Nodes, p.NodePools, p.DaemonSets = keep(refused, "nodes", p.Nodes), keep(refused, "nodepools", p.NodePools), keep(refused, "daemonsets", p.DaemonSets)
	p.Claims, p.Volumes = keep(refused, "claims", p.Claims), keep(refused, "volumes", p.Volumes)
	p.StorageClasses, p.CSINodes, p.Namespaces = keep(refused, "storageclasses", p.StorageClasses), keep(refused, "csinodes", p.CSINodes), keep(refused, "namespaces", p.Namespaces)
	nodes := map[string]bool{}
	for _, n := range p.Nodes {
		nodes[n.Name] = true
	}
	p.Running = slices.DeleteFunc(p.Running, func(pod *corev1.Pod) bool { return !nodes[pod.Spec.NodeName] })
	s.Cluster.Machines = slices.DeleteFunc(s.Cluster.Machines, func(m disruption.Machine) bool { return !nodes[m.Node] })
	return provisioning.Validate(p)
}

// refusedObjects are objects as faults name them, e.g. pods[shop/web-3].
type refusedObjects map[string]bool

// has reports whether an object of a list is refused.
func (r refusedObjects) has(list string, o metav1.Object) bool {
	name := o.GetName()
	if o.GetNamespace() != "" {
		name = o.GetNamespace() + "/" + name
	}
	return r[list+"["+name+"]"]
}

// keep is a list without the objects that are refused.
func keep[T metav1.Object](refused refusedObjects, list string, objects []T) []T {
	return slices.DeleteFunc(objects, func(o T) bool { return refused.has(list, o) })
}
