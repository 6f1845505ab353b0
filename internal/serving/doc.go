// Package serving is shared by the programs of adapters that serve until they are stopped: their main function, their
// flags, and the endpoints that Prometheus and the kubelet ask.
package serving
