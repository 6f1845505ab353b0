// Package expanders compares expanders of Cluster Autoscaler on clusters with a few node groups: the bill after scale-ups
// for the same pending pods. [Cluster] makes the clusters, [Compare] has each expander scale up, and [Table] shows the sums.
package expanders
