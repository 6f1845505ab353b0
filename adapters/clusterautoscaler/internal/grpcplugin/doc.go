// Package grpcplugin has the messages of the gRPC service grpcplugin.Expander, by which Cluster Autoscaler asks another
// process to choose among scale-ups, and the service's description for package grpc.
//
// # The messages
//
//	BestOptionsRequest    1 options, 2 nodeMap, 3 nodeBytesMap: nodes by the id of their group
//	BestOptionsResponse   1 options
//	Option                1 nodeGroupId, 2 nodeCount, 3 debug, 4 pod, 5 podBytes
//
// Up to Cluster Autoscaler 1.33 nodes and pods are messages, in nodeMap and pod. From 1.35 on they are bytes that hold the
// same messages, in nodeBytesMap and podBytes, and 1.34 writes both. On the wire a message is a string of bytes, so that
// one reader serves all versions. Bytes count where a request has both.
//
// A request repeats each pod in every option that could place it, e.g. 10,000 pods in 50 options. [Read] therefore reads
// the frames of a message where they lie, a pod once, and the fields of its spec that are needed once for all pods with
// the same ones.
package grpcplugin
