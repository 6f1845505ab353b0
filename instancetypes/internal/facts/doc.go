// Package facts defines the files of the embedded catalogs of all clouds, one table of machine
// shapes for each cloud and one table of prices for each region, and makes catalogs of them.
// The generator writes the files and the packages of the clouds read them, both through this
// package, because every column must have one definition.
//
// The files state facts alone. The package of the cloud computes everything that follows from
// a rule, e.g. labels and overhead, when a catalog is read; it states its rules as a [Cloud].
//
// Its files:
//
//	shape.go   shapes of machines, and their sources
//	region.go  types and prices of a region
//	cloud.go   catalogs of regions
//	node.go    capacity and labels of nodes
package facts
