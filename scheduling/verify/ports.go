package verify

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// port is a host port that a pod takes on its node.
type port struct {
	ip       string
	protocol corev1.Protocol
	number   int32
}

func (p port) String() string { return fmt.Sprintf("%s:%d/%s", p.ip, p.number, p.protocol) }

// hostPorts returns the ports of the containers and sidecars, with the defaults of
// the API server: TCP, every address, and on the host's network the port that the
// container listens on.
func hostPorts(spec *corev1.PodSpec) []port {
	var ports []port
	scan := func(c *corev1.Container) {
		for _, cp := range c.Ports {
			p := port{ip: cp.HostIP, protocol: cp.Protocol, number: cp.HostPort}
			if p.number == 0 && spec.HostNetwork {
				p.number = cp.ContainerPort
			}
			if p.number <= 0 {
				continue
			}
			if p.ip == "" {
				p.ip = "0.0.0.0"
			}
			if p.protocol == "" {
				p.protocol = corev1.ProtocolTCP
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
func clash(a, b []port) (port, bool) {
	for _, p := range a {
		for _, q := range b {
			if p.number == q.number && p.protocol == q.protocol && (p.ip == q.ip || everyAddress(p.ip) || everyAddress(q.ip)) {
				return p, true
			}
		}
	}
	return port{}, false
}

func everyAddress(ip string) bool { return ip == "0.0.0.0" || ip == "::" }
