package schedulingtest

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// parsePort reads [IP:]PORT[/PROTOCOL], a host port. The protocol is TCP unless
// it is stated.
func parsePort(text string) (PodOption, error) {
	protocol := corev1.ProtocolTCP
	address, name, ok := strings.Cut(text, "/")
	if ok {
		protocol = corev1.Protocol(name)
	}
	ip, port := "", address
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		ip, port = address[:i], address[i+1:]
	}
	n, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("port %q: want [IP:]PORT[/PROTOCOL]", text)
	}
	return HostPortOn(ip, int32(n), protocol), nil
}
