// Package stock knows what is on sale: offerings, the machines that reservations have left, what the limits of NodePools
// leave to be bought, and which options of launches hold together.
package stock

// A map of this package's files.
//
//	stock   offerings and reservations
//	ledger  what launches take of reservations and limits
//	hold    which options of launches hold together
