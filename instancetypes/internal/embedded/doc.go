// Package embedded keeps the facts of the embedded catalogs in files: JSON under gzip, one
// file for each region beside one of facts that all regions share. The generator writes them
// and the packages of the clouds read them, both through this package. Nothing is kept between calls.
//
// The same facts make the same bytes in every run of one Go release; another release may
// compress them differently, but must write the same JSON.
//
// Its files:
//
//	embedded.go  reading and writing files of facts
//	suggest.go   the error for a region that has no file
package embedded
