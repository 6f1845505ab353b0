// Package report makes one report for the owner of a cluster's bill from the cluster and its disruption
// plan: present and possible price, utilisation of nodes before and after the steps, cost allocation,
// and the causes that prevent further savings.
//
// [Of] computes the values once; [Report.HTML], [Report.Markdown] and [Report.SVG] render them.
// A [Report] encoded as JSON is the fourth format.
package report
