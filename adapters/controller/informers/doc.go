// Package informers joins a [controller.Controller], or another [Sink], to an API server with client-go: [Watch] tells it
// of the cluster's objects, and an [Evictor] evicts pods and taints nodes.
package informers
