package reading

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (r *Reader) meta(m *metav1.ObjectMeta) {
	//nolint:staticcheck // SelfLink is deprecated, and read like every other field.
	r.strings(m.Name, m.GenerateName, m.Namespace, m.SelfLink, string(m.UID), m.ResourceVersion)
	r.word(uint64(m.Generation))
	r.time(&m.CreationTimestamp)
	r.time(m.DeletionTimestamp)
	number(r, m.DeletionGracePeriodSeconds)
	r.labels(m.Labels)
	r.labels(m.Annotations)
	for i := range m.OwnerReferences {
		o := &m.OwnerReferences[i]
		r.strings(o.APIVersion, o.Kind, o.Name, string(o.UID))
		flag(r, o.Controller)
		flag(r, o.BlockOwnerDeletion)
	}
	r.strings(m.Finalizers...)
	rares(r, m.ManagedFields)
}

func (r *Reader) spec(s *corev1.PodSpec) {
	rares(r, s.Volumes)
	for i := range s.InitContainers {
		r.container(&s.InitContainers[i])
	}
	for i := range s.Containers {
		r.container(&s.Containers[i])
	}
	rares(r, s.EphemeralContainers)
	r.strings(string(s.RestartPolicy), string(s.DNSPolicy), s.ServiceAccountName, s.DeprecatedServiceAccount,
		s.NodeName, s.Hostname, s.Subdomain, s.SchedulerName, s.PriorityClassName)
	number(r, s.TerminationGracePeriodSeconds)
	number(r, s.ActiveDeadlineSeconds)
	number(r, s.Priority)
	r.labels(s.NodeSelector)
	r.bools(s.HostNetwork, s.HostPID, s.HostIPC)
	for _, b := range [...]*bool{s.AutomountServiceAccountToken, s.ShareProcessNamespace, s.EnableServiceLinks, s.SetHostnameAsFQDN, s.HostUsers} {
		flag(r, b)
	}
	text(r, s.RuntimeClassName)
	text(r, s.PreemptionPolicy)
	text(r, s.HostnameOverride)
	for i := range s.Tolerations {
		t := &s.Tolerations[i]
		r.strings(t.Key, string(t.Operator), t.Value, string(t.Effect))
		number(r, t.TolerationSeconds)
	}
	r.amounts(s.Overhead)
	r.affinity(s.Affinity)
	for i := range s.TopologySpreadConstraints {
		r.spread(&s.TopologySpreadConstraints[i])
	}
	if s.Resources != nil {
		r.resources(s.Resources)
	}
	rare(r, s.SecurityContext)
	rares(r, s.ImagePullSecrets)
	rares(r, s.HostAliases)
	rare(r, s.DNSConfig)
	rares(r, s.ReadinessGates)
	rare(r, s.OS)
	rares(r, s.SchedulingGates)
	rares(r, s.ResourceClaims)
	rare(r, s.SchedulingGroup)
}

func (r *Reader) container(c *corev1.Container) {
	r.strings(c.Name, c.Image, c.WorkingDir, c.TerminationMessagePath, string(c.TerminationMessagePolicy), string(c.ImagePullPolicy))
	r.strings(c.Command...)
	r.strings(c.Args...)
	for i := range c.Ports {
		p := &c.Ports[i]
		r.strings(p.Name, string(p.Protocol), p.HostIP)
		r.word(uint64(p.HostPort)<<32 | uint64(uint32(p.ContainerPort)))
	}
	rares(r, c.EnvFrom)
	for i := range c.Env {
		e := &c.Env[i]
		r.strings(e.Name, e.Value)
		rare(r, e.ValueFrom)
	}
	r.resources(&c.Resources)
	rares(r, c.ResizePolicy)
	text(r, c.RestartPolicy)
	rares(r, c.RestartPolicyRules)
	rares(r, c.VolumeMounts)
	rares(r, c.VolumeDevices)
	rare(r, c.LivenessProbe)
	rare(r, c.ReadinessProbe)
	rare(r, c.StartupProbe)
	rare(r, c.Lifecycle)
	rare(r, c.SecurityContext)
	r.bools(c.Stdin, c.StdinOnce, c.TTY)
}

func (r *Reader) resources(q *corev1.ResourceRequirements) {
	r.amounts(q.Limits)
	r.amounts(q.Requests)
	for i := range q.Claims {
		r.strings(q.Claims[i].Name, q.Claims[i].Request)
	}
}

func (r *Reader) status(s *corev1.PodStatus) {
	r.word(uint64(s.ObservedGeneration))
	r.strings(string(s.Phase), s.Message, s.Reason, s.NominatedNodeName, s.HostIP, s.PodIP, string(s.QOSClass), string(s.Resize))
	rares(r, s.Conditions)
	rares(r, s.HostIPs)
	rares(r, s.PodIPs)
	r.time(s.StartTime)
	rares(r, s.InitContainerStatuses)
	rares(r, s.ContainerStatuses)
	rares(r, s.EphemeralContainerStatuses)
	rares(r, s.ResourceClaimStatuses)
	rare(r, s.ExtendedResourceClaimStatus)
	r.amounts(s.AllocatedResources)
	if s.Resources != nil {
		r.resources(s.Resources)
	}
	rares(r, s.NodeAllocatableResourceClaimStatuses)
}
