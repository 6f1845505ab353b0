// Package landing finds where kube-scheduler binds evicted pods. It is a cluster that changes by steps, as the model
// of kube-scheduler (package binding) sees it. It does not know why nodes are removed, nor how much that saves.
package landing
