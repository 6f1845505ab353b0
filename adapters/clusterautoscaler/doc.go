// Package clusterautoscaler is a server of Cluster Autoscaler's gRPC expander: started with --expander=grpc, the
// autoscaler asks it which node group to grow, and it answers with the scale-up that costs least for the pods that it
// places. Package expander makes the choice.
//
// [Server] has the service, its limits and its metrics; [Certificate] reads the files of a TLS certificate again when
// they change. Command plimsoll-expander is a program of both.
package clusterautoscaler
