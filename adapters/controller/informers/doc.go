// Package informers joins a [controller.Controller], or another [Sink], to an API server with client-go: [Watch] tells it
// of the cluster's objects, an [Evictor] evicts pods and taints nodes, and a [Nominator] or an [Annotator] writes planned
// nodes into pods.
package informers
