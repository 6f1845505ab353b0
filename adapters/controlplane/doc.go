// Package controlplane tests adapters beside a Kubernetes control plane in the process of the test: a real kube-apiserver on an
// etcd of its own, the real kube-scheduler, and the controllers of kube-controller-manager that make and bind pods. They come
// from the modules k8s.io/kubernetes and go.etcd.io/etcd/server, so that nothing is downloaded but modules.
//
// Start starts one, for the duration of a test:
//
//	controlplane     its clients, and objects of files
//	apiserver        kube-apiserver and etcd, with RBAC
//	components       kube-scheduler, with a profile for the plugin in adapters/kubescheduler, and controllers for
//	                 Deployments, ReplicaSets, DaemonSets, nodes, taints and PodDisruptionBudgets
//	cloud            a Cloud of machines that come late, run out or are interrupted; it implements controller.Provider
//	kubelet          kubelets without containers: a bound pod runs, a deleted one stops; ServeNodes makes nodes ready that
//	                 programs create
//	program          programs in processes of their own, each with the permissions of its user
//
// Not there are: the garbage collector and the namespace controller, so that tests scale Deployments to zero instead of
// deleting them; the pod garbage collector, in whose place a Cloud and ServeNodes delete the pods of a node that is gone;
// service accounts; heartbeats of nodes.
package controlplane
