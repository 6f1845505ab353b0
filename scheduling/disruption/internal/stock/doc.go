// Package stock knows what is on sale while steps are made: offerings, the machines that reservations have left, and what
// the limits of NodePools leave to be bought.
package stock

// A map of this package's files.
//
//	stock   offerings and reservations
//	ledger  what launches take of reservations and limits
