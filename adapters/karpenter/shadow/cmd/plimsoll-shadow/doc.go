// Command plimsoll-shadow watches a cluster with Karpenter, and says for each decision of Karpenter's what Plimsoll would
// have done, and the difference in dollars: in its log, as metrics and, with --events, as Kubernetes events. README.md of
// the package above says how to install it.
package main
