package snapshot

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Port is a host port that a pod takes on its node.
type Port struct {
	ip       string
	protocol corev1.Protocol
	number   int32
}

func (p Port) String() string { return fmt.Sprintf("%s:%d/%s", p.ip, p.number, p.protocol) }

// hostPorts returns the ports of the containers and sidecars, with the defaults of
// the API server: TCP, every address, and on the host's network the port that the
// container listens on.
func hostPorts(spec *corev1.PodSpec) []Port {
	var ports []Port
	scan := func(c *corev1.Container) {
		for _, cp := range c.Ports {
			p := Port{ip: cmp.Or(cp.HostIP, "0.0.0.0"), protocol: cmp.Or(cp.Protocol, corev1.ProtocolTCP), number: cp.HostPort}
			if p.number == 0 && spec.HostNetwork {
				p.number = cp.ContainerPort
			}
			if p.number <= 0 {
				continue
			}
			ports = append(ports, p)
		}
	}
	for i := range spec.Containers {
		scan(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			scan(&spec.InitContainers[i])
		}
	}
	return ports
}

// clash returns a port of a that one of b takes too.
func clash(a, b []Port) (Port, bool) {
	for _, p := range a {
		for _, q := range b {
			if p.number == q.number && p.protocol == q.protocol && (p.ip == q.ip || everyAddress(p.ip) || everyAddress(q.ip)) {
				return p, true
			}
		}
	}
	return Port{}, false
}

func everyAddress(ip string) bool { return ip == "0.0.0.0" || ip == "::" }
