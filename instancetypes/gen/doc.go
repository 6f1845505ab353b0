// Command gen makes the data of the embedded catalogs, packages ec2 and azure, from
// public Go modules at fixed versions, and writes them next to those packages:
//
//	cd instancetypes/gen && go run . [-out ..] [-verbose]
//
// which is also what go generate does.
//
// It is a module of its own, so that nothing of it reaches those who import the
// catalogs. Modules that are not in the module cache are downloaded and checked
// against the checksums in package source. The same Go release writes the same
// bytes on every run.
//
// To move to newer sources, change their versions and checksums in package source,
// run the command, and compare what its test of known rows says.
package main
