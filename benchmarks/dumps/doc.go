// Command dumps writes the List that kubectl get -o json prints of a cluster after its peak: pods request about half of its
// nodes' resources. The same flags and seed give the same List, e.g. for trying plimsoll out and for measuring it.
//
//	go run ./benchmarks/dumps -kind eks-karpenter -nodes 40 -seed 1 >cluster.json
//	go run ./cmd/plimsoll consolidate -f cluster.json --now 2026-11-21T09:00:00Z
//
// The kinds are eks-karpenter, eks-auto, eks-nodegroups, gke and aks. A node has about 13 pods: DaemonSets with the
// requests of the vendor, and Deployments, StatefulSets and Jobs with PodDisruptionBudgets, HorizontalPodAutoscalers,
// volumes, sidecars, and in two of five cases affinity or spread constraints. A few pods are pending.
package main

// A map of this package's files.
//
//	main       flags, and how the objects are printed
//	kinds      the five kinds: groups of nodes, DaemonSets, NodePools
//	cluster    nodes, which pods run where, and how the cluster is scaled down
//	workloads  Deployments, StatefulSets and Jobs
//	objects    the objects of workloads and nodes, with the fields that the API server and the kubelet add
