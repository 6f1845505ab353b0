package scheduling

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hostPort is a port that a pod binds on its node.
type hostPort struct {
	ip       string // "" for every address
	protocol corev1.Protocol
	port     int32
}

// hostPorts lists the ports that containers and sidecars bind, sorted.
func hostPorts(spec *corev1.PodSpec) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for i := range c.Ports {
			p := &c.Ports[i]
			port := p.HostPort
			if port == 0 && spec.HostNetwork {
				port = p.ContainerPort // the API server fills it in for host-network pods
			}
			if port <= 0 {
				continue
			}
			h := hostPort{ip: p.HostIP, protocol: p.Protocol, port: port}
			if h.protocol == "" {
				h.protocol = corev1.ProtocolTCP
			}
			if h.ip == "0.0.0.0" || h.ip == "::" {
				h.ip = ""
			}
			out = append(out, h)
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; isSidecar(c) {
			add(c)
		}
	}
	slices.SortFunc(out, func(a, b hostPort) int {
		return cmp.Or(cmp.Compare(a.port, b.port), cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.ip, b.ip))
	})
	return slices.Compact(out)
}

// portsClash reports whether both sets bind some port: same number and protocol, and
// the same address or one of them every address.
func portsClash(a, b []hostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.port == y.port && x.protocol == y.protocol && (x.ip == y.ip || x.ip == "" || y.ip == "") {
				return true
			}
		}
	}
	return false
}
