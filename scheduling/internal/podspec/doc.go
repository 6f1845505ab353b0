// Package podspec reads the requirements of a pod on its node: requests, node selector and affinity,
// tolerations, host ports and volumes, and its topology terms as they stand in the spec. It owns equality of
// pods: pods that no rule of scheduling tells apart become one class ([Classifier]), and constraints that are
// equal become one group.
//
// It follows kube-scheduler's rules, e.g. PodRequests for requests and the plugins VolumeBinding,
// NodeVolumeLimits and VolumeRestrictions for volumes. It does not know instance types or offerings, and
// existing nodes only as far as attach limits of volumes need them.
package podspec
