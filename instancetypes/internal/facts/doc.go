// Package facts defines the files that the embedded catalogs of all clouds are made from, one
// table of machine shapes for each cloud and one table of prices for each region, and makes
// catalogs of them. The generator writes the files and the packages of the clouds read them,
// both through this package, so that there is one definition of every column.
//
// The files state facts alone. Labels, resources after overhead and everything else
// that follows from a rule is computed by the package of the cloud when a catalog is read;
// [Cloud] is how it says so.
//
// Its files:
//
//	shape.go   what machines are, and where that was read
//	region.go  what a region sells
//	cloud.go   catalogs of regions
package facts
