// Package spotshare chooses, by the SpotPolicies of a problem, the pods that must not be on spot nodes, and counts where
// pods are.
//
// A policy is reduced to node affinity: chosen pods get the requirement karpenter.sh/capacity-type NotIn [spot], so that
// all parts of planners keep it as they keep a requirement of the pod's own, with its successor after an eviction, too.
package spotshare
