// Command plimsoll-shadow watches a cluster with Karpenter, and compares each of Karpenter's decisions with the one that
// Plimsoll would have made, in dollars: in its log, as metrics and, with --events, as Kubernetes events. README.md of
// the package above says how to install it.
package main
