// Package hosts reads the existing nodes with their running pods: their total requests, host ports, DaemonSets,
// claims, and required anti-affinity terms, whatever pods are to be placed. It owns this immutable picture
// ([Cluster]) and its successors ([Change]): hosts that do not change are shared between plans, so that a new
// plan reads only the nodes with changes. It does not know which pods a node admits; package instance decides
// that.
package hosts
