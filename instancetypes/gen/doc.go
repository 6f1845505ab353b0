// Command gen makes the data of the embedded catalogs, packages ec2, azure and gcp, from
// public sources at fixed versions, and writes them next to those packages:
//
//	cd instancetypes/gen && go run . -checkouts DIR [-out ..] [-clouds ec2,azure,gcp] [-verbose]
//
// It is a module of its own, because users of the catalogs must not depend on its
// sources. Sources that are Go modules are taken from the module cache, or downloaded, and
// checked against the checksums in package source. The others are git repositories, of which
// DIR holds a clone each, by its name: google-cloud-pricing-cost-calculator,
// karpenter-provider-gcp, karpenter-provider-azure and autoscaler. They are read at the commits
// in package source, whatever is checked out. The same Go release writes the same bytes on
// every run.
//
// To move to newer sources, change their versions, checksums and commits in package source,
// run the command, and look at the failures of its test of known rows. crosscheck.md beside the
// tables of azure and of gcp compares the prices that two sources have.
package main
