package manifest

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func (c *collector) node(o rawObject) {
	f, ok := take[corev1.Node](c, o, false)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.resources(f.obj.Status.Capacity, path{}.key("status", "capacity"))
	in.resources(f.obj.Status.Allocatable, path{}.key("status", "allocatable"))
	if pool, ok := f.obj.Labels[formerPoolLabel]; ok && f.obj.Labels[scheduling.NodePoolLabel] == "" {
		f.obj.Labels[scheduling.NodePoolLabel] = pool
	}
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

// disruptionBudget reads a budget. In v1beta1 an empty selector selected no pod; in v1 it
// selects all, and none at all selects none.
func (c *collector) disruptionBudget(o rawObject) {
	f, ok := take[policyv1.PodDisruptionBudget](c, o, true)
	if !ok {
		return
	}
	if s := f.obj.Spec.Selector; o.apiVersion == "policy/v1beta1" && s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		f.obj.Spec.Selector = nil
	}
	c.budgets = append(c.budgets, f.obj)
}

func (c *collector) priorityClass(o rawObject) { keep(c, o, false, &c.priorityClasses) }
func (c *collector) namespace(o rawObject)     { keep(c, o, false, &c.namespaces) }
func (c *collector) service(o rawObject)       { keep(c, o, true, &c.services) }
func (c *collector) volumeClaim(o rawObject)   { keep(c, o, true, &c.volumeClaims) }
func (c *collector) volume(o rawObject)        { keep(c, o, false, &c.volumes) }
func (c *collector) storageClass(o rawObject)  { keep(c, o, false, &c.storageClasses) }
func (c *collector) csiNode(o rawObject)       { keep(c, o, false, &c.csiNodes) }
