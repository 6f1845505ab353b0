// Package model holds a problem after compilation: dense tables of classes, options and bins over integers. No
// string, pod or price list reaches it, so that the search works on int64 vectors and bit rows only. It owns
// the meaning of these tables, e.g. when pods may share a machine ([Problem.Joining]); it decides no placement.
//
// # Vocabulary
//
//	class   pods that are interchangeable: same requests, same constraints
//	group   classes with the same constraints, whatever their requests; for each option there is a row of the groups
//	        that it admits
//	option  a machine that may be bought: one pool, one shape, one price
//	bin     an existing node with free room
//	supply  the number of machines that a reservation still holds
//	pool    a NodePool, with limits on the total of its machines
//
// Vectors have one entry per resource (dimension), in base units.
package model
