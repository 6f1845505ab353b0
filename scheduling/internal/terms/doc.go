// Package terms reads the topology terms of pods: spread constraints, those that the cluster has by
// default among them, affinity, anti-affinity, preferences, and the share of a workload that one
// machine may hold. Equal terms get the same number, and so does each set of pods that terms select.
package terms
