package snapshot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
)

func TestHostPorts(t *testing.T) {
	listening := func(c corev1.Container, ports ...corev1.ContainerPort) corev1.Container {
		c.Ports = ports
		return c
	}
	spec := corev1.PodSpec{
		Containers: []corev1.Container{
			listening(container(), corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{ContainerPort: 81}),
			listening(container(), corev1.ContainerPort{HostPort: 53, HostIP: "10.0.0.1", Protocol: corev1.ProtocolUDP}),
		},
		InitContainers: []corev1.Container{
			listening(container(), corev1.ContainerPort{HostPort: 1}),
			listening(sidecar(), corev1.ContainerPort{HostPort: 2}),
		},
	}
	assert.Equal(t, []Port{{"0.0.0.0", "TCP", 80}, {"10.0.0.1", "UDP", 53}, {"0.0.0.0", "TCP", 2}}, hostPorts(&spec))
	spec.HostNetwork = true
	assert.Contains(t, hostPorts(&spec), Port{"0.0.0.0", "TCP", 81}, "on the host's network every port is one of the host")
}

// P147.
func TestPortsClash(t *testing.T) {
	for _, tc := range []struct {
		name string
		a, b Port
		want bool
	}{
		{"the same", Port{"10.0.0.1", "TCP", 80}, Port{"10.0.0.1", "TCP", 80}, true},
		{"another address", Port{"10.0.0.1", "TCP", 80}, Port{"10.0.0.2", "TCP", 80}, false},
		{"every address", Port{"0.0.0.0", "TCP", 80}, Port{"10.0.0.2", "TCP", 80}, true},
		{"every address of either kind", Port{"10.0.0.2", "TCP", 80}, Port{"::", "TCP", 80}, true},
		{"another protocol", Port{"0.0.0.0", "TCP", 80}, Port{"0.0.0.0", "UDP", 80}, false},
		{"another port", Port{"0.0.0.0", "TCP", 80}, Port{"0.0.0.0", "TCP", 81}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, forth := clash([]Port{{"1.1.1.1", "TCP", 1}, tc.a}, []Port{tc.b})
			p, back := clash([]Port{tc.b}, []Port{tc.a, {"1.1.1.1", "TCP", 1}})
			assert.Equal(t, tc.want, forth)
			assert.Equal(t, tc.want, back)
			if tc.want {
				assert.Equal(t, tc.b.String(), p.String())
			}
		})
	}
	_, self := clash([]Port{{"0.0.0.0", "TCP", 80}}, nil)
	assert.False(t, self)
}
