package podspec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func port(number int32, protocol corev1.Protocol, ip string) corev1.ContainerPort {
	return corev1.ContainerPort{HostPort: number, Protocol: protocol, HostIP: ip}
}

// P147, and P148 without its quirks: sidecars bind ports too, and no protocol is TCP.
func TestHostPorts(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	spec := &corev1.PodSpec{
		Containers: []corev1.Container{{Ports: []corev1.ContainerPort{
			port(80, "", ""), port(80, corev1.ProtocolTCP, "0.0.0.0"), port(0, corev1.ProtocolTCP, ""), port(53, corev1.ProtocolUDP, "::"),
		}}},
		InitContainers: []corev1.Container{
			{RestartPolicy: &always, Ports: []corev1.ContainerPort{port(90, corev1.ProtocolTCP, "10.0.0.1")}},
			{Ports: []corev1.ContainerPort{port(91, corev1.ProtocolTCP, "")}},
		},
	}
	assert.Equal(t, []HostPort{
		{Protocol: corev1.ProtocolUDP, Port: 53},
		{Protocol: corev1.ProtocolTCP, Port: 80},
		{Protocol: corev1.ProtocolTCP, Port: 90, IP: "10.0.0.1"},
	}, HostPorts(spec))
}

func TestHostNetworkBindsContainerPorts(t *testing.T) {
	spec := &corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{ContainerPort: 9100}}}}}
	assert.Equal(t, []HostPort{{Protocol: corev1.ProtocolTCP, Port: 9100}}, HostPorts(spec))
}

func TestPortsClash(t *testing.T) {
	tcp := func(number int32, ip string) []HostPort {
		return []HostPort{{IP: ip, Protocol: corev1.ProtocolTCP, Port: number}}
	}
	for _, tt := range []struct {
		name string
		a, b []HostPort
		want bool
	}{
		{"same port everywhere", tcp(80, ""), tcp(80, ""), true},
		{"every address against one", tcp(80, ""), tcp(80, "10.0.0.1"), true},
		{"one against every address", tcp(80, "10.0.0.1"), tcp(80, ""), true},
		{"two addresses", tcp(80, "10.0.0.1"), tcp(80, "10.0.0.2"), false},
		{"two ports", tcp(80, ""), tcp(81, ""), false},
		{"two protocols", tcp(80, ""), []HostPort{{Protocol: corev1.ProtocolUDP, Port: 80}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, PortsClash(tt.a, tt.b))
		})
	}
}
