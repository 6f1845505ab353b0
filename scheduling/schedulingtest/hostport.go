package schedulingtest

import corev1 "k8s.io/api/core/v1"

// HostPort takes a TCP port of the node on all of its addresses.
func HostPort(port int32) PodOption { return HostPortOn("", port, corev1.ProtocolTCP) }

// HostPortOn takes a port of the node on one of its addresses; an empty address
// stands for all.
func HostPortOn(ip string, port int32, protocol corev1.Protocol) PodOption {
	return podFunc(func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{
			HostPort: port, ContainerPort: port, HostIP: ip, Protocol: protocol,
		})
	})
}
