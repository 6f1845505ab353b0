// Package session asks package provisioning where pods would go, and which machines to launch for them, while the steps
// of a plan change the cluster.
//
// It owns two sessions that hold the same cluster: one that may launch machines, and one that may not. It promises that
// both have been told the same changes, and that questions leave them as they are. It does not know steps, reasons or
// prices.
package session
