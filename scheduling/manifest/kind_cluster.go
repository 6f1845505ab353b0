package manifest

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (c *collector) node(o rawObject) {
	f, ok := take[corev1.Node](c, o, false)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.resources(f.obj.Status.Capacity, path{}.key("status", "capacity"))
	in.resources(f.obj.Status.Allocatable, path{}.key("status", "allocatable"))
	c.nodes = append(c.nodes, f)
}

func (c *collector) limitRange(o rawObject) {
	f, ok := take[corev1.LimitRange](c, o, true)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	for i, item := range f.obj.Spec.Limits {
		at := path{}.key("spec", "limits").at(i)
		in.resources(item.Max, at.key("max"))
		in.resources(item.Min, at.key("min"))
		in.resources(item.Default, at.key("default"))
		in.resources(item.DefaultRequest, at.key("defaultRequest"))
	}
	c.limitRanges = append(c.limitRanges, f.obj)
}

func (c *collector) runtimeClass(o rawObject) {
	f, ok := take[nodev1.RuntimeClass](c, o, false)
	if !ok {
		return
	}
	if f.obj.Overhead != nil {
		c.inspect(o, f.obj).resources(f.obj.Overhead.PodFixed, path{}.key("overhead", "podFixed"))
	}
	c.runtimeClasses = append(c.runtimeClasses, f.obj)
}

// keep takes an object in as it is.
func keep[T any, P interface {
	*T
	metav1.Object
}](c *collector, o rawObject, namespaced bool, list *[]P) {
	if f, ok := take[T, P](c, o, namespaced); ok {
		*list = append(*list, f.obj)
	}
}

func (c *collector) priorityClass(o rawObject)    { keep(c, o, false, &c.priorityClasses) }
func (c *collector) namespace(o rawObject)        { keep(c, o, false, &c.namespaces) }
func (c *collector) service(o rawObject)          { keep(c, o, true, &c.services) }
func (c *collector) disruptionBudget(o rawObject) { keep(c, o, true, &c.budgets) }
func (c *collector) volumeClaim(o rawObject)      { keep(c, o, true, &c.volumeClaims) }
func (c *collector) volume(o rawObject)           { keep(c, o, false, &c.volumes) }
func (c *collector) storageClass(o rawObject)     { keep(c, o, false, &c.storageClasses) }
func (c *collector) csiNode(o rawObject)          { keep(c, o, false, &c.csiNodes) }
