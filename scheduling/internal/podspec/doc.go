// Package podspec reads what a pod asks of the node it runs on: its requests, node
// selector and affinity, tolerations, host ports and volumes, and its topology terms as
// they stand in the spec. Pods between which nothing that scheduling reads differs
// become one class. It does not know what is on sale, and which nodes run beyond what a
// pod's volumes and owners need.
package podspec
