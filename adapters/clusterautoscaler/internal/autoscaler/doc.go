// Package autoscaler asks an expander as Cluster Autoscaler does, for tests: with the messages of both generations, its
// timeout, and its rules for answers and errors (cluster-autoscaler/expander/grpcplugin/grpc_client.go).
package autoscaler
