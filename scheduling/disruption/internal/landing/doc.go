// Package landing tells where pods land that are evicted, where kube-scheduler binds them as it likes:
// it is a cluster that changes by steps, as the model of kube-scheduler (package binding) sees it. It does not
// know why nodes go, nor what that is worth.
package landing
