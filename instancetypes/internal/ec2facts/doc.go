// Package ec2facts defines the files that the embedded EC2 catalogs are made from:
// one table of machine shapes, shared by all regions, and one table of prices for
// each region. The generator writes them and package ec2 reads them, both through
// this package, so that there is one definition of every column.
//
// The files state facts alone. Labels, resources after overhead and everything else
// that follows from a rule is computed when a catalog is read.
package ec2facts
