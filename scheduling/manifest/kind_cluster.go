package manifest

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
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

func (c *collector) priorityClass(o rawObject) {
	if f, ok := take[schedulingv1.PriorityClass](c, o, false); ok {
		c.priorityClasses = append(c.priorityClasses, f.obj)
	}
}

func (c *collector) namespace(o rawObject) {
	if f, ok := take[corev1.Namespace](c, o, false); ok {
		c.namespaces = append(c.namespaces, f.obj)
	}
}

func (c *collector) service(o rawObject) {
	if f, ok := take[corev1.Service](c, o, true); ok {
		c.services = append(c.services, f.obj)
	}
}

func (c *collector) disruptionBudget(o rawObject) {
	if f, ok := take[policyv1.PodDisruptionBudget](c, o, true); ok {
		c.budgets = append(c.budgets, f.obj)
	}
}

func (c *collector) volumeClaim(o rawObject) {
	if f, ok := take[corev1.PersistentVolumeClaim](c, o, true); ok {
		c.volumeClaims = append(c.volumeClaims, f.obj)
	}
}

func (c *collector) volume(o rawObject) {
	if f, ok := take[corev1.PersistentVolume](c, o, false); ok {
		c.volumes = append(c.volumes, f.obj)
	}
}

func (c *collector) storageClass(o rawObject) {
	if f, ok := take[storagev1.StorageClass](c, o, false); ok {
		c.storageClasses = append(c.storageClasses, f.obj)
	}
}

func (c *collector) csiNode(o rawObject) {
	if f, ok := take[storagev1.CSINode](c, o, false); ok {
		c.csiNodes = append(c.csiNodes, f.obj)
	}
}
