// Command gen makes the data of the embedded catalogs, packages ec2, azure and gcp, from
// public sources at fixed versions, and writes them next to those packages:
//
//	cd instancetypes/gen && go run . -checkouts DIR [-out ..] [-clouds ec2,azure,gcp] [-verbose]
//
// It is a module of its own, so that nothing of it reaches those who import the
// catalogs. Sources that are Go modules are taken from the module cache, or downloaded, and
// checked against the checksums in package source. The others are git repositories, of which
// DIR holds a clone each, by its name: google-cloud-pricing-cost-calculator,
// karpenter-provider-gcp, karpenter-provider-azure and autoscaler. They are read at the commits
// in package source, whatever is checked out. The same Go release writes the same bytes on
// every run.
//
// To move to newer sources, change their versions, checksums and commits in package source,
// run the command, and compare what its test of known rows says. What two sources say of the same
// prices of azure and of gcp is in crosscheck.md beside the tables.
package main
