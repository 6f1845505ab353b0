// Package model holds a problem after compilation: dense tables of classes,
// options and bins over integers. No string, pod or price list reaches it, so that
// the search above it sees nothing but int64 vectors and bit rows.
//
// # Vocabulary
//
//	class   pods that are interchangeable: same requests, same constraints
//	group   classes with the same constraints, whatever their requests; what an
//	        option admits is recorded per group
//	option  a machine that may be bought: one pool, one shape, one price
//	bin     a machine that already runs and has room left
//	supply  how many machines a reservation still holds
//	pool    who pays, with limits on the sum of what is bought
//
// Vectors have one entry per resource (dimension), in base units.
package model
