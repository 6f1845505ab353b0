package podspec

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// HostPort is a port that a pod binds on its node.
type HostPort struct {
	IP       string // "" for every address
	Protocol corev1.Protocol
	Port     int32
}

// HostPorts lists the ports that containers and sidecars bind, sorted.
func HostPorts(spec *corev1.PodSpec) []HostPort {
	var out []HostPort
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
			h := HostPort{IP: p.HostIP, Protocol: p.Protocol, Port: port}
			if h.Protocol == "" {
				h.Protocol = corev1.ProtocolTCP
			}
			if h.IP == "0.0.0.0" || h.IP == "::" {
				h.IP = ""
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
	slices.SortFunc(out, func(a, b HostPort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.IP, b.IP))
	})
	return slices.Compact(out)
}

// PortsClash reports whether both sets bind some port: same number and protocol, and
// the same address or one of them every address.
func PortsClash(a, b []HostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Port == y.Port && x.Protocol == y.Protocol && (x.IP == y.IP || x.IP == "" || y.IP == "") {
				return true
			}
		}
	}
	return false
}
