// Package azurefacts defines the file that an embedded Azure catalog is made from:
// one table per region, with the shapes and the prices of its virtual machine sizes.
// The generator writes it and package azure reads it, both through this package.
package azurefacts
