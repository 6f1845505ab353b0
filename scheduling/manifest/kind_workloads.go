package manifest

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths that several kinds share.
var (
	specReplicas = path{}.key("spec", "replicas")
	templateSpec = path{}.key("spec", "template", "spec")
)

func (c *collector) pod(o rawObject) {
	f, ok := take[corev1.Pod](c, o, true)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.podSpec(&f.obj.Spec, path{}.key("spec"))
	c.pods = append(c.pods, f)
}

func (c *collector) deployment(o rawObject) {
	f, ok := take[appsv1.Deployment](c, o, true)
	if !ok {
		return
	}
	c.inspect(o, f.obj).templated(f.obj.Spec.Replicas, f.obj.Spec.Selector, &f.obj.Spec.Template)
	c.deployments = append(c.deployments, f)
}

func (c *collector) statefulSet(o rawObject) {
	f, ok := take[appsv1.StatefulSet](c, o, true)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	if ordinals := f.obj.Spec.Ordinals; ordinals != nil {
		in.count(&ordinals.Start, path{}.key("spec", "ordinals", "start"))
	}
	in.templated(f.obj.Spec.Replicas, f.obj.Spec.Selector, &f.obj.Spec.Template)
	c.statefulSets = append(c.statefulSets, f)
}

func (c *collector) replicaSet(o rawObject) {
	f, ok := take[appsv1.ReplicaSet](c, o, true)
	if !ok {
		return
	}
	c.inspect(o, f.obj).templated(f.obj.Spec.Replicas, f.obj.Spec.Selector, &f.obj.Spec.Template)
	c.replicaSets = append(c.replicaSets, f)
}

func (c *collector) replicationController(o rawObject) {
	f, ok := take[corev1.ReplicationController](c, o, true)
	if !ok {
		return
	}
	in := c.inspect(o, f.obj)
	in.count(f.obj.Spec.Replicas, specReplicas)
	if f.obj.Spec.Template == nil {
		in.fault(path{}.key("spec", "template"), "is missing")
		return
	}
	in.podSpec(&f.obj.Spec.Template.Spec, templateSpec)
	c.controllers = append(c.controllers, f)
}

func (c *collector) daemonSet(o rawObject) {
	f, ok := take[appsv1.DaemonSet](c, o, true)
	if !ok {
		return
	}
	c.inspect(o, f.obj).templated(nil, f.obj.Spec.Selector, &f.obj.Spec.Template)
	c.daemonSets = append(c.daemonSets, f.obj)
}

func (c *collector) job(o rawObject) {
	f, ok := take[batchv1.Job](c, o, true)
	if !ok {
		return
	}
	c.inspect(o, f.obj).jobSpec(&f.obj.Spec, path{}.key("spec"))
	c.jobs = append(c.jobs, f)
}

func (c *collector) cronJob(o rawObject) {
	f, ok := take[batchv1.CronJob](c, o, true)
	if !ok {
		return
	}
	c.inspect(o, f.obj).jobSpec(&f.obj.Spec.JobTemplate.Spec, path{}.key("spec", "jobTemplate", "spec"))
	c.cronJobs = append(c.cronJobs, f)
}

// templated looks at how many pods there are to be, at their template, and at what
// selects them.
func (in inspector) templated(replicas *int32, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	in.count(replicas, specReplicas)
	in.selects(selector, template.Labels)
	in.podSpec(&template.Spec, templateSpec)
}

// jobSpec looks at the specification of a Job.
func (in inspector) jobSpec(spec *batchv1.JobSpec, p path) {
	in.count(spec.Parallelism, p.key("parallelism"))
	in.count(spec.Completions, p.key("completions"))
	in.podSpec(&spec.Template.Spec, p.key("template", "spec"))
}
